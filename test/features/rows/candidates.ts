import { itemOf, type FeatureRow, type Item, type Shop } from '../feature-row.js';

/** The values of the ranked items, in their order. */
function known<T>(shop: Shop, of: (item: Item) => T | undefined): T[] {
  return shop.ranking.items.flatMap(({ id }) => {
    const item = itemOf(shop, id);
    const value = item === undefined ? undefined : of(item);
    return value === undefined ? [] : [value];
  });
}

/** Percentile 50 of Apache Commons Math, which Metarank uses. */
function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length + 1) / 2;
  const low = sorted[Math.floor(at) - 1] ?? sorted[0] ?? NaN;
  const high = sorted[Math.ceil(at) - 1] ?? NaN;
  return low + (at - Math.floor(at)) * (high - low);
}

/** The share of all texts of the ranked items that are among the texts. */
function shareOf(texts: readonly string[], all: readonly string[]): number | undefined {
  if (all.length === 0) return undefined;
  return texts.reduce((sum, text) => sum + all.filter((one) => one === text).length, 0) / all.length;
}

/** Statistics over the candidates. The rankings of these events have fewer items than Metarank's `top: 20`. */
export const CANDIDATES: readonly FeatureRow[] = [
  {
    name: 'diversity, numbers',
    steps: `  - use: rank_within
    as: price
    with: { value: product.price }`,
    value: 'product.price - price:median',
    metarank: ({ price }, shop) => {
      const prices = known(shop, (item) => item.price);
      if (prices.length === 0) return 0;
      return price === undefined ? undefined : price - median(prices);
    },
    differs: (theirs, { price }) => (price === undefined ? undefined : theirs),
  },
  {
    name: 'diversity, texts',
    steps: `  - use: share_within
    as: colour
    with: { value: product.colour }`,
    value: 'colour:share',
    metarank: ({ colour }, shop) =>
      colour === undefined
        ? undefined
        : shareOf(
            [colour],
            known(shop, (item) => item.colour),
          ),
  },
  {
    name: 'diversity, texts',
    steps: `  - use: share_within
    as: tags
    with: { value: product.tags }`,
    value: 'tags:share',
    metarank: ({ tags }, shop) => tags && shareOf(tags, known(shop, (item) => item.tags).flat()),
  },
];
