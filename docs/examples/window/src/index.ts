import { definePlugin, isKnown, OptionError, statusAt, type Input } from 'millrace/api';

interface Options {
  readonly of: Input<'text'>;
  readonly most: number;
  readonly within: number;
}

const windowRule = definePlugin<Options>({
  name: 'window',
  kind: 'rule',
  summary:
    'Shows at most a number of candidates with the same value, such as a brand, in any window of places.',
  amongCandidates: true,
  options: {
    type: 'object',
    additionalProperties: false,
    required: ['of', 'most', 'within'],
    properties: {
      of: { description: 'The value that is limited, e.g. product.brand.', millrace: 'text' },
      most: { description: 'The most candidates with one value in a window.', type: 'integer', minimum: 1 },
      within: { description: 'The number of places of a window.', type: 'integer', minimum: 2, maximum: 100 },
    },
  },

  create({ of, most, within }) {
    if (most >= within) throw new OptionError(['most'], `expected less than \`within\`, which is ${within}`);
    return {
      scoring: 'changes',

      apply(input, ranking) {
        const texts = input.column(of);
        const isOurs = new Set(input.rows);
        const order = [...ranking.order()].filter((row) => isOurs.has(row));
        /** A candidate without a value is limited by nothing. */
        const valueOf = (row: number): string | undefined =>
          isKnown(statusAt(texts.status, row * texts.stride)) ? texts.values[row * texts.stride] : undefined;
        const { placed, forced } = arrange(order, valueOf, most, within);
        const applied = placed.filter((row, place) => row !== order[place]).length;
        if (applied > 0) assignScores(ranking.scores, order, placed);
        return { applied, skipped: forced };
      },
    };
  },
});

/**
 * Takes, for each place, the best candidate whose value is not used up in the window that ends there. If every remaining
 * value is used up, it takes the best candidate.
 */
function arrange(
  order: readonly number[],
  valueOf: (row: number) => string | undefined,
  most: number,
  within: number,
): { readonly placed: readonly number[]; readonly forced: number } {
  const queues = new Map<string | undefined, { row: number; rank: number }[]>();
  for (const [rank, row] of order.entries()) {
    const value = valueOf(row);
    const queue = queues.get(value) ?? [];
    queue.push({ row, rank });
    queues.set(value, queue);
  }
  for (const queue of queues.values()) queue.reverse(); // the best is at the end
  const recent = new Map<string, number>();
  const placed: { row: number; value: string | undefined }[] = [];
  let forced = 0;
  while (placed.length < order.length) {
    let best: { value: string | undefined; rank: number } | undefined;
    let fallback: typeof best;
    for (const [value, queue] of queues) {
      const head = queue.at(-1);
      if (head === undefined) continue;
      const one = { value, rank: head.rank };
      if (fallback === undefined || one.rank < fallback.rank) fallback = one;
      if (value !== undefined && (recent.get(value) ?? 0) >= most) continue;
      if (best === undefined || one.rank < best.rank) best = one;
    }
    if (best === undefined) forced++;
    const value = (best ?? fallback)?.value;
    const row = queues.get(value)?.pop()?.row ?? -1;
    placed.push({ row, value });
    if (value !== undefined) recent.set(value, (recent.get(value) ?? 0) + 1);
    const leaving = placed[placed.length - within]?.value;
    if (leaving !== undefined) recent.set(leaving, (recent.get(leaving) ?? 1) - 1);
  }
  return { placed: placed.map(({ row }) => row), forced };
}

/** Gives the scores of the old order to the new one. Equal scores are told apart by a part in 10¹². */
function assignScores(scores: Float64Array, order: readonly number[], placed: readonly number[]): void {
  const sorted = order.map((row) => scores[row] ?? 0);
  let previous: number | undefined;
  for (const [place, row] of placed.entries()) {
    const score = sorted[place] ?? 0;
    const below = previous === undefined ? score : previous - Math.max(1, Math.abs(previous)) * 1e-12;
    scores[row] = previous = Math.min(score, below);
  }
}

export const plugins = [windowRule];
