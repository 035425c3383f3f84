import type { FeatureRow, Item } from '../feature-row.js';

/** Metarank reduces when the item event arrives; an item without the field has no value. */
function reducer(
  name: string,
  value: string,
  reduce: (numbers: readonly number[]) => number,
  ofEmpty?: 'absent',
): FeatureRow {
  return {
    name,
    value,
    metarank: ({ scores }) => (scores === undefined ? undefined : scores.length === 0 ? 0 : reduce(scores)),
    ...(ofEmpty === undefined
      ? {}
      : { differs: (theirs, { scores }) => (scores?.length === 0 ? undefined : theirs) }),
  };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** The first n numbers, filled up with zeros. */
const vectorN =
  (at: number) =>
  ({ scores }: Item): number | undefined =>
    scores === undefined ? undefined : (scores[at] ?? 0);

export const VECTORS: readonly FeatureRow[] = [
  reducer('vector: first', 'first(product.scores)', ([first = 0]) => first, 'absent'),
  reducer('vector: last', 'last(product.scores)', (numbers) => numbers.at(-1) ?? 0, 'absent'),
  reducer('vector: min', 'min(product.scores)', (numbers) => Math.min(...numbers), 'absent'),
  reducer('vector: max', 'max(product.scores)', (numbers) => Math.max(...numbers), 'absent'),
  reducer('vector: avg', 'mean(product.scores)', (numbers) => total(numbers) / numbers.length, 'absent'),
  reducer('vector: sum', 'sum(product.scores)', total),
  reducer('vector: size', 'count(product.scores)', (numbers) => numbers.length),
  {
    name: 'vector: euclidean_distance',
    value: 'norm(product.scores)',
    metarank: ({ scores }) =>
      // As it is written there, the first number is not squared, and a negative sum has no root.
      scores === undefined
        ? undefined
        : Math.sqrt(scores.reduce((sum, x, i) => (i === 0 ? x : sum + x * x), 0)),
    differs: (_theirs, { scores }) => scores && Math.sqrt(total(scores.map((x) => x * x))),
  },
  ...[0, 2, 5].flatMap((at): FeatureRow[] => [
    {
      name: 'vector: vectorN',
      value: `coalesce(product.scores[${at}], if(known(product.scores), 0, product.scores[${at}]))`,
      metarank: vectorN(at),
    },
    {
      name: 'vector: vectorN',
      value: `product.scores[${at}]`,
      metarank: vectorN(at),
      differs: (_theirs, { scores }) => scores?.[at],
    },
  ]),
  ...[0, 3].map((at): FeatureRow => ({
    name: 'vector: vectorN',
    value: `product.embedding[${at}]`,
    metarank: ({ embedding }) => embedding?.[at],
  })),
];
