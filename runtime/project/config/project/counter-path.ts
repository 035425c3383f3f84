import { didYouMean } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { spanWithin, type Located } from '../yaml/source.js';
import type { EntityType } from '../model/entities.js';

interface Known {
  readonly entities: ReadonlyMap<string, EntityType>;
  readonly entityNames: ReadonlySet<string>;
}

/**
 * Checks a path of `by:`, such as `product.brand`: it leads from an entity type over references to an entity of a type. The
 * references may be lists.
 * @param number index of the path
 */
export function checkPath(
  path: Located<string>,
  type: string,
  number: number,
  { entities, entityNames }: Known,
  diagnostics: Diagnostics,
): void {
  const segments = path.value.split('.');
  const [root = ''] = segments;
  const placeOf = (index: number): Located<string>['at'] => {
    const start = segments.slice(0, index).join('.').length + (index === 0 ? 0 : 1);
    return spanWithin(path, start, start + (segments[index] ?? '').length);
  };
  if (!entityNames.has(root)) {
    diagnostics.error(
      'unknown_entity',
      placeOf(0),
      `there is no entity type \`${root}\``,
      didYouMean(root, entityNames) ?? 'a path begins with an entity type of the event',
    );
    return;
  }
  let current = root;
  for (let i = 1; i < segments.length; i++) {
    const entity = entities.get(current);
    if (entity === undefined) return; // its file has errors
    const name = segments[i] ?? '';
    const attribute = entity.attributes.get(name);
    if (attribute === undefined) {
      diagnostics.error(
        'unknown_attribute',
        placeOf(i),
        `\`${current}\` has no attribute \`${name}\``,
        didYouMean(name, entity.attributes.keys()) ?? `it has ${[...entity.attributes.keys()].join(', ')}`,
      );
      return;
    }
    const inner = attribute.type.kind === 'list' ? attribute.type.of : attribute.type;
    if (inner.kind !== 'ref') {
      diagnostics.error(
        'binding_mismatch',
        placeOf(i),
        `\`${segments.slice(0, i + 1).join('.')}\` is a ${inner.kind}, not a reference to an entity`,
        `declare the attribute as ref(${type}) in schemas/entities/${current}.yaml`,
      );
      return;
    }
    current = inner.entity;
  }
  if (current !== type)
    diagnostics.error(
      'binding_mismatch',
      path.at,
      `entity ${number + 1} of the counter is a \`${type}\`; \`${path.value}\` is a \`${current}\``,
      segments.length === 1 ? `for example \`${current}.${type}\`, if it refers to one` : undefined,
    );
}
