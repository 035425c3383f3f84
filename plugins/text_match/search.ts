import { isKnown, PORTION, Status, TokenLists, type Analyzer, type Pieces } from 'millrace/api';
import { QueryNumbers } from './query-numbers.js';
import type { QueryTerms } from './query-terms.js';
import {
  EqualCells,
  readLists,
  scanCell,
  scanCellInPieces,
  scanCoded,
  SHORT,
  type Sought,
  statusOf,
  type SearchedColumn,
  type Texts,
} from './searched-texts.js';
import type { TermStatistics } from './statistics.js';
import type { TextScan } from './text-scan.js';

/** The parameters of BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). */
export interface Bm25Parameters {
  /** How quickly further occurrences of a term stop adding to the score. */
  readonly k1: number;
  /** How much the length of a text lowers its score: 0 not at all, 1 in full. */
  readonly b: number;
}

/** What a request searches for in the fields that share an analyzer. */
export interface Part extends Sought {
  readonly texts: Texts;
  /** Scratch memory, one for each field. */
  readonly scans: readonly TextScan[];
  /** By field. */
  readonly weights: readonly number[];
  /** Undefined: those of the candidates. */
  readonly statistics: TermStatistics | undefined;
}

/** A field for which at least one candidate has a text. */
export interface Searched {
  readonly scan: TextScan;
  /** The mean length in tokens. */
  readonly meanLength: number;
  readonly weight: number;
}

/** What was found in the fields that share an analyzer. */
export interface SearchedPart {
  readonly part: Part;
  readonly fields: readonly Searched[];
  /** See `inverseFrequencies`. */
  readonly idf: readonly number[];
}

/**
 * Scans all candidates, including filtered ones, so that an earlier filter does not change the scores of the others.
 * @param until when the search pauses after each portion, by `performance.now()`. A pause copies the columns, so a short search
 *   has none.
 */
export function* search(part: Part, until: number): Pieces<Searched[]> {
  const { texts: found, query, analyzer, scans, weights, statistics } = part;
  if (query.length === 0) return [];
  const { count } = found;
  let left = PORTION;
  const searched: Searched[] = [];
  for (let f = 0; f < found.columns.length; f++) {
    const scan = scans[f];
    if (scan === undefined) continue;
    scan.reset(count, query.terms.length);
    // A yield replaces the columns by copies.
    const columnNow = (): SearchedColumn => found.columns[f] as SearchedColumn;
    let cells: EqualCells | undefined;
    let tokens = 0;
    let texts = 0;
    let column = columnNow();
    const lists = listsFor(column, query, analyzer, count);
    if (lists !== undefined) {
      for (let row = 0; row < count; row++) {
        if (left < 0) {
          left = PORTION;
          if (performance.now() > until) yield;
          column = columnNow();
        }
        left -= readLists(row, column, lists);
      }
    }
    // All tokens of the candidates have their numbers now.
    const coded = lists && { lists, numbers: new QueryNumbers(query, lists) };
    for (let row = 0; row < count; row++) {
      if (!isKnown(column.status[row * column.stride])) continue;
      if (left < 0) {
        left = PORTION;
        if (performance.now() > until) yield;
        column = columnNow();
      }
      let cost = coded === undefined ? -1 : scanCoded(scan, row, column, query, coded);
      if (cost < 0) cost = scanCell(scan, row, column, part, SHORT);
      if (cost < 0) {
        const equal = (cells ??= new EqualCells()).find(column, row);
        if (equal === undefined) cost = scanCell(scan, row, column, part, PORTION);
        else {
          scan.repeat(row, equal, query.terms.length);
          cost = 1;
        }
      }
      if (cost < 0) {
        cost = PORTION;
        yield* scanCellInPieces(scan, row, columnNow, part, until);
        column = columnNow();
      }
      left -= cost;
      tokens += scan.lengths[row] ?? 0;
      texts++;
    }
    // A field that no candidate has is not scored.
    if (texts === 0) continue;
    const meanLength = statistics?.meanLengths[f] ?? tokens / texts;
    searched.push({ scan, meanLength, weight: weights[f] ?? 1 });
  }
  return searched;
}

/** Undefined if the texts of a column have no codes, or are so few that it costs less to scan them by letters. */
function listsFor(
  { dictionary }: SearchedColumn,
  query: QueryTerms,
  analyzer: Analyzer,
  count: number,
): TokenLists | undefined {
  if (dictionary === undefined) return undefined;
  // The numbers of the query take two look-ups for each of its letters.
  let letters = 0;
  for (const term of query.terms) letters += term.length;
  return count < letters / 2 ? undefined : TokenLists.of(dictionary, analyzer);
}

/** The idf of each term, multiplied by its number of occurrences in the query. */
export function inverseFrequencies(
  { texts: { count, columns }, query, statistics }: Part,
  searched: readonly Searched[],
): number[] {
  if (statistics !== undefined) {
    const { documents, frequencies } = statistics;
    return query.terms.map(
      (term, t) => inverseDocumentFrequency(documents, frequencies.get(term) ?? 0) * (query.repeats[t] ?? 1),
    );
  }
  const terms = query.terms.length;
  const containing = new Float64Array(terms);
  let documents = 0;
  for (let row = 0; row < count; row++) {
    if (statusOf(columns, row) !== Status.present) continue;
    documents++;
    for (let term = 0; term < terms; term++) {
      if (holds(searched, row * terms + term)) containing[term] = (containing[term] ?? 0) + 1;
    }
  }
  return query.repeats.map((times, t) => inverseDocumentFrequency(documents, containing[t] ?? 0) * times);
}

/** Whether any field contains the term; `cell` is row · terms + term. */
function holds(searched: readonly Searched[], cell: number): boolean {
  for (const { scan } of searched) if ((scan.counts[cell] ?? 0) > 0) return true;
  return false;
}

/**
 * The idf of a term that n of N texts contain, as Lucene computes it: ln(1 + (N - n + 0.5) / (n + 0.5)). It is never
 * negative.
 */
function inverseDocumentFrequency(documents: number, containing: number): number {
  const n = Math.min(containing, documents);
  return Math.log(1 + (documents - n + 0.5) / (n + 0.5));
}
