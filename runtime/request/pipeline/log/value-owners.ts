import type { Plan } from '../../compile/plan.js';

/**
 * By logged attribute or batch feature: the types of the entities that have it, joined by `:`, as in FEATURE events. Only
 * for entities whose ids are in the record: the candidate, and those that the body names once.
 */
export function valueOwners({ nodes, attributes, levels, log }: Plan): Record<string, string> {
  const roots = nodes.filter(({ parent }) => parent === undefined);
  const typeOf = new Map(
    roots
      .filter(({ entity }) => roots.filter((one) => one.entity === entity).length === 1)
      .map(({ ids, entity }) => [ids, entity.name]),
  );
  const owners = new Map<string, string>();
  const add = (name: string, ids: readonly number[]): void => {
    const types = ids.flatMap((slot) => typeOf.get(slot) ?? []);
    if (types.length > 0 && types.length === ids.length) owners.set(name, types.join(':'));
  };
  for (const { name, ids } of attributes) add(name, [ids]);
  for (const { features } of levels)
    for (const { wants, ids } of features) for (const { name } of wants) add(name, ids);
  return Object.fromEntries(
    log.values.flatMap(({ name, slot }) => {
      const owner = owners.get(name) ?? typeOf.get(slot);
      return owner === undefined ? [] : [[name, owner]];
    }),
  );
}
