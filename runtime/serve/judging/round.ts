import {
  field,
  listField,
  nameField,
  optional,
  readBody,
  unknownName,
  wholeField,
  type BodyField,
  type BodyOf,
} from '../../ground/core/body-fields.js';
import { NAME_PATTERN, type JsonObject } from '../../ground/api/types.js';
import { idProblem } from '../../ground/core/ids.js';
import { isJsonObject, own } from '../../ground/core/value-fit.js';
import { pointerTo, Violations } from '../../ground/core/violations.js';
import type { Card } from '../../state/index/cards.js';
import type { Agreement } from '../../ground/core/agreement.js';

/** The limits of one round. */
export const MOST_ROUNDS = 20;
export const MOST_ARMS = 4;
export const MOST_QUERIES = 200;
export const MOST_DEPTH = 20;
export const MOST_JUDGES = 20;
const MOST_GRADES = 10;
const LARGEST_GRADE = 100;
const LONGEST_QUERY = 200;
const LONGEST_JUDGE = 64;
/** The most candidates of a query, besides those that somebody added. */
export const MOST_POOLED = MOST_ARMS * MOST_DEPTH;
/** The most that can be added to a query by hand. */
export const MOST_ADDED = 50;

export const DEFAULT_DEPTH = 10;
export const DEFAULT_GRADES: readonly number[] = [0, 1, 2, 3];

/** A spreadsheet that opens the export would run such a text as a formula. */
export const isFormula = (text: string): boolean => /^[=+\-@\t\r]/.test(text);

/** A pipeline, perhaps with other values of some params. */
export interface Arm {
  readonly pipeline: string;
  readonly params?: Readonly<Record<string, number>>;
}

const roundField = field(
  { type: 'string', pattern: NAME_PATTERN.source, maxLength: 60 },
  (value): value is string => typeof value === 'string' && NAME_PATTERN.test(value) && value.length <= 60,
  'a name of small letters, digits and _, at most 60 characters',
);
const isGrade = (value: unknown): value is number =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LARGEST_GRADE;
const gradesField: BodyField<readonly number[]> = field(
  {
    type: 'array',
    minItems: 2,
    maxItems: MOST_GRADES,
    uniqueItems: true,
    items: { type: 'integer', minimum: 0, maximum: LARGEST_GRADE },
  },
  (value): value is readonly number[] =>
    Array.isArray(value) &&
    value.length > 1 &&
    value.length <= MOST_GRADES &&
    value.every(isGrade) &&
    new Set(value).size === value.length,
  `2 to ${MOST_GRADES} different whole numbers from 0 to ${LARGEST_GRADE}`,
);
const queriesField: BodyField<readonly string[]> = field(
  {
    type: 'array',
    minItems: 1,
    maxItems: MOST_QUERIES,
    items: { type: 'string', minLength: 1, maxLength: LONGEST_QUERY },
  },
  (value): value is readonly string[] =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= MOST_QUERIES &&
    value.every((one) => typeof one === 'string' && one.trim() !== '' && one.length <= LONGEST_QUERY),
  `1 to ${MOST_QUERIES} queries, each a text of at most ${LONGEST_QUERY} characters`,
);
const judgeField = field(
  { type: 'string', minLength: 1, maxLength: LONGEST_JUDGE },
  (value): value is string =>
    typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_JUDGE,
  `a name of 1 to ${LONGEST_JUDGE} characters`,
);
const idField = field(
  { type: 'string', minLength: 1 },
  (value): value is string => typeof value === 'string' && idProblem(value) === undefined,
  'the id of a candidate',
);

/** The bodies of the routes. */
export const JUDGING_BODIES = {
  start: {
    round: roundField,
    arms: listField(MOST_ARMS, 'a list of arms'),
    queries: queriesField,
    depth: optional(wholeField(1, MOST_DEPTH)),
    grades: optional(gradesField),
    query_field: optional(nameField('the field of the request that gets the query')),
  },
  query: {
    round: nameField('the name of a round'),
    number: wholeField(1, MOST_QUERIES),
    judge: optional(judgeField),
  },
  grade: {
    round: nameField('the name of a round'),
    number: wholeField(1, MOST_QUERIES),
    grades: optional(listField(MOST_POOLED + MOST_ADDED, 'a list of grades')),
    skipped: optional(
      field({ type: 'boolean' }, (value): value is boolean => typeof value === 'boolean', 'true or false'),
    ),
    judge: optional(judgeField),
  },
  add: { round: nameField('the name of a round'), query: nameField('a query'), candidate_id: idField },
  export: { round: nameField('the name of a round') },
  remove: { round: nameField('the name of a round') },
} as const;

export type JudgingRoute = keyof typeof JUDGING_BODIES;

/** A round as it is stored. */
export interface Round {
  readonly round: string;
  /** Differs from that of an earlier round of the same name. */
  readonly id: string;
  readonly arms: readonly Arm[];
  readonly queries: readonly string[];
  readonly depth: number;
  readonly grades: readonly number[];
  readonly query_field?: string | undefined;
  readonly author: string | null;
  /** ISO 8601. */
  readonly at: string;
}

