import type { Mistake, Surface } from '../mistake.js';

const FILE = 'pipelines/search.yaml';
const wrong = (what: string, expression: string): Mistake => ({
  what,
  edit: [FILE, 'where: product.number_in_stock <= 0', `where: ${JSON.stringify(expression)}`],
});
const field = (what: string, text: string): Mistake => ({
  what,
  edit: [FILE, '  user: optional(user)\n', `  user: optional(user)\n  ${text}\n`],
});

/** Lists of numbers, categories, time zones, the context of a request, and statistics over candidates. */
export const FEATURES: Surface = {
  title: 'Features',
  mistakes: [
    {
      what: 'A list of whole numbers',
      edit: ['schemas/entities/product.yaml', '  rating: float\n', '  rating: float\n  scores: list(int)\n'],
    },
    {
      what: 'A list of numbers with a text in it',
      files: {
        'bad.jsonl': '{"product_id":"p1","scores":[1,"2"]}\n',
        'schemas/entities/product.yaml':
          'entity: product\nextends: ProductEntity\nattributes:\n  title: string\n  price: float\n  number_in_stock: int\n  brand: ref(brand)\n  scores: list(float)\n',
      },
      run: 'entities load product bad.jsonl',
    },
    wrong('An element counted from the end', "product.categories[-1] == 'tv'"),
    wrong('An element of a text', "product.title[0] == 'a'"),
    wrong('The length of a list of texts', 'norm(product.categories) > 1'),
    wrong('A vector of a list of texts', 'vector(product.categories, 3)[0] > 1'),
    wrong('A misspelt time zone', "hour(now(), 'Europe/Berln') > 18"),
    wrong('A time zone as an offset', "hour(now(), '+01:00') > 18"),
    wrong('A hash without buckets', 'hash(product.title) == 1'),
    wrong('A hash of a number', 'hash(product.price, 100) == 1'),
    wrong('Limits in the wrong order', 'bucket(product.price, 100, 10) == 1'),
    wrong('A table whose last point has no y', 'piecewise(product.price, 0, 1, 10, 2, 20) > 1'),
    wrong('The platform of a number', 'platform(1) == "mobile"'),
    wrong('A distance without a second place', 'geo_distance(product.price, product.rating) < 5'),
    {
      what: 'A place in a definition',
      edit: [FILE, 'popularity: log1p(product_stats:orders_30d)', 'popularity: position(1)'],
    },
    field('A misspelt mark of a request field', 'user_agent: { type: optional(string), privat: true }'),
    field('A private field without a type', 'user_agent: { private: true }'),
    {
      what: 'A private entity',
      edit: [FILE, '  user: optional(user)\n', '  user: { type: optional(user), private: true }\n'],
    },
    {
      what: 'The share of a number',
      edit: [
        FILE,
        '  - use: filter\n',
        '  - use: share_within\n    with: { value: product.price }\n  - use: filter\n',
      ],
    },
    {
      what: 'A quantile above 1',
      edit: [
        FILE,
        '  - use: filter\n',
        '  - use: rank_within\n    with: { value: product.price, quantile: 90 }\n  - use: filter\n',
      ],
    },
  ],
};
