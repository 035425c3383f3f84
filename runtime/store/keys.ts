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
 */

/** Group of the keys that hold attributes; no view may take it. */
export const ENTITY_GROUP = 'entity';
const LAYOUT_GROUP = 'schema';
/** Group of the keys of interaction histories; no view may take it. */
const HISTORY_GROUP = 'interactions';

/** Most UTF-16 code units of an id. */
export const MAX_ID_LENGTH = 1024;

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
  return ![ENTITY_GROUP, LAYOUT_GROUP, HISTORY_GROUP].includes(key.slice(start, key.indexOf(':', start)));
}

export function layoutKey(prefix: string, hexId: string): string {
  return `${prefix}:${LAYOUT_GROUP}:${hexId}`;
}

/**
 * The text that an id is: a text itself, a whole number in decimal digits; undefined for anything else. Beyond 2^53 - 1
 * JSON numbers round, so that two ids would become one; -0 is refused since `0` is another text.
 */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return Number.isSafeInteger(value) && !Object.is(value, -0) ? String(value) : undefined;
}

/** JSON Schema of an id. */
export const ID_SCHEMA = {
  type: ['string', 'integer'],
  minLength: 1,
  maxLength: MAX_ID_LENGTH,
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
} as const;

/** What is wrong with a value as an id; undefined where `idText` of it is a good id. */
export function idProblem(value: unknown): string | undefined {
  if (typeof value !== 'string')
    return idText(value) === undefined ? 'an id is a text or a whole number up to 2^53 - 1' : undefined;
  if (value === '') return 'an id is not empty';
  if (value.length > MAX_ID_LENGTH) {
    return `an id has at most ${MAX_ID_LENGTH} characters, this has ${value.length}`;
  }
  // Half a surrogate pair becomes U+FFFD in UTF-8, and two such ids would share a key.
  return isWellFormed(value) ? undefined : 'an id is well-formed Unicode, this has half a surrogate pair';
}

/** False for a text with a lone surrogate. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
