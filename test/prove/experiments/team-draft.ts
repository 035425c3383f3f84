import type { Random } from '../../../runtime/ground/core/random.js';

/** A candidate of an interleaved page: a click on it counts for B (1), for A (-1), or for neither (0). */
export interface Drafted {
  readonly item: number;
  readonly credit: -1 | 0 | 1;
}

/**
 * Interleaves two rankings of the same candidates. In each round the arms take their next candidate in an order that is
 * drawn. Candidates of the common start of both rankings give no credit.
 * Source: Radlinski, Kurup and Joachims, "How does clickthrough data reflect retrieval quality?", CIKM 2008.
 */
export function teamDraft(
  a: readonly number[],
  b: readonly number[],
  page: number,
  random: Random,
): readonly Drafted[] {
  const taken = new Set<number>();
  const drafted: Drafted[] = [];
  const same = a.findIndex((item, at) => item !== b[at]);
  const prefix = same === -1 ? a.length : same;
  const take = (ranked: readonly number[], credit: -1 | 1): void => {
    const item = ranked.find((one) => !taken.has(one));
    if (item === undefined || drafted.length >= page) return;
    taken.add(item);
    drafted.push({ item, credit: drafted.length < prefix ? 0 : credit });
  };
  for (const item of a.slice(0, Math.min(prefix, page))) {
    taken.add(item);
    drafted.push({ item, credit: 0 });
  }
  while (drafted.length < page && taken.size < a.length) {
    if (random.chance(0.5)) {
      take(a, -1);
      take(b, 1);
    } else {
      take(b, 1);
      take(a, -1);
    }
  }
  return drafted;
}
