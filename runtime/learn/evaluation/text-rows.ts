/** Line formats of other tools. Each function reads one line, and returns a text that says what is wrong with it. */
import { gradeProblem, type Judgment } from './judgments.js';

/**
 * Reads a line of TREC qrels: `query iteration id grade`, separated by white space.
 * Source: trec_eval 9.0, `README` and `get_qrels.c` (NIST).
 */
export function readQrel(line: string): Judgment | string {
  const cells = line.trim().split(/\s+/);
  const [query = '', , id = '', text = ''] = cells;
  if (cells.length !== 4) return `expected query, iteration, id and grade, found ${countText(cells.length)}`;
  const grade = numberOf(text);
  if (grade === undefined) return `expected a number as the grade, found ${JSON.stringify(text)}`;
  return gradeProblem(grade) ?? { query, id, grade };
}

/** A document of a TREC run. */
export interface RunRow {
  readonly query: string;
  readonly id: string;
  readonly score: number;
}

/**
 * Reads a line of a TREC run: `query Q0 id rank score tag`, separated by white space. The score gives the order, as in
 * trec_eval; the rank is not read.
 * Source: trec_eval 9.0, `README` and `get_trec_results.c` (NIST).
 */
export function readRunRow(line: string): RunRow | string {
  const cells = line.trim().split(/\s+/);
  const [query = '', , id = '', , text = ''] = cells;
  if (cells.length !== 6)
    return `expected query, Q0, id, rank, score and tag, found ${countText(cells.length)}`;
  const score = numberOf(text);
  if (score === undefined) return `expected a number as the score, found ${JSON.stringify(text)}`;
  return { query, id, score };
}

/** A line of a LibSVM file. */
export interface LibSvmRow {
  readonly grade: number;
  /** The `qid:` of the line; undefined if it has none. */
  readonly query: string | undefined;
  /** The id in the comment; undefined if it has none. */
  readonly id: string | undefined;
  /** Column number → value. */
  readonly features: ReadonlyMap<number, number>;
}

/**
 * Reads a line of a LibSVM ranking file: `grade qid:query column:value … # docid = id`. A comment that is one word is
 * the id too.
 * Source: SVMrank's file format (T. Joachims); the comment as in LETOR (T. Qin and T.-Y. Liu, 2013).
 */
export function readLibSvmRow(line: string): LibSvmRow | string {
  const [data = '', ...comments] = line.split('#');
  const [text = '', ...cells] = data.trim().split(/\s+/);
  const grade = numberOf(text);
  if (grade === undefined) return `expected a number as the grade, found ${JSON.stringify(text)}`;
  const problem = gradeProblem(grade);
  if (problem !== undefined) return problem;
  let query: string | undefined;
  const features = new Map<number, number>();
  for (const cell of cells) {
    const colon = cell.indexOf(':');
    const [name, value] = [cell.slice(0, Math.max(0, colon)), cell.slice(colon + 1)];
    if (name === 'qid') {
      query = value;
      continue;
    }
    const number = numberOf(value);
    if (!/^\d+$/.test(name) || number === undefined)
      return `expected column:value with two numbers, found ${JSON.stringify(cell)}`;
    features.set(Number(name), number);
  }
  return { grade, query, id: idIn(comments.join('#')), features };
}

function idIn(comment: string): string | undefined {
  const [, id] = /\bdocid\s*=\s*(\S+)/.exec(comment) ?? /^\s*(\S+)\s*$/.exec(comment) ?? [];
  return id;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** The number of a text; undefined if it is not a finite decimal number. */
export function numberOf(text: string): number | undefined {
  const value = NUMBER.test(text) ? Number(text) : NaN;
  return Number.isFinite(value) ? value : undefined;
}

function countText(cells: number): string {
  return cells === 1 ? '1 cell' : `${cells} cells`;
}
