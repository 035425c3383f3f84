import type { FeatureRow } from '../feature-row.js';

const COLOURS = ['red', 'green', 'blue'];

/** Fields of items as they are. */
export const PLAIN: readonly FeatureRow[] = [
  { name: 'number', value: 'product.price', metarank: ({ price }) => price },
  {
    name: 'boolean',
    value: 'if(product.sale, 1, 0)',
    metarank: ({ sale }) => (sale === undefined ? undefined : Number(sale)),
  },
  ...COLOURS.map((colour): FeatureRow => ({
    name: 'string, one-hot',
    steps: `  - use: one_hot
    as: colour
    with: { of: product.colour, categories: { red: red, green: green, blue: blue } }`,
    value: `colour:${colour}`,
    metarank: (item) => Number(item.colour === colour),
    differs: (theirs, item) => (item.colour === undefined ? undefined : theirs),
  })),
  {
    name: 'string, index',
    steps: `  - use: category_index
    as: colour
    with: { of: product.colour, categories: [red, green, blue], unknown: -1 }`,
    value: 'colour:code',
    // Metarank's codes begin at 1, and 0 is any other value.
    metarank: (item) => COLOURS.indexOf(item.colour ?? '') + 1,
    differs: (theirs = 0, item) => (item.colour === undefined ? undefined : theirs - 1),
  },
  {
    name: 'relevancy',
    value: 'product.relevancy',
    metarank: ({ id }, { ranking }) => ranking.items.find((item) => item.id === id)?.relevancy,
  },
  {
    name: 'item_age',
    value: 'age_days(product.created) * 86400',
    // Metarank has whole seconds, and does not tell the future from the past.
    metarank: ({ created }, { ranking }) =>
      created === undefined ? undefined : Math.floor(Math.abs(ranking.timestamp - created) / 1000),
    differs: (_theirs, { created }, { ranking }) =>
      created === undefined ? undefined : (ranking.timestamp - created) / 1000,
  },
  {
    name: 'relative_number',
    value: '(product.price - 10) / (200 - 10)',
    metarank: ({ price }) => (price === undefined ? undefined : (price - 10) / (200 - 10)),
  },
  {
    name: 'position',
    value: 'position(5)',
    // The place that the configuration names for serving; Metarank counts places from 0.
    metarank: () => 4,
    differs: (theirs = 0) => theirs + 1,
  },
  {
    name: 'list length',
    value: 'count(product.tags)',
    metarank: ({ tags }) => tags?.length ?? 0,
    differs: (theirs, { tags }) => (tags === undefined ? undefined : theirs),
  },
];
