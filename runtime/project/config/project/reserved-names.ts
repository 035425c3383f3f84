/** Names that already have a meaning in the service. */

/** Words of the grammar of expressions. A function is no such word: it is called with parentheses. */
export const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null']);

/** Names that every expression can use without a declaration. */
export const EXPRESSION_NAMES: ReadonlySet<string> = new Set(['score', 'request']);

/** Fields in the body of every pipeline's route … */
const BODY = ['request_id', 'include_events'] as const;
export const BODY_FIELDS: readonly string[] = BODY;

/** … and additional fields of a route that ranks. */
const PAGE = ['user_page', 'user_page_size', 'candidate_page', 'candidate_page_size'] as const;
export const RANKING_FIELDS: readonly string[] = [...BODY, 'candidates', ...PAGE];

export type PageField = (typeof PAGE)[number];

/** Keys of `request:` that are modes. The other keys are fields. */
export const REQUEST_MODES: readonly string[] = ['unknown', 'duplicates'];

/** Names that a field under `request:` cannot have: the fields of bodies, and the keys of `request:` itself. */
export const REQUEST_FIELDS: ReadonlySet<string> = new Set([...RANKING_FIELDS, ...REQUEST_MODES, 'request']);

/** Fields of a pushed feature row, apart from keys and features. */
export const ROW_FIELDS: ReadonlySet<string> = new Set(['event_time']);

/** Fields of every feedback event, which no value of an event can have as its name. */
const EVENT = ['type', 'time', 'quantity', 'position', 'event_id'] as const;
export type EventField = (typeof EVENT)[number];
export const EVENT_FIELDS: readonly string[] = EVENT;

/** The store group of views that name no group. */
export const DEFAULT_GROUP = 'features';

/** Groups of store keys that a view cannot use. */
export const STORE_GROUPS: ReadonlySet<string> = new Set([
  DEFAULT_GROUP,
  'feature',
  'entity',
  'entities',
  'schema',
  'schemas',
  'layout',
  'meta',
  'interactions',
  'counters',
  'marks',
]);
