import { Status, type NumberColumn } from 'millrace/api';
import type { Bm25Parameters } from './search.js';
import type { SearchedPart } from './search.js';
import { statusOf } from './searched-texts.js';

export const OUTPUTS = {
  bm25: 'number',
  overlap: 'number',
  phrase: 'number',
  coverage: 'number',
  proximity: 'number',
  first: 'number',
} as const;

/** The columns that a step fills. */
export type Found = Readonly<Record<keyof typeof OUTPUTS, NumberColumn>>;

/**
 * BM25F (Zaragoza et al., "Microsoft Cambridge at TREC-13", 2004). Occurrences are weighted and scaled by the length
 * of their field. Then their sum saturates. With one field of weight 1 it is BM25. Terms of different analyzers are
 * different terms, so the scores of the parts are added.
 */
export function writeMatches(
  parts: readonly SearchedPart[],
  { k1, b }: Bm25Parameters,
  { bm25, overlap, phrase, coverage, proximity, first }: Found,
): void {
  const [one] = parts;
  if (one === undefined) return;
  const isOnly = parts.length === 1;
  const scales = parts.map(({ fields }) => new Float64Array(fields.length));
  const places = new Int32Array(parts.length);
  for (const row of one.part.texts.rows) {
    const status = isOnly ? statusOf(one.part.texts.columns, row) : statusOfParts(parts, row);
    bm25.status[row] = overlap.status[row] = phrase.status[row] = status;
    coverage.status[row] = proximity.status[row] = first.status[row] = status;
    if (status !== Status.present) continue;
    let inRow = 0;
    let covered = 0;
    let close = 0;
    let place = 0;
    for (let p = 0; p < parts.length; p++) {
      const { fields } = parts[p] as SearchedPart;
      const scale = scales[p] as Float64Array;
      for (let f = 0; f < fields.length; f++) {
        const field = fields[f];
        if (field === undefined) continue;
        const { scan, meanLength, weight } = field;
        const length = scan.lengths[row] ?? 0;
        const relative = meanLength > 0 ? length / meanLength : 1;
        const divisor = 1 - b + b * relative;
        scale[f] = divisor > 0 ? weight / divisor : 0;
        const at = scan.first[row] as number;
        if (at === 0) continue;
        inRow |= scan.phrases[row] ?? 0;
        covered = Math.max(covered, (scan.matched[row] as number) / length);
        close = Math.max(close, scan.proximity[row] as number);
        if (place === 0 || at < place) place = at;
      }
    }
    if (place === 0) {
      bm25.values[row] = overlap.values[row] = phrase.values[row] = 0;
      coverage.values[row] = proximity.values[row] = 0;
      first.status[row] = Status.absent;
      continue;
    }
    let score = 0;
    let matched = 0;
    for (let p = 0; p < parts.length; p++) {
      const { part, fields, idf } = parts[p] as SearchedPart;
      const scale = scales[p] as Float64Array;
      const terms = idf.length;
      let foundPlaces = 0;
      for (let term = 0; term < terms; term++) {
        let occurrences = 0;
        for (let f = 0; f < fields.length; f++) {
          occurrences += (fields[f]?.scan.counts[row * terms + term] ?? 0) * (scale[f] ?? 0);
        }
        if (occurrences === 0) continue;
        matched++;
        if (!isOnly) foundPlaces |= part.query.places[term] ?? 0;
        score += ((idf[term] ?? 0) * occurrences * (k1 + 1)) / (occurrences + k1);
      }
      places[p] = foundPlaces;
    }
    bm25.values[row] = score;
    overlap.values[row] = isOnly ? matched / one.idf.length : shareOfParts(parts, places);
    phrase.values[row] = inRow;
    coverage.values[row] = covered;
    proximity.values[row] = close;
    first.values[row] = place;
  }
}

function statusOfParts(parts: readonly SearchedPart[], row: number): number {
  for (const { part } of parts)
    if (statusOf(part.texts.columns, row) === Status.present) return Status.present;
  return statusOf(parts[0]?.part.texts.columns ?? [], row);
}

/**
 * The share of the query's words that any part found. Analyzers that make equally many tokens of the query see the same
 * words, so what one of them found counts for the others. Of analyzers that make other numbers of tokens, the largest
 * share counts.
 * @param places by part: bit i is set if the i-th token was found
 */
function shareOfParts(parts: readonly SearchedPart[], places: Int32Array): number {
  let largest = 0;
  for (const { part } of parts) {
    const { query } = part;
    let any = 0;
    for (let p = 0; p < parts.length; p++)
      if (parts[p]?.part.query.length === query.length) any |= places[p] as number;
    let matched = 0;
    for (const term of query.places) if ((term & any) !== 0) matched++;
    if (matched > 0) largest = Math.max(largest, matched / query.terms.length);
  }
  return largest;
}
