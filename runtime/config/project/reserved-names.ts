/** Names that the service itself gives a meaning to. */

/** Words of the expression language. */
export const KEYWORDS: ReadonlySet<string> = new Set(['and', 'or', 'not', 'in', 'true', 'false', 'null']);

/** What an expression finds without anyone declaring it. */
export const EXPRESSION_NAMES: ReadonlySet<string> = new Set(['score', 'now', 'request']);

/** Fields of the body of every pipeline's route … */
export const BODY_FIELDS: readonly string[] = ['request_id', 'include_events'];

/** … and of one that ranks. */
export const RANKING_FIELDS: readonly string[] = [
  ...BODY_FIELDS,
  'candidates',
  'user_page',
  'user_page_size',
  'candidate_page',
  'candidate_page_size',
];

/** Keys of `request:` that say how a body is read; the others are fields. */
export const REQUEST_MODES: readonly string[] = ['unknown', 'duplicates'];

/** No names for the fields that `request:` declares: those of bodies, and what it uses itself. */
export const REQUEST_FIELDS: ReadonlySet<string> = new Set([...RANKING_FIELDS, ...REQUEST_MODES, 'request']);

/** Fields of a pushed feature row beside keys and features. */
export const ROW_FIELDS: ReadonlySet<string> = new Set(['event_time']);

/** The store group of views that name none. */
export const DEFAULT_GROUP = 'features';

/** Groups of store keys that are not for views to name. */
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
]);
