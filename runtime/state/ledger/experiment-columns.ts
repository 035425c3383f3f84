import type { Field } from './fields.js';

/*
 * The fields that experiments add to the records of rankings. The record of a pipeline without experiments has none of
 * them, so readers must take each as absent if the schema does not name it.
 */

/**
 * One row a request: the experiments that it takes part in. The four lists have one element for each of them, in the
 * same order. A request that takes part in none has empty lists. `experiment_unit` is the id of the unit, hashed as
 * `log: hash` says, or an empty text without a unit. `excluded` is an empty text if the request counts in the result,
 * otherwise one of EXCLUSIONS.
 */
export const EXPERIMENT_FIELDS = [
  ['experiment', 'texts'],
  ['arm', 'texts'],
  ['experiment_unit', 'texts'],
  ['excluded', 'texts'],
] as const satisfies readonly Field[];

/**
 * Why a request of an experiment does not count. `no_unit`: it got control. `override`: a header chose an arm.
 * `not_interleaved`: it got control, since a step of one arm failed. With `assign`, it got control: `no_variant`, it named
 * no arm; `unknown_variant`, it named one that the experiment does not have.
 */
export const EXCLUSIONS = [
  'no_unit',
  'override',
  'not_interleaved',
  'no_variant',
  'unknown_variant',
] as const;
export type Exclusion = (typeof EXCLUSIONS)[number];

/** The arm of a request whose page has candidates of both arms. No arm of an interleaving has this name. */
export const INTERLEAVED = 'interleaved';

/**
 * One row for each logged candidate, if an experiment interleaves: the arm that gets the credit for the candidate.
 * Absent for candidates of the common prefix of both arms, and for candidates without a place.
 */
export const TEAM_FIELD = ['team', 'text', 'nullable'] as const satisfies Field;

/**
 * One row for each logged candidate, if a step explores. All but `place_before` are absent for candidates whose place
 * was not drawn.
 * - `place_before`: the place without exploration, from 1; 0 for a removed candidate.
 * - `propensity`: the probability that the candidate was drawn for its place, given those above it.
 * - `marginal`: the probability that the candidate is at its place, whatever is above it.
 * - `marginal_error`: the standard error of `marginal`; 0 if that is exact.
 */
export const EXPLORE_FIELDS = [
  ['place_before', 'int32'],
  ['propensity', 'float64', 'nullable'],
  ['marginal', 'float64', 'nullable'],
  ['marginal_error', 'float64', 'nullable'],
] as const satisfies readonly Field[];

/** The fields of a draw that a log of another system can have. */
export const DRAWN_FIELDS = [EXPLORE_FIELDS[1], EXPLORE_FIELDS[2]] as const;

/*
 * Entries of a schema's `meta`:
 * - `experiments`: by name, { mode, unit, layer, share, assign?, metrics?, arms: { NAME: { weight, params?, pipeline? } } },
 *   those of the pipeline that was called. The first arm is the control. `metrics` is what the report decides by.
 * - `experiment_pipeline`: the pipeline that was called. `pipeline` is the one that ran, which an arm may name.
 * - `arm_pipelines`: by name, { version, models } of each pipeline that an arm names: what `pipeline_version` and `models`
 *   are for `pipeline`.
 * - `explore`: { step, method, top, … }, the options of the step that explores.
 */
