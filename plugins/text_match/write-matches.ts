import { Status, type NumberColumn } from 'millrace/api';
import type { Bm25Parameters } from './bm25.js';
import type { Searched } from './search.js';
import { statusOf, type Texts } from './searched-texts.js';

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
 * of their field. Then their sum saturates. With one field of weight 1 it is BM25.
 */
export function writeMatches(
  { rows, columns }: Texts,
  searched: readonly Searched[],
  idf: readonly number[],
  { k1, b }: Bm25Parameters,
  { bm25, overlap, phrase, coverage, proximity, first }: Found,
): void {
  const terms = idf.length;
  const scales = new Float64Array(searched.length);
  for (const row of rows) {
    const status = statusOf(columns, row);
    bm25.status[row] = overlap.status[row] = phrase.status[row] = status;
    coverage.status[row] = proximity.status[row] = first.status[row] = status;
    if (status !== Status.present) continue;
    let inRow = 0;
    let covered = 0;
    let close = 0;
    let place = 0;
    for (let f = 0; f < searched.length; f++) {
      const field = searched[f];
      if (field === undefined) continue;
      const { scan, meanLength, weight } = field;
      const length = scan.lengths[row] ?? 0;
      const relative = meanLength > 0 ? length / meanLength : 1;
      const scale = 1 - b + b * relative;
      scales[f] = scale > 0 ? weight / scale : 0;
      const at = scan.first[row] as number;
      if (at === 0) continue;
      inRow |= scan.phrases[row] ?? 0;
      covered = Math.max(covered, (scan.matched[row] as number) / length);
      close = Math.max(close, scan.proximity[row] as number);
      if (place === 0 || at < place) place = at;
    }
    if (place === 0) {
      bm25.values[row] = overlap.values[row] = phrase.values[row] = 0;
      coverage.values[row] = proximity.values[row] = 0;
      first.status[row] = Status.absent;
      continue;
    }
    let score = 0;
    let matched = 0;
    for (let term = 0; term < terms; term++) {
      let occurrences = 0;
      for (let f = 0; f < searched.length; f++) {
        occurrences += (searched[f]?.scan.counts[row * terms + term] ?? 0) * (scales[f] ?? 0);
      }
      if (occurrences === 0) continue;
      matched++;
      score += ((idf[term] ?? 0) * occurrences * (k1 + 1)) / (occurrences + k1);
    }
    bm25.values[row] = score;
    overlap.values[row] = matched / terms;
    phrase.values[row] = inRow;
    coverage.values[row] = covered;
    proximity.values[row] = close;
    first.values[row] = place;
  }
}
