/**
 * Keys of the store: `<prefix>:<group>:<type>:<id>`. Prefix, group and types match the name grammar, so they hold no
 * colon and no comma, and the id comes last: no two identifiers share a key.
 *
 *   millrace:entity:product:p1                attributes of an entity
 *   millrace:features:product:p1              its feature views
 *   millrace:features:user,brand:2:u12:b7     views of a composite: each id after its length in UTF-16 code units
 *   millrace:features::                       global views
 *   millrace:interactions:user:u12            the feedback history of an entity
 *   millrace:schema:0123456789abcdef          a record layout
 *   millrace:meta:services:                   the services that use the prefix
 *   millrace:meta:events:                     the codes of the kinds of feedback
 *   millrace:meta:curation:campaigns          the rules of a list that came over the API
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

/** Key of an entity's attributes; with an empty id, the prefix of all keys of the type. */
export function entityKey(prefix: string, type: string, id: string): string {
  return `${prefix}:${ENTITY_GROUP}:${type}:${id}`;
}

/** Key of the views of one group. `types` and `ids` have the same length; both are empty for global views. */
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

/** Parses the ids of a feature key after `start`; undefined if it is not a feature key. @param count number of ids */
export function featureIds(key: string, start: string, count: number): string[] | undefined {
  if (!key.startsWith(start)) return undefined;
  const joined = key.slice(start.length);
  if (count === 1) return [joined];
  const ids: string[] = [];
  let at = 0;
  while (at < joined.length) {
    const colon = joined.indexOf(':', at);
    const digits = joined.slice(at, colon);
    if (colon < 0 || !/^\d{1,9}$/.test(digits)) return undefined;
    at = colon + 1 + Number(digits);
    if (at > joined.length) return undefined;
    ids.push(joined.slice(colon + 1, at));
  }
  return ids.length === count ? ids : undefined;
}

/** True if a key describes the store itself and holds no data. */
export function isMetaKey(key: string, prefix: string): boolean {
  return (
    key.startsWith(`${prefix}:${META_GROUP}:`) &&
    key !== eventCodesKey(prefix) &&
    !key.startsWith(curationKey(prefix, ''))
  );
}

/** What the record at a key is. `meta` describes the store itself. */
export type KeyKind = 'entity' | 'layout' | 'history' | 'features' | 'meta';

/** The parts of a key; undefined if it is not a key of the store. */
export interface KeyParts {
  readonly kind: KeyKind;
  readonly prefix: string;
  /** The key group of feature views. */
  readonly group: string;
  /** The entity type, or the types of a composite, joined by commas; empty for layouts. */
  readonly type: string;
  /** The rest: an id, joined ids, or the hex id of a layout. */
  readonly id: string;
}

const KINDS: ReadonlyMap<string, KeyKind> = new Map([
  [ENTITY_GROUP, 'entity'],
  [HISTORY_GROUP, 'history'],
  [META_GROUP, 'meta'],
]);

export function partsOf(key: string): KeyParts | undefined {
  const [, prefix, group, rest] = /^([^:]+):([^:]+):(.*)$/s.exec(key) ?? [];
  if (prefix === undefined || group === undefined || rest === undefined) return undefined;
  if (group === LAYOUT_GROUP) return { kind: 'layout', prefix, group, type: '', id: rest };
  const colon = rest.indexOf(':');
  if (colon < 0) return undefined;
  const kind = KINDS.get(group) ?? 'features';
  return { kind, prefix, group, type: rest.slice(0, colon), id: rest.slice(colon + 1) };
}

/** The prefix of all keys of a store. */
export function allKeys(prefix: string): string {
  return `${prefix}:`;
}

/** Key of an entity's interactions; with an empty id, the prefix of all keys of the type. */
export function historyKey(prefix: string, type: string, id: string): string {
  return `${prefix}:${HISTORY_GROUP}:${type}:${id}`;
}

/** True for a key of interactions. Such records have versions and expire. */
export function isHistoryKey(key: string): boolean {
  return key.startsWith(`${HISTORY_GROUP}:`, key.indexOf(':') + 1);
}

/** True for a key of feature views. */
export function isFeatureKey(key: string): boolean {
  const start = key.indexOf(':') + 1;
  return ![ENTITY_GROUP, LAYOUT_GROUP, HISTORY_GROUP, META_GROUP].includes(
    key.slice(start, key.indexOf(':', start)),
  );
}

export function layoutKey(prefix: string, hexId: string): string {
  return `${prefix}:${LAYOUT_GROUP}:${hexId}`;
}

/** Key of the record in which the services of a prefix publish their schemas. */
export function servicesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:services:`;
}

/** Key of the record of codes that histories use for kinds of feedback. It is data: a backup holds it. */
export function eventCodesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:events:`;
}

/** Key of the rules of a list that came over the API. It is data: a backup holds it. */
export function curationKey(prefix: string, list: string): string {
  return `${prefix}:${META_GROUP}:curation:${list}`;
}

export function markerKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:marker:`;
}

/** @param number chooses the slot of the key in a cluster */
export function probeKey(prefix: string, number: number): string {
  return `${prefix}:${META_GROUP}:probe:${number}`;
}
