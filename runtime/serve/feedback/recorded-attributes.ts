import type { IdHasher } from '../../ground/core/id-hasher.js';
import type { CounterDefinition } from '../../project/config/model/counters.js';
import type { EntityType } from '../../project/config/model/entities.js';

/**
 * By entity type: the attributes that counters follow, such as the brand of `by: [product.brand]`. A record of feedback has
 * those that the event carried, so that a rebuild counts it for the brand of that time. Private attributes and ids that
 * records hide are left out.
 */
export function recordedAttributes(
  counters: ReadonlyMap<string, CounterDefinition>,
  types: ReadonlyMap<string, EntityType>,
  hasher: IdHasher,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, Set<string>>();
  for (const { by } of counters.values())
    for (const [root = '', name = '', ...rest] of by) {
      const attribute = types.get(root)?.attributes.get(name);
      if (attribute === undefined || attribute.isPrivate === true || rest.length > 0) continue;
      if (attribute.type.kind === 'ref' && hasher.hides(attribute.type.entity)) continue;
      found.set(root, (found.get(root) ?? new Set()).add(name));
    }
  return new Map(Array.from(found, ([root, names]) => [root, [...names].sort()]));
}
