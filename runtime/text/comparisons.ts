import { cached } from '../core/bounded-cache.js';
import type { Analyzer } from './analyzer.js';

/** The most texts whose words are remembered: those of a page of candidates, many times. */
const REMEMBERED = 16_384;
const LONGEST_REMEMBERED = 1024;

/** Remembers a pure function of a text for texts that are not long. */
export function remembering<T>(compute: (text: string) => T): (text: string) => T {
  const known = cached(compute, REMEMBERED);
  return (text) => (text.length > LONGEST_REMEMBERED ? compute(text) : known(text));
}

/** The distinct tokens of a text. */
export function distinctTokens(analyzer: Analyzer): (text: string) => ReadonlySet<string> {
  return remembering((text) => new Set(analyzer.tokens(text)));
}

/** The share of common elements (Jaccard): those of both among those of either; NaN if both are empty. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let common = 0;
  for (const token of few) if (many.has(token)) common++;
  return common / (a.size + b.size - common);
}

let above = new Int32Array(64);
let left = new Int32Array(64);
let right = new Int32Array(64);

/**
 * The number of characters to insert, delete or replace to make one text of the other (Levenshtein), at most `most`.
 * It costs O(most · length): only a band around the diagonal is computed (E. Ukkonen, "Algorithms for approximate string
 * matching", Information and Control 64, 1985).
 */
export function editDistance(a: string, b: string, most: number): number {
  if (a === b || most <= 0) return 0;
  // Each character is at least one and at most two units, so units bound the work without a copy of the texts.
  if (Math.ceil(a.length / 2) - b.length >= most || Math.ceil(b.length / 2) - a.length >= most) return most;
  if (left.length < a.length) left = new Int32Array(a.length * 2);
  if (right.length < b.length) right = new Int32Array(b.length * 2);
  const n = codePoints(a, left);
  const m = codePoints(b, right);
  if (Math.abs(n - m) >= most) return most;
  if (above.length <= m) above = new Int32Array(2 * (m + 1));
  for (let j = 0; j <= m; j++) above[j] = j;
  for (let i = 1; i <= n; i++) {
    const from = Math.max(1, i - most);
    const to = Math.min(m, i + most);
    let diagonal = above[from - 1] as number;
    above[from - 1] = from === 1 ? i : most;
    let least = above[from - 1] as number;
    for (let j = from; j <= to; j++) {
      // Beyond the band of the row above, every distance is at least `most`.
      const up = j === i + most ? most : (above[j] as number);
      const replaced = diagonal + (left[i - 1] === right[j - 1] ? 0 : 1);
      diagonal = above[j] as number;
      const cell = Math.min(replaced, up + 1, (above[j - 1] as number) + 1);
      above[j] = cell;
      if (cell < least) least = cell;
    }
    if (least >= most) return most;
  }
  return Math.min(most, above[m] as number);
}

function codePoints(text: string, into: Int32Array): number {
  let count = 0;
  for (let i = 0; i < text.length; i++) {
    const codePoint = text.codePointAt(i) ?? 0;
    into[count++] = codePoint;
    if (codePoint > 0xffff) i++;
  }
  return count;
}
