import type { Surface } from '../mistake.js';

const FILE = 'pipelines/search.yaml';
const FILTER = 'with: { keep: product.price > 0 }';

const VECTORS =
  'pipeline: next\nrank: product\nrequest: { candidates: {}, vector: list(float) }\ncomponents:\n  - { use: similarity, with: { vectors: [product.embedding, request.vector] } }\n  - { use: score, with: { value: similarity:cosine } }\n';

export const PIPELINES: Surface = {
  title: 'Pipelines',
  mistakes: [
    { what: 'A misspelt key', edit: [FILE, 'components:', 'compnents:'] },
    { what: 'Neither rank nor score', edit: [FILE, 'rank: product\n', ''] },
    { what: 'An entity type that does not exist', edit: [FILE, 'rank: product', 'rank: prodct'] },
    { what: 'A name that differs from the file', edit: [FILE, 'pipeline: search', 'pipeline: serach'] },
    {
      what: 'The route of another pipeline',
      edit: [FILE, 'rank: product', 'rank: product\nroute: /api/v1/next'],
    },
    { what: 'A time limit without a unit', edit: [FILE, 'time: 500ms', 'time: 500'] },
    { what: 'A time limit in words', edit: [FILE, 'time: 500ms', 'time: 1 hour'] },
    {
      what: 'A mistake in a pipeline, beside a file that is no YAML',
      edit: [FILE, 'use: filter', 'use: fliter'],
      files: { 'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string\n' },
    },
    { what: 'A share in words', edit: [FILE, 'share: 20%', 'share: 20 percent'] },
    {
      what: 'A vector of the request that is declared as a list',
      files: {
        'pipelines/next.yaml': VECTORS,
        'schemas/entities/product.yaml':
          'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, rating: float, number_in_stock: int, brand: ref(brand), categories: list(string), embedding: vector(64) }\n',
      },
    },
    { what: 'A limit that is too large', edit: [FILE, 'candidates: 1000,', 'candidates: 100000,'] },
    {
      what: 'A request field of an unknown type',
      edit: [FILE, 'user: optional(user)', 'user: optional(usr)'],
    },
    { what: 'A misspelt step', edit: [FILE, 'use: filter', 'use: fliter'] },
    { what: 'A sink as a step', edit: [FILE, 'use: filter', 'use: kafka'] },
    { what: 'A misspelt option', edit: [FILE, '{ keep: product.price > 0 }', '{ kep: product.price > 0 }'] },
    { what: 'An option that is missing', edit: [FILE, FILTER, 'with: { absent: drop }'] },
    {
      what: 'A value that an option does not take',
      edit: [FILE, FILTER, 'with: { keep: product.price > 0, absent: hide }'],
    },
    {
      what: 'Two changes in one boost',
      edit: [FILE, '{ add: 0.1 * log1p(likes:clicks) }', '{ add: 1, multiply: 2 }'],
    },
    { what: 'Options without with', edit: [FILE, FILTER, 'keep: product.price > 0'] },
    { what: 'The same name for two steps', edit: [FILE, 'as: relevance', 'as: text'] },
    { what: 'A step on the best 0', edit: [FILE, FILTER, `${FILTER}\n    top: 0`] },
    { what: 'A list item without a dash', edit: [FILE, '  - use: filter\n', '  use: filter\n'] },
    { what: 'A view that does not exist', edit: [FILE, '  - product_stats\n', '  - product_stat\n'] },
    {
      what: 'A view that is never used',
      edit: [FILE, '{ add: 0.1 * log1p(likes:clicks) }', '{ add: 1, where: product.rating > 4 }'],
    },
    {
      what: 'Too few keys for a view',
      edit: [FILE, 'user_brand(user, product.brand)', 'user_brand(product.brand)'],
    },
    {
      what: 'The keys of a view in the wrong order',
      edit: [FILE, 'user_brand(user, product.brand)', 'user_brand(product.brand, user)'],
    },
    { what: 'A page size above its maximum', edit: [FILE, 'size: 24,', 'size: 240,'] },
    {
      what: 'A model file that does not exist',
      edit: [
        FILE,
        'use: linear\n    as: relevance\n    with:\n      weights: { text:bm25: 1, popularity: w_orders, product_stats:ctr_30d: 1 }\n      missing: 0',
        'use: lightgbm\n    as: relevance\n    with: { model: models/ltr.txt }',
      ],
    },
    {
      what: 'A model server that the operator does not allow',
      edit: [
        FILE,
        'use: linear\n    as: relevance\n    with:\n      weights: { text:bm25: 1, popularity: w_orders, product_stats:ctr_30d: 1 }\n      missing: 0',
        'use: open_inference\n    as: relevance\n    with: { url: "http://models:8080", model: ltr, inputs: { x: [product.price] }, outputs: { score: y } }',
      ],
    },
  ],
};
