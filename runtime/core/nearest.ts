/** Longer names are not compared: nobody mistypes them letter by letter. */
const LONGEST = 64;

/**
 * The candidate that a wrong name was most likely meant to be, for "did you mean": the one with the fewest typing
 * slips (a letter too many, too few, wrong, or two exchanged), or else the only one that has the name as a part
 * (`stock` in `number_in_stock`, `votes` in `stats:votes`) or begins with it. The separators `.`, `:`, `_` and `__` are
 * one character in this comparison: `title_bm25` is near to `title:bm25`. Undefined if none is near; of several
 * that are equally near, the first.
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
  return best ?? only(withPart(wanted, all));
}

/** The candidates that have the name as their last part: `stats:ctr` and `user_stats:ctr` for `ctr`. */
export function endingIn(name: string, candidates: Iterable<string>): string[] {
  const part = spelling(name);
  return [...candidates].filter(
    (candidate) => /[.:]/.test(candidate) && `_${spelling(candidate)}`.endsWith(`_${part}`),
  );
}

/** A name as names are compared: letter case and the kind of separator make no difference. */
function spelling(name: string): string {
  return name.length > LONGEST ? name : name.toLowerCase().replace(/[.:]|__+/g, '_');
}

/** A short name changed in one letter is another name; a long one is still recognised. */
function mostSlips(name: string): number {
  return name.length <= 2 ? 0 : name.length <= 5 ? 1 : name.length <= 8 ? 2 : 3;
}

/** Optimal string alignment distance; more than `most` is Infinity. */
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
