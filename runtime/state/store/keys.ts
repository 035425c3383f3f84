/**
 * Keys of the store: `<prefix>:<group>:<type>:<id>`. Prefix, group and types match the name grammar, so they hold no
 * colon and no comma, and the id comes last: no two identifiers share a key.
 *
 *   millrace:entity:product:p1                attributes of an entity
 *   millrace:features:product:p1              its feature views
 *   millrace:features:user,brand:2:u12:b7     views of a composite: each id after its length in UTF-16 code units
 *   millrace:features::                       global views
 *   millrace:interactions:user:u12            the feedback history of an entity
 *   millrace:counters:brand:b7                the counters of an entity
 *   millrace:marks:brand:{…}:29384            ids of events that a counter record has counted, of a span of time
 *   millrace:schema:0123456789abcdef          a record layout
 *   millrace:meta:services:                   the services that use the prefix
 *   millrace:meta:instances:                  the state of each instance
 *   millrace:meta:events:                     the codes of the kinds of feedback
 *   millrace:meta:counters:                   the generations of counters that were rebuilt
 *   millrace:meta:experiment:popularity       an experiment that was stopped
 *   millrace:meta:curation:campaigns          the rules of a list that came over the API
 *   millrace:meta:curation:{…}:draft:friday   a draft of changes to a list, in the slot of its record
 *   millrace:meta:curation:{…}:publish:17-3f  what was published of it
 *   millrace:meta:judging:lamps               a round of judging; with an empty name, the names of all
 *   millrace:meta:judging:{…}:1f0c9a7b:17     what judges said of one query of it, in the slot of its record
 *   millrace:meta:releases:                   the last projects that were served, and the rollback that holds
 *   millrace:meta:release:1f0c9a7b2d44/0      a part of the files of one of them
 *   millrace:meta:invitations:                the invitations that were made over HTTP
 *   millrace:meta:preview_links:              the links to previews of drafts
 *   millrace:meta:session:k3Jd8s2A            the session that was opened by an invitation
 *   millrace:meta:marker:                     identifies this database among those of the server
 *   millrace:meta:probe:0                     never exists: checks whether a server accepts writes
 */
import { idsText } from '../../ground/core/ids.js';

/** Group of the keys that hold attributes; no view may take it. */
export const ENTITY_GROUP = 'entity';
const LAYOUT_GROUP = 'schema';
/** Group of the keys of interaction histories; no view may take it. */
const HISTORY_GROUP = 'interactions';

/** Group of the keys of counters; no view may take it. Resident tables do not track it. */
export const COUNTER_GROUP = 'counters';
/** Group of the keys of remembered event ids; no view may take it. */
const MARK_GROUP = 'marks';

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
  return `${prefix}:${group}:${types.join(',')}:${idsText(ids)}`;
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
    key !== generationsKey(prefix) &&
    !key.startsWith(experimentStopKey(prefix, '')) &&
    !key.startsWith(curationKey(prefix, '')) &&
    !key.startsWith(judgingKey(prefix, ''))
  );
}

/** What the record at a key is. `meta` describes the store itself. */
export type KeyKind = 'entity' | 'layout' | 'history' | 'features' | 'meta' | 'counters' | 'marks';

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
  [COUNTER_GROUP, 'counters'],
  [MARK_GROUP, 'marks'],
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

/** Key of the counters of an entity, of a combination of entities, or of everything (no types). */
export function counterKey(prefix: string, types: readonly string[], ids: readonly string[]): string {
  return featureKey(prefix, COUNTER_GROUP, types, ids);
}

/**
 * Key of the ids of events that a counter record has counted in one slice of time. In a cluster it is in the slot of the
 * record, as long as no id contains a brace.
 * @param counter a key of `counterKey`
 */
export function markKey(counter: string, slice: number): string {
  const group = counter.indexOf(':');
  const types = counter.indexOf(':', group + 1);
  const id = counter.indexOf(':', types + 1);
  return `${counter.slice(0, group)}:${MARK_GROUP}${counter.slice(types, id + 1)}{${counter}}:${slice}`;
}

/** Whether the remembered ids of a record are on the server of the record, in a cluster too. */
export function hasMarksBeside(counter: string): boolean {
  return !counter.includes('{') && !counter.includes('}');
}

