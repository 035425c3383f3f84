import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../model/pipelines.js';
import { EXPRESSION_NAMES, KEYWORDS } from './reserved-names.js';
import { keyBefore, type Located, type Span } from '../yaml/source.js';

/** Checks that each name of a pipeline has one meaning. */
export function checkNames(
  pipeline: PipelineDefinition,
  views: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  checkFeatureNames(pipeline, views, diagnostics);
  const roots = new Set([pipeline.candidateType.value, ...pipeline.request.fields.keys()]);
  for (const [name, { at }] of pipeline.define) {
    const place = keyBefore(at, name);
    if (!hasOwnMeaning(name, place, diagnostics) && roots.has(name))
      diagnostics.error(
        'duplicate_name',
        place,
        `\`${name}\` is already an entity or field of the request`,
        'choose another name',
      );
  }
  checkParamNames(pipeline, roots, diagnostics);
  for (const { name, at } of pipeline.request.fields.values()) hasOwnMeaning(name, at, diagnostics);
}

/** Reports a name that expressions already read as something else. Names of functions are free. */
function hasOwnMeaning(name: string, at: Span, diagnostics: Diagnostics): boolean {
  const isKeyword = KEYWORDS.has(name);
  if (!isKeyword && !EXPRESSION_NAMES.has(name)) return false;
  diagnostics.error(
    'reserved_name',
    at,
    isKeyword
      ? `\`${name}\` is a word of the expression language`
      : `\`${name}\` already has a meaning in every expression`,
    'choose another name',
  );
  return true;
}

/** The name of a param has no other meaning in the pipeline, not even before a colon. */
function checkParamNames(
  { params, define, features, components, retrieve }: PipelineDefinition,
  roots: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const producers = new Map([
    ...features.map(({ name }) => [name.value, 'a name under `features`'] as const),
    ...[...(retrieve?.retrievers ?? []), ...components].flatMap(({ as }) =>
      as === undefined ? [] : [[as.value, 'the name of a step'] as const],
    ),
  ]);
  for (const { name, at } of params.values()) {
    if (hasOwnMeaning(name, at, diagnostics)) continue;
    const taken = roots.has(name)
      ? 'an entity or field of the request'
      : define.has(name)
        ? 'a definition'
        : producers.get(name);
    if (taken !== undefined)
      diagnostics.error('duplicate_name', at, `\`${name}\` is already ${taken}`, 'choose another name');
  }
}

/** Views, bindings and `as` names share one namespace: the names before a colon. */
function checkFeatureNames(
  pipeline: PipelineDefinition,
  views: ReadonlySet<string>,
  diagnostics: Diagnostics,
): void {
  const taken = new Map<string, string>();
  const clash = (name: Located<string>, what: string, by: string): void => {
    diagnostics.error(
      'duplicate_name',
      name.at,
      `\`${name.value}\` is already ${by}`,
      `give the ${what} another name`,
    );
  };
  const lines = new Set<string>();
  for (const { name, view, feature, paths, at } of pipeline.features) {
    const isBinding = name.value !== view.value || paths !== undefined;
    const line = feature === undefined ? name.value : `${name.value}:${feature.value}`;
    const owner = taken.get(name.value);
    if (lines.has(line) || (owner !== undefined && (isBinding || owner !== view.value)))
      diagnostics.error(
        'duplicate_name',
        at,
        `\`${line}\` is already required`,
        isBinding ? 'give the binding another name' : 'remove the line',
      );
    else if (name.value !== view.value && views.has(name.value) && views.has(view.value))
      clash(name, 'binding', 'the name of a feature view');
    taken.set(name.value, isBinding ? '' : view.value);
    lines.add(line);
  }
  const named = new Map<string, string>();
  for (const [what, steps] of [
    ['retriever', pipeline.retrieve?.retrievers ?? []],
    ['step', pipeline.components],
  ] as const)
    for (const { as } of steps) {
      if (as === undefined) continue;
      const earlier = named.get(as.value);
      if (earlier !== undefined) clash(as, what, `the name of ${earlier}`);
      else if (views.has(as.value)) clash(as, what, 'the name of a feature view');
      else if (taken.has(as.value)) clash(as, what, 'a name under `features`');
      named.set(as.value, `the ${what} at line ${as.at.file.position(as.at.start).line}`);
    }
}

/**
 * Checks that no two pipelines have the same route, and that no route is a path of the service. Letter case makes no
 * difference here.
 * @param reserved paths of the service in lower case, and folders, which end with a slash
 */
export function checkRoutes(
  pipelines: readonly PipelineDefinition[],
  reserved: readonly string[],
  diagnostics: Diagnostics,
): void {
  const taken = new Map<string, PipelineDefinition>();
  for (const pipeline of pipelines) {
    const { value, at } = pipeline.route;
    const other = taken.get(value.toLowerCase());
    if (isReserved(value.toLowerCase(), reserved)) {
      diagnostics.error(
        'duplicate_route',
        at,
        `the service itself uses the route ${value}`,
        'give the pipeline another `route:`',
      );
    } else if (other !== undefined) {
      diagnostics.error(
        'duplicate_route',
        at,
        `the pipeline \`${other.name}\` already has the route ${value}`,
        'give one of them another `route:`',
      );
    }
    taken.set(value.toLowerCase(), pipeline);
  }
  for (const { name, route } of pipelines) {
    const other = taken.get(/^(.*)\/explain$/.exec(route.value.toLowerCase())?.[1] ?? '');
    if (other !== undefined)
      diagnostics.error(
        'duplicate_route',
        route.at,
        `the route ${route.value} of \`${name}\` is the explain route of the pipeline \`${other.name}\``,
        'give one of them another `route:`',
      );
  }
}

/** @param path in lower case */
export function isReserved(path: string, reserved: readonly string[]): boolean {
  return reserved.some((taken) => path === taken || (taken.endsWith('/') && `${path}/`.startsWith(taken)));
}
