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
  const wanted = spelling(name);
  const all = [...candidates].filter((candidate) => candidate !== name);
  let best: string | undefined;
  let fewest = mostSlips(wanted) + 1;
  for (const candidate of all) {
    const found = slips(wanted, spelling(candidate), fewest - 1);
    if (found < fewest) {
      best = candidate;
      fewest = found;
    }
  }
  return best ?? sameMeaning(wanted, all) ?? only(withPart(wanted, all));
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

/** Returns the optimal string alignment distance, or Infinity if it is greater than `most`. */
function slips(a: string, b: string, most: number): number {
  if (a === b) return 0;
  if (Math.abs(a.length - b.length) > most || a.length > LONGEST || b.length > LONGEST) return Infinity;
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      let least = Math.min(at(above, j) + 1, at(row, j - 1) + 1, at(above, j - 1) + change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, at(before, j - 2) + 1);
      }
      row.push(least);
    }
    before = above;
    above = row;
  }
  const distance = at(above, b.length);
  return distance > most ? Infinity : distance;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

function withPart(name: string, candidates: readonly string[]): readonly string[] {
  if (name.length < 4 || name.length > LONGEST) return [];
  return candidates.filter((candidate) => {
    const other = spelling(candidate);
    return other.startsWith(name) || `_${other}_`.includes(`_${name}_`);
  });
}

function only(found: readonly string[]): string | undefined {
  return found.length === 1 ? found[0] : undefined;
}