/** What answers say of a round. */
export interface RoundState extends Pick<Round, 'round' | 'arms' | 'depth' | 'grades' | 'author' | 'at'> {
  /** How many. */
  readonly queries: number;
}

export interface RoundList {
  /** The pipelines that rank. */
  readonly pipelines: readonly string[];
  readonly rounds: readonly RoundState[];
}

/** A query as a judge sees it: without arms and scores, in an order of the judge's own. */
export interface JudgedView {
  readonly round: string;
  /** From 1. */
  readonly number: number;
  readonly queries: number;
  readonly query: string;
  readonly judge: string;
  readonly grades: readonly number[];
  readonly skipped: boolean;
  readonly candidates: readonly {
    readonly candidate_id: string;
    readonly card?: Card;
    /** Of this judge; null if it has none. */
    readonly grade: number | null;
  }[];
  /** The numbers of the queries that this judge graded whole, or skipped. */
  readonly done: readonly number[];
}

export interface JudgingExport {
  readonly round: string;
  /** The name of the file. */
  readonly file: string;
  /** Its content: `query,id,grade`, as `evaluate` and `tune` read it. */
  readonly csv: string;
  readonly queries: number;
  readonly rows: number;
  readonly judges: readonly { readonly judge: string; readonly grades: number; readonly skipped: number }[];
  readonly agreement: Agreement;
}

export type StartBody = Omit<BodyOf<(typeof JUDGING_BODIES)['start']>, 'arms'> & {
  readonly arms: readonly Arm[];
};

/** Reads the body that starts a round. @param pipelines those that rank @throws MillraceError invalid_body */
export function readStart(body: unknown, pipelines: readonly string[]): StartBody {
  const what = 'the round';
  const read = readBody(body, JUDGING_BODIES.start, what);
  const violations = new Violations();
  const arms = [...read.arms].flatMap((one, at) =>
    readArm(one, pointerTo('/arms', String(at)), pipelines, violations),
  );
  if (read.arms.length < 1)
    violations.add('/arms', 'too_few', 'arms: name one pipeline or more; two or more are pooled');
  if (new Set(arms.map((one) => JSON.stringify(one))).size < arms.length)
    violations.add('/arms', 'duplicate_name', 'arms: two of them are the same');
  for (const [at, query] of read.queries.entries()) {
    if (read.queries.indexOf(query) < at)
      violations.add(`/queries/${at}`, 'duplicate_name', 'queries: the query stands in the list twice');
    if (isFormula(query))
      violations.add(
        `/queries/${at}`,
        'wrong_value',
        'queries: a spreadsheet would run the query as a formula; begin it with another character',
      );
  }
  violations.throwIfAny(what);
  return { ...read, arms };
}

function readArm(
  value: unknown,
  pointer: string,
  pipelines: readonly string[],
  violations: Violations,
): Arm[] {
  const pipeline = isJsonObject(value) ? own(value, 'pipeline') : undefined;
  if (!isJsonObject(value) || typeof pipeline !== 'string') {
    violations.add(pointer, 'wrong_type', 'arms: expected an object such as {"pipeline": "search"}');
    return [];
  }
  if (!pipelines.includes(pipeline))
    violations.add(
      `${pointer}/pipeline`,
      'unknown_name',
      unknownName('pipeline', 'pipeline that ranks', pipeline, pipelines),
    );
  const params = own(value, 'params');
  if (params === undefined) return [{ pipeline }];
  if (!isJsonObject(params) || !isNumbers(params)) {
    violations.add(`${pointer}/params`, 'wrong_type', 'params: expected numbers by the names of params');
    return [];
  }
  return [{ pipeline, params }];
}

function isNumbers(params: JsonObject): params is JsonObject & Record<string, number> {
  return Object.values(params).every((one) => typeof one === 'number');
}

/** What a judge says of some candidates. */
export type Said = ReadonlyMap<string, number | null>;

/** Reads `grades` of a body. @param allowed the grades of the round @throws MillraceError invalid_body */
export function readGrades(list: Iterable<unknown>, allowed: readonly number[]): Said {
  const violations = new Violations();
  const said = new Map<string, number | null>();
  for (const [at, one] of [...list].entries()) {
    const [id, grade] = isJsonObject(one) ? [own(one, 'candidate_id'), own(one, 'grade')] : [];
    if (typeof id !== 'string')
      violations.add(`/grades/${at}`, 'wrong_type', 'grades: expected {"candidate_id": …, "grade": …}');
    else if (grade !== null && !allowed.some((known) => known === grade))
      violations.add(
        `/grades/${at}/grade`,
        'wrong_value',
        `grade: expected one of ${allowed.join(', ')}, or null`,
      );
    else said.set(id, grade as number | null);
  }
  violations.throwIfAny('the grades');
  return said;
}
