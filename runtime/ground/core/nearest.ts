import { sameMeaning } from './synonyms.js';

/** Longer names are not compared. Names of this length are not typed by hand. */
const LONGEST = 64;

/**
 * Finds the candidate that a wrong name most likely means, for "did you mean". It takes the candidate with the fewest
 * typing errors: a missing, extra or wrong letter, or two letters exchanged. Otherwise it takes the only candidate
 * that means the same (`most` for `max`), or that begins with the name or contains it as a part (`stock` in `number_in_stock`, `votes` in `stats:votes`). The
 * separators `.`, `:`, `_` and `__` are equal here: `title_bm25` is near `title:bm25`. If several are equally near,
 * it returns the first. If none is near, it returns undefined.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  return nearestOf(candidates)(name);
}

/** A candidate, and what comparisons need of it. */
interface Spelt {
  readonly candidate: string;
  readonly spelt: string;
  readonly letters: number;
}

/** Prepares `nearest` for names that are compared with the same candidates. */
export function nearestOf(candidates: Iterable<string>): (name: string) => string | undefined {
  const known = Array.from(candidates, (candidate): Spelt => {
    const spelt = spelling(candidate);
    return { candidate, spelt, letters: lettersOf(spelt) };
  });
  const names = known.map(({ candidate }) => candidate);
  return (name) => {
    const wanted = spelling(name);
    const letters = lettersOf(wanted);
    let best: string | undefined;
    let fewest = mostSlips(wanted) + 1;
    for (const { candidate, spelt, letters: others } of known) {
      // One error adds or removes a letter of the set, or both.
      if (onesIn(letters ^ others) > 2 * (fewest - 1) || candidate === name) continue;
      const found = slips(wanted, spelt, fewest - 1);
      if (found < fewest) {
        best = candidate;
        fewest = found;
      }
    }
    if (best !== undefined) return best;
    return sameMeaning(wanted, names, name) ?? only(withPart(wanted, known, name));
  };
}

/** The set of the letters of a text, as bits; some letters share a bit. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let i = 0; i < text.length; i++) letters |= 1 << (text.charCodeAt(i) & 31);
  return letters;
}

function onesIn(bits: number): number {
  let count = 0;
  for (let rest = bits; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** The forms of a guess in a message. Without one, it is in backquotes, as names of YAML are. */
export const AS_WORD = (guess: string): string => guess;
export const AS_TEXT = (guess: string): string => `"${guess}"`;

/** The remedy for a wrong name: the question whether the nearest name is meant; undefined if none is near. */
export function didYouMean(
  name: string,
  candidates: Iterable<string>,
  form: (guess: string) => string = (guess) => `\`${guess}\``,
): string | undefined {
  const guess = nearest(name, candidates);
  return guess === undefined ? undefined : `did you mean ${form(guess)}?`;
}

/** Returns the candidates whose last part is the name: `stats:ctr` and `user_stats:ctr` for `ctr`. */
export function endingIn(name: string, candidates: Iterable<string>): string[] {
  const part = spelling(name);
  return [...candidates].filter(
    (candidate) => /[.:]/.test(candidate) && `_${spelling(candidate)}`.endsWith(`_${part}`),
  );
}

/** Normalizes a name for comparison: letter case and the kind of separator make no difference. */
function spelling(name: string): string {
  return name.length > LONGEST ? name : name.toLowerCase().replace(/[.:]|__+/g, '_');
}

/**
 * The maximum number of typing errors. One changed letter makes a short name a different name, but a long name stays
 * recognizable.
 */
function mostSlips(name: string): number {
  return name.length <= 2 ? 0 : name.length <= 5 ? 1 : name.length <= 8 ? 2 : 3;
}

/** Three rows of the table of distances, which a comparison fills in turn. */
const TABLE: readonly [Uint8Array, Uint8Array, Uint8Array] = [
  new Uint8Array(LONGEST + 1),
  new Uint8Array(LONGEST + 1),
  new Uint8Array(LONGEST + 1),
];

/** Returns the optimal string alignment distance, or Infinity if it is greater than `most`. */
function slips(a: string, b: string, most: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > most || a.length > LONGEST || b.length > LONGEST) return Infinity;
  let same = 0;
  while (a[same] === b[same]) same++;
  if (same > 0) return slips(a.slice(same), b.slice(same), most);
  let [before, above, row] = TABLE;
  for (let j = 0; j <= b.length; j++) above[j] = j;
  for (let i = 1; i <= a.length; i++) {
    row[0] = i;
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, at(before, j - 2) + 1);
      row[j] = least;
    }
    [before, above, row] = [above, row, before];
  }
  const distance = at(above, b.length);
  return distance > most ? Infinity : distance;
}

function at(row: Uint8Array, index: number): number {
  return row[index] ?? Infinity;
}

function withPart(wanted: string, known: readonly Spelt[], name: string): readonly string[] {
  if (wanted.length < 4 || wanted.length > LONGEST) return [];
  return known
    .filter(
      ({ candidate, spelt }) =>
        spelt.includes(wanted) &&
        candidate !== name &&
        (spelt.startsWith(wanted) || `_${spelt}_`.includes(`_${wanted}_`)),
    )
    .map(({ candidate }) => candidate);
}

function only(found: readonly string[]): string | undefined {
  return found.length === 1 ? found[0] : undefined;
}
