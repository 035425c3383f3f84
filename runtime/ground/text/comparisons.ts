import { cached } from '../core/bounded-cache.js';
import type { Analyzer } from './analyzer.js';
import { byPortions, type Reading } from './reading.js';
import type { TokenLists } from './token-lists.js';

/** The most texts whose words are remembered: those of a page of candidates, many times. */
const REMEMBERED = 16_384;
const LONGEST_REMEMBERED = 1024;
/** The largest number of 32 bits. */
const LAST = 0x7fffffff;

/**
 * Remembers a pure function of a text: of texts that are not long, and of the last long one, since a text of the request meets
 * every candidate.
 */
export function remembering<T>({ of, ...rest }: Reading<T>): Reading<T> {
  const known = cached(of, REMEMBERED);
  let last: { readonly text: string; readonly value: T } | undefined;
  return {
    ...rest,
    of: (text) => {
      if (text.length <= LONGEST_REMEMBERED) return known(text);
      if (last?.text !== text) last = { text, value: of(text) };
      return last.value;
    },
  };
}

/** The distinct tokens of a text. */
export function distinctTokens(analyzer: Analyzer): Reading<ReadonlySet<string>> {
  return remembering(
    byPortions(
      () => new Set<string>(),
      (tokens, portion) => {
        for (const token of analyzer.tokens(portion)) tokens.add(token);
        return tokens;
      },
    ),
  );
}

/** The words of a text, with one space between. */
export function wordsOf(analyzer: Analyzer): Reading<string> {
  return remembering(
    byPortions(
      () => '',
      (before, portion) => {
        const words = analyzer.tokens(portion).join(' ');
        return before === '' || words === '' ? before + words : `${before} ${words}`;
      },
    ),
  );
}

/** The number of words of a text. */
export function wordCount(analyzer: Analyzer): Reading<number> {
  return remembering(
    byPortions(
      () => 0,
      (before, portion) => {
        analyzer.start(portion);
        let count = before;
        while (analyzer.next()) count++;
        return count;
      },
    ),
  );
}

/** The share of common elements (Jaccard): those of both among those of either; NaN if both are empty. */
export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const [few, many] = a.size < b.size ? [a, b] : [b, a];
  let common = 0;
  for (const token of few) if (many.has(token)) common++;
  return common / (a.size + b.size - common);
}

/** By token: the last comparison that met it. */
let met = new Int32Array(64);
let comparisons = 0;

/** `jaccard` of the distinct tokens of a text and of each text of a dictionary, by its code; undefined if that has no list. */
export function overlapWith(
  tokens: ReadonlySet<string>,
  lists: TokenLists,
): (code: number) => number | undefined {
  /** Numbers of the tokens, as far as the vocabulary is known: each text that is read may add to it. */
  const own = new Set(Array.from(tokens, (token) => lists.numberOf(token)));
  let known = lists.vocabulary.length;
  return (code) => {
    const place = lists.placeOf(code);
    if (place < 0) return undefined;
    const { vocabulary } = lists;
    for (; known < vocabulary.length; known++) if (tokens.has(vocabulary[known] as string)) own.add(known);
    if (met.length < vocabulary.length || comparisons === LAST) {
      met = new Int32Array(2 * vocabulary.length);
      comparisons = 0;
    }
    comparisons++;
    const { numbers } = lists;
    const end = place + 1 + (numbers[place] as number);
    let size = 0;
    let common = 0;
    for (let i = place + 1; i < end; i++) {
      const token = numbers[i] as number;
      if (met[token] === comparisons) continue;
      met[token] = comparisons;
      size++;
      if (own.has(token)) common++;
    }
    return common / (tokens.size + size - common);
  };
}

let left = new Int32Array(64);
let right = new Int32Array(64);
/** By diagonal: see `furthest`. */
let reached = new Int32Array(64);

/**
 * The number of characters to insert, delete or replace to make one text of the other (Levenshtein), at most `most`.
 * It costs O(most · length) for any texts, and O(length + most²) for texts that differ nearly everywhere, or nearly nowhere:
 * for each number of edits, only the furthest cell of each diagonal is computed (E. Ukkonen, "Algorithms for approximate
 * string matching", Information and Control 64, 1985).
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
  return furthest(left, n, right, m, most);
}

/**
 * The distance of the first n and m characters. `reached[k]` is the largest i such that the first i characters of a can be
 * made the first i + k of b by e edits; `k` counts from the middle of the array.
 */
function furthest(a: Int32Array, n: number, b: Int32Array, m: number, most: number): number {
  const middle = most + 1;
  if (reached.length < 2 * middle + 1) reached = new Int32Array(2 * middle + 1);
  reached.fill(-2, 0, 2 * middle + 1); // A diagonal that no edit has reached stays below 0.
  const end = m - n;
  for (let edits = 0; edits < most; edits++) {
    // From a diagonal k, at least |end - k| edits lead to the end.
    const from = Math.max(-edits, end - (most - 1 - edits), -n);
    const to = Math.min(edits, end + (most - 1 - edits), m);
    let before = reached[middle + from - 1] as number;
    for (let k = from; k <= to; k++) {
      const own = reached[middle + k] as number;
      // One character of b inserted, one replaced, one of a deleted.
      let i = Math.max(before, own + 1, (reached[middle + k + 1] as number) + 1);
      if (edits === 0) i = 0;
      i = Math.min(i, n, m - k);
      while (i < n && i + k < m && a[i] === b[i + k]) i++;
      before = own;
      reached[middle + k] = i;
    }
    if (from <= end && end <= to && (reached[middle + end] as number) >= n) return edits;
  }
  return most;
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
