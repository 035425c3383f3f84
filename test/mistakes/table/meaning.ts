import type { Mistake, Surface } from '../mistake.js';

const FILE = 'pipelines/search.yaml';
const buried = (what: string, expression: string): Mistake => ({
  what,
  edit: [FILE, 'where: product.number_in_stock <= 0', `where: ${expression}`],
});

export const MEANING: Surface = {
  title: 'Valid, but wrong',
  mistakes: [
    buried('A threshold that cannot be reached', 'weekday(now()) > 7'),
    buried('Capital letters after lower', 'lower(product.title) == "TV"'),
    buried('A rule that contradicts a filter', 'product.price <= 0'),
    buried('Two conditions that exclude each other', 'product.price > 10 and product.price < 5'),
    buried('A fraction of something whole', 'product.number_in_stock == 0.5'),
    {
      what: 'A filter that removes everything',
      edit: [FILE, '{ keep: product.price > 0 }', '{ keep: length(product.title) < 0, absent: drop }'],
    },
    {
      what: 'A default that hides that a value never exists',
      edit: [FILE, '{ value: relevance:score }', '{ value: "coalesce(relevance:score / 0, 1)" }'],
    },
    {
      what: 'A factor before there is a score',
      edit: [FILE, '  - use: filter\n', '  - { use: boost, with: { multiply: 2 } }\n  - use: filter\n'],
    },
    {
      what: 'Weights that are all 0',
      edit: [
        FILE,
        '{ text:bm25: 1, popularity: w_orders, product_stats:ctr_30d: 1 }',
        '{ text:bm25: 0, popularity: 0 }',
      ],
    },
    {
      what: 'A pin beyond the page',
      edit: [FILE, 'page: {', '  - { use: pin, with: { positions: { 500: p1 } } }\npage: {'],
    },
    { what: 'A step that nothing reads', edit: [FILE, 'text:bm25: 1, ', ''] },
    {
      what: 'No score',
      edit: [FILE, '  - use: score\n    with: { value: relevance:score }\n    unscored: last\n', ''],
    },
    {
      what: 'A folder with a wrong name',
      files: { 'sink/topic.yaml': 'sink: topic\nuse: file\ntake: [ranking]\n' },
    },
  ],
};
