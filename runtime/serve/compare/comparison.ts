import {
  field,
  listField,
  nameField,
  optional,
  readBody,
  textField,
  unknownName,
  wholeField,
  type BodyField,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import { TIME_FORMS, timestampOf } from '../../ground/core/timestamp.js';
import { describe } from '../../ground/core/value-fit.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';

/** The limits of one comparison. */
export const MOST_QUERIES = 200;
export const MOST_LOGGED = 10_000;
const MOST_GATES = 10;
const MOST_METRICS = 10;
const LONGEST_TEXT = 500;

const textsField = (most: number, of: string): BodyField<readonly string[]> => {
  const { schema } = listField(most);
  return field(
    { ...schema, minItems: 1, items: { type: 'string', minLength: 1, maxLength: LONGEST_TEXT } },
    (value): value is readonly string[] =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.length <= most &&
      value.every((one) => typeof one === 'string' && one.trim() !== '' && one.length <= LONGEST_TEXT),
    `1 to ${most} ${of}, each a text of at most ${LONGEST_TEXT} characters`,
  );
};

/** The body that starts a comparison. */
export const START_BODY = {
  pipeline: optional(nameField('the name of a pipeline')),
  against: optional(nameField('the name of a pipeline')),
  judgments: optional(nameField('the name of a file of judgments/')),
  logged: optional(wholeField(1, MOST_LOGGED)),
  queries: optional(textsField(MOST_QUERIES, 'queries')),
  experiment: optional(nameField('the name of an experiment')),
  query_field: optional(nameField('the field of the request that gets the query')),
  slice: optional(textField()),
  metrics: optional(textsField(MOST_METRICS, 'metrics')),
  require: optional(textsField(MOST_GATES, 'conditions')),
  draft: optional(nameField('the name of a draft')),
  at: optional(textField('a time')),
};
export const ID_BODY = { comparison: nameField('the id of a comparison') };

export type ComparisonRequest = BodyOf<typeof START_BODY>;

export const COMPARISON_STATES = ['waiting', 'running', 'done', 'failed', 'stopped'] as const;

/** How far a comparison is. */
export interface ComparisonState {
  /** Its id. */
  readonly comparison: string;
  readonly state: (typeof COMPARISON_STATES)[number];
  readonly request: ComparisonRequest;
  /** Who started it; null if the service needs no keys. */
  readonly author: string | null;
  /** When, ISO 8601. */
  readonly at: string;
  /** From 0 to 1; null if it is not known. */
  readonly progress: number | null;
  /** Warnings and notes. */
  readonly notes: readonly string[];
  /** Why it failed. */
  readonly problem: string | null;
}

export interface ComparisonAnswer extends ComparisonState {
  /** What it says, as a tree of parts (`Report` of learn/report); null until it is done. */
  readonly report: object | null;
  /** The same, as a program reads it. */
  readonly result: unknown;
}

/** What can be compared, and what was. */
export interface ComparisonList {
  /** The pipelines that rank. */
  readonly pipelines: readonly string[];
  /** The files of judgments/. */
  readonly judgments: readonly string[];
  /** The experiments that have a report. */
  readonly experiments: readonly string[];
  /** The latest first. */
  readonly comparisons: readonly ComparisonState[];
}

/** The names that a comparison may use. */
export type ComparedNames = Omit<ComparisonList, 'comparisons'>;

/** A draft is compared with what is in service, over logged requests. */
function checkDrafted(request: ComparisonRequest, violations: Violations): void {
  if (request.logged === undefined)
    violations.add('/logged', 'missing_field', 'logged: a draft is compared over logged requests');
  if (request.pipeline === undefined)
    violations.add('/pipeline', 'missing_field', 'pipeline: name a pipeline');
  for (const name of ['against', 'metrics', 'require', 'slice', 'query_field'] as const)
    if (request[name] !== undefined)
      violations.add(`/${name}`, 'unknown_field', `${name}: a comparison of a draft takes none`);
  if (request.at !== undefined && Number.isNaN(timestampOf(request.at)))
    violations.add('/at', 'wrong_value', `at: expected ${TIME_FORMS}, found ${describe(request.at)}`);
}

/** The fields that say what is compared on. */
const SOURCES = ['judgments', 'logged', 'queries', 'experiment'] as const;

/** Reads and checks the body that starts a comparison. @throws MillraceError invalid_body */
export function readRequest(body: unknown, names: ComparedNames): ComparisonRequest {
  const what = 'the comparison';
  const request = readBody(body, START_BODY, what);
  const violations = new Violations();
  const known = (
    name: keyof ComparisonRequest,
    kind: string,
    all: readonly string[],
    none?: string,
  ): void => {
    const value = request[name];
    if (typeof value === 'string' && !all.includes(value))
      violations.add(`/${name}`, 'unknown_name', unknownName(name, kind, value, all, none));
  };
  for (const name of Object.keys(body as object))
    if (!Object.hasOwn(START_BODY, name))
      violations.add(
        pointerTo('', name),
        'unknown_field',
        unknownName('', 'field', name, Object.keys(START_BODY)),
      );
  known('pipeline', 'pipeline that ranks', names.pipelines);
  known('against', 'pipeline that ranks', names.pipelines);
  known(
    'judgments',
    'file of judgments',
    names.judgments,
    'put a file into the folder judgments/ of the project',
  );
  known('experiment', 'experiment with a report', names.experiments);
  const given = SOURCES.filter((name) => request[name] !== undefined);
  if (given.length !== 1)
    violations.add(
      '',
      'missing_field',
      `expected one of ${SOURCES.join(', ')}, found ${given.join(', ') || 'none'}`,
    );
  else if (request.draft !== undefined) checkDrafted(request, violations);
  else if (request.experiment === undefined) {
    if (request.pipeline === undefined)
      violations.add('/pipeline', 'missing_field', 'pipeline: name a pipeline');
    if (request.queries !== undefined && request.against === undefined)
      violations.add(
        '/against',
        'missing_field',
        'against: without grades, name a second pipeline to compare with',
      );
  }
  if (request.at !== undefined && request.draft === undefined)
    violations.add('/at', 'unknown_field', 'at: only a comparison of a draft has a time');
  violations.throwIfAny(what);
  return request;
}