/** True for a key of an entity's attributes. */
export function isEntityKey(key: string): boolean {
  return key.startsWith(`${ENTITY_GROUP}:`, key.indexOf(':') + 1);
}

/** True for a key of records that have versions and expire: interactions, counters, and remembered ids. */
export function isVersionedKey(key: string): boolean {
  const start = key.indexOf(':') + 1;
  return VERSIONED_GROUPS.has(key.slice(start, key.indexOf(':', start)));
}

const VERSIONED_GROUPS: ReadonlySet<string> = new Set([HISTORY_GROUP, COUNTER_GROUP, MARK_GROUP]);

/** True for a key of feature views. */
export function isFeatureKey(key: string): boolean {
  const start = key.indexOf(':') + 1;
  const group = key.slice(start, key.indexOf(':', start));
  return ![ENTITY_GROUP, LAYOUT_GROUP, META_GROUP].includes(group) && !VERSIONED_GROUPS.has(group);
}

export function layoutKey(prefix: string, hexId: string): string {
  return `${prefix}:${LAYOUT_GROUP}:${hexId}`;
}

/** Key of the record in which the services of a prefix publish their schemas. */
export function servicesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:services:`;
}

/** Key of the record with the state of each instance of a prefix. */
export function instancesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:instances:`;
}

/** Key of the record of codes that histories use for kinds of feedback. It is data: a backup holds it. */
export function eventCodesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:events:`;
}

/** Key of the record of the generations of counters that were rebuilt. It is data: a backup holds it. */
export function generationsKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:counters:`;
}

/** Key of the record that says that an experiment was stopped. It is data: a backup holds it. */
export function experimentStopKey(prefix: string, experiment: string): string {
  return `${prefix}:${META_GROUP}:experiment:${experiment}`;
}

/** Key of the rules of a list that came over the API. It is data: a backup holds it. */
export function curationKey(prefix: string, list: string): string {
  return `${prefix}:${META_GROUP}:curation:${list}`;
}

/** Key of a draft of a list. It is data, and in a cluster in the slot of the list. @param name empty for the names of all */
export function draftKey(prefix: string, list: string, name: string): string {
  return besideList(prefix, list, 'draft', name);
}

/** Key of what was published of a list at one time. It is data, and in a cluster in the slot of the list. */
export function publishKey(prefix: string, list: string, id: string): string {
  return besideList(prefix, list, 'publish', id);
}

function besideList(prefix: string, list: string, kind: string, id: string): string {
  return `${curationKey(prefix, '')}{${curationKey(prefix, list)}}:${kind}:${id}`;
}

/** Key of a round of judging. It is data: a backup holds it. @param round empty for the names of all */
export function judgingKey(prefix: string, round: string): string {
  return `${prefix}:${META_GROUP}:judging:${round}`;
}

/**
 * Key of what judges said of one query. It is data, and in a cluster in the slot of the round.
 * @param id of the round: a later one of the same name has another
 */
export function judgedKey(prefix: string, round: string, id: string, number: number): string {
  return `${judgingKey(prefix, '')}{${judgingKey(prefix, round)}}:${id}:${number}`;
}

/** Key of the invitations that were made over HTTP. A backup has none: an old one would undo what was revoked. */
export function invitationsKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:invitations:`;
}

/** Key of the links to previews. A backup has none: an old one would undo what was revoked. */
export function previewLinksKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:preview_links:`;
}

/** Key of the session that an invitation opened. A backup has none: a stolen one must not sign in. */
export function sessionKey(prefix: string, invitation: string): string {
  return `${prefix}:${META_GROUP}:session:${invitation}`;
}

/** Key of the record of the last projects that were served. A backup has none: a restored service begins with its files. */
export function releasesKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:releases:`;
}

/** Key of a part of the packed files of a project. @param number from 0 */
export function releasePartKey(prefix: string, version: string, number: number): string {
  return `${prefix}:${META_GROUP}:release:${version}/${number}`;
}

export function markerKey(prefix: string): string {
  return `${prefix}:${META_GROUP}:marker:`;
}

/** @param number chooses the slot of the key in a cluster */
export function probeKey(prefix: string, number: number): string {
  return `${prefix}:${META_GROUP}:probe:${number}`;
}
