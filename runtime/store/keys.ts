/**
 * Keys of the store: `<prefix>:<group>:<type>:<id>`. Prefix, group and types match the name grammar, so they hold no
 * colon and no comma, and the id comes last: no two identifiers share a key.
 *
 *   millrace:entity:product:p1                attributes of an entity
 *   millrace:features:product:p1              its feature views
 *   millrace:features:user,brand:2:u12:b7     views of a composite: each id after its length in UTF-16 code units
 *   millrace:features::                       global views
 *   millrace:interactions:user:u12            what an entity did with candidates
 *   millrace:schema:0123456789abcdef          a record layout
 *   millrace:meta:services:                   the services that use the prefix
 *   millrace:meta:marker:                     identifies this database among those of the server
 *   millrace:meta:probe:0                     never exists: checks whether a server accepts writes
 */

/** Group of the keys that hold attributes; no view may take it. */
export const ENTITY_GROUP = 'entity';
const LAYOUT_GROUP = 'schema';
/** Group of the keys of interaction histories; no view may take it. */
const HISTORY_GROUP = 'interactions';

/** Group of the keys that describe the store itself; no view may take it. */
const META_GROUP = 'meta';

/** Key of an entity's attributes; with an empty id, what all keys of the type start with. */
export function entityKey(prefix: string, type: string, id: string): string {
  return `${prefix}:${ENTITY_GROUP}:${type}:${id}`;
}

/** Key of the views of one group; `types` and `ids` go together, none for global views. */
export function featureKey(
  prefix: string,
  group: string,
  types: readonly string[],
  ids: readonly string[],
): string {
  if (types.length === 1) return `${prefix}:${group}:${types[0] ?? ''}:${ids[0] ?? ''}`;
  let joined = '';
  for (const id of ids) joined += `${id.length}:${id}`;
  return `${prefix}:${group}:${types.join(',')}:${joined}`;
}

/** Key of an entity's interactions; with an empty id, what all keys of the type start with. */
export function historyKey(prefix: string, type: string, id: string): string {
  return `${prefix}:${HISTORY_GROUP}:${type}:${id}`;
}

/** Whether a key is one of interactions, whose records have versions and expire. */
export function isHistoryKey(key: string): boolean {
  return key.startsWith(`${HISTORY_GROUP}:`, key.indexOf(':') + 1);
}

/** Whether a key is one of feature views. */
export function isFeatureKey(key: string): boolean {
  const start = key.indexOf(':') + 1;
  return ![ENTITY_GROUP, LAYOUT_GROUP, HISTORY_GROUP, META_GROUP].includes(
    key.slice(start, key.indexOf(':', start)),
  );
}

export function layoutKey(prefix: string, hexId: string): string {
  return `${prefix}:${LAYOUT_GROUP}:${hexId}`;
}

/** Key under which the services that use a prefix tell each other of their schemas. */
export function servicesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:services:`;
}

export function markerKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:marker:`;
}

/** @param number chooses the slot of the key in a cluster */
export function probeKey(prefix: string, number: number): string {
  return `${prefix}:${META_GROUP}:probe:${number}`;
}
