import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { FeatureRequirement } from '../../project/config/model/pipelines.js';
import type { FeatureView } from '../../project/config/model/views.js';
import type { Located } from '../../project/config/yaml/source.js';
import type { HydrationBuilder, ResolvedPath } from './hydration-builder.js';
import { expressionType } from './value-types.js';

/**
 * Finds the entities of a request that make up the key of a view, as a line of `features:` binds them.
 * @returns undefined if they do not fit the view, which is reported
 */
export function bindArguments(
  view: FeatureView,
  requirement: FeatureRequirement,
  hydration: HydrationBuilder,
  diagnostics: Diagnostics,
): ResolvedPath[] | undefined {
  const { paths } = requirement;
  return paths === undefined
    ? rootArguments(view, requirement, hydration, diagnostics)
    : pathArguments(view, paths, requirement, hydration, diagnostics);
}

/** Binds a view without written paths: each entity type of its key must be the type of exactly one root entity. */
function rootArguments(
  view: FeatureView,
  requirement: FeatureRequirement,
  hydration: HydrationBuilder,
  diagnostics: Diagnostics,
): ResolvedPath[] | undefined {
  const args: ResolvedPath[] = [];
  for (const type of view.of) {
    const roots = [...hydration.roots.values()].filter((root) => root.entity.name === type);
    const root = roots[0];
    if (root === undefined || roots.length > 1 || new Set(view.of).size !== view.of.length) {
      const found =
        root === undefined
          ? `the request has no \`${type}\``
          : `more than one entity of the request is a \`${type}\``;
      diagnostics.error(
        'binding_mismatch',
        requirement.at,
        `view \`${view.name}\` needs (${view.of.join(', ')}), but ${found}`,
        `bind it to paths: \`<name>: ${view.name}(${view.of.map((of) => exampleFor(of, hydration)).join(', ')})\``,
      );
      return undefined;
    }
    const path = hydration.resolve([root.name]);
    if ('problem' in path) return undefined;
    args.push(path);
  }
  return args;
}

/** Binds a view to the paths that are written, like the arguments of a call. */
function pathArguments(
  view: FeatureView,
  paths: readonly Located<string>[],
  requirement: FeatureRequirement,
  hydration: HydrationBuilder,
  diagnostics: Diagnostics,
): ResolvedPath[] | undefined {
  if (paths.length !== view.of.length) {
    diagnostics.error(
      'binding_mismatch',
      requirement.at,
      `view \`${view.name}\` needs (${view.of.join(', ')}): expected ${pathCount(view.of.length)}, found ${paths.length}`,
    );
    return undefined;
  }
  const args: ResolvedPath[] = [];
  paths.forEach((path, i) => {
    const wanted = view.of[i] ?? '';
    const resolved = hydration.resolve(path.value.split('.'));
    if ('problem' in resolved) {
      diagnostics.error(resolved.problem, path.at, resolved.message, resolved.help);
      return;
    }
    const through = resolved.list || resolved.hops.some((hop) => hop.list || hop.type.kind === 'list');
    if (resolved.type.kind !== 'ref' || through || resolved.type.entity !== wanted) {
      const type = expressionType(resolved.type, through);
      const found =
        type === undefined
          ? resolved.type.kind
          : type.kind === 'ref'
            ? `a ref(${type.entity})`
            : `a ${type.kind}`;
      diagnostics.error(
        'binding_mismatch',
        path.at,
        `entity ${i + 1} of view \`${view.name}\` is a \`${wanted}\`; \`${path.value}\` is ${found}`,
        `for example \`${exampleFor(wanted, hydration)}\``,
      );
      return;
    }
    args.push(resolved);
  });
  return args.length === paths.length ? args : undefined;
}

function pathCount(count: number): string {
  return count === 1 ? '1 path' : `${count} paths`;
}

/** For help texts: a path of this pipeline that leads to an entity of the type. */
function exampleFor(type: string, hydration: HydrationBuilder): string {
  for (const root of hydration.roots.values()) if (root.entity.name === type) return root.name;
  for (const root of hydration.roots.values()) {
    for (const attribute of root.entity.attributes.values()) {
      if (attribute.type.kind === 'ref' && attribute.type.entity === type)
        return `${root.name}.${attribute.name}`;
    }
  }
  return `<path to a ${type}>`;
}
