import type { JsonObject } from '../../ground/api/types.js';

/** A query whose candidates people graded. */
export interface JudgedQuery {
  readonly query: string;
  /** In the order of the file. */
  readonly candidates: readonly JudgedCandidate[];
  /** Other values of the query, by column; empty if the file has none. */
  readonly context: JsonObject;
  /** The request, if it was logged. */
  readonly body?: JsonObject & { readonly candidates: readonly JsonObject[] };
}

export interface JudgedCandidate {
  readonly id: string;
  /** NaN if the file lists the candidate without a grade. */
  readonly grade: number;
  /** Attributes of the candidate that the file holds; undefined if it holds none. */
  readonly carried?: JsonObject;
}

/** One row of a judgments file. */
export interface Judgment {
  readonly query: string;
  readonly id: string;
  /** NaN if the candidate is listed without a grade. */
  readonly grade: number;
  readonly context?: JsonObject;
  readonly carried?: JsonObject;
}

/** Larger grades would overflow the gain 2^grade. */
const LARGEST_GRADE = 1000;

/** Says why a grade cannot be used. Returns undefined if it can. */
export function gradeProblem(grade: number): string | undefined {
  if (Math.abs(grade) <= LARGEST_GRADE) return undefined;
  return `a grade is a number from -${LARGEST_GRADE} to ${LARGEST_GRADE}, found ${grade}`;
}

/** Groups the rows of a judgments file by query. The rows of a query need not be consecutive. */
export class JudgmentsBuilder {
  readonly #queries = new Map<string, OpenQuery>();
  /** Rows that repeat an earlier row. */
  repeated = 0;

  /** Adds a row. Returns why it cannot be added, or undefined. */
  add({ query, id, grade, context, carried }: Judgment): string | undefined {
    let open = this.#queries.get(query);
    if (open === undefined) {
      open = { query, candidates: new Map(), context: {} };
      this.#queries.set(query, open);
    }
    const problem = context === undefined ? undefined : addContext(open, context);
    if (problem !== undefined) return problem;
    const before = open.candidates.get(id);
    if (before !== undefined) {
      if (!Object.is(before.grade, grade))
        return `the query ${JSON.stringify(query)} has two grades for ${JSON.stringify(id)}: ${gradeText(before.grade)} and ${gradeText(grade)}`;
      this.repeated += 1;
      return undefined;
    }
    open.candidates.set(id, carried === undefined ? { id, grade } : { id, grade, carried });
    return undefined;
  }

  /** In the order of their first rows. */
  queries(): readonly JudgedQuery[] {
    return Array.from(this.#queries.values(), ({ query, candidates, context }) => ({
      query,
      candidates: [...candidates.values()],
      context,
    }));
  }
}

interface OpenQuery {
  readonly query: string;
  readonly candidates: Map<string, JudgedCandidate>;
  context: JsonObject;
}

/** Context is one value a query: a row may leave it out, but not change it. */
function addContext(open: OpenQuery, context: JsonObject): string | undefined {
  for (const [name, value] of Object.entries(context)) {
    const before = open.context[name];
    if (before !== undefined && JSON.stringify(before) !== JSON.stringify(value))
      return `the query ${JSON.stringify(open.query)} has two values of ${name}: ${JSON.stringify(before)} and ${JSON.stringify(value)}`;
    if (before === undefined) open.context = { ...open.context, [name]: value };
  }
  return undefined;
}

function gradeText(grade: number): string {
  return Number.isNaN(grade) ? 'none' : String(grade);
}
