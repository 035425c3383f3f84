import { testMistakes, type Mistake } from '../../../support/mistakes.js';
import { pluginFiles } from '../../../support/project.js';

/** Mistakes under `retrieve:` and `merge:`, each with the whole message that a user sees. UPDATE_GOLDEN=1 rewrites the messages. */
const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { country: string }\n',
  ...pluginFiles(
    'near',
    'retriever',
    "return { outputs: { score: 'number' }, retrieve: () => ({ ids: [], columns: {} }) };",
    { to: { description: 'What to find.', millrace: 'any' } },
  ),
};

const NEAR = '[{ use: near, with: { to: query.query } }]';
const SCORE = '  - { use: score, with: { value: product.price } }';

const mistake = (what: string, retrieve: string, more: Partial<Mistake> = {}): Mistake => ({
  what,
  components: SCORE,
  retrieve,
  ...more,
});

const http = (body: string, more = ''): string =>
  `[{ use: http_search, as: os, with: { url: "http://localhost:9", hits: hits, id: id, body: ${body}${more} } }]`;

const postgres = (url: string, more: string): string =>
  `[{ use: postgres, as: pg, with: { url: "${url}", ${more} } }]`;
const SQL = 'query: select id from products';
const opensearch = (more: string): string =>
  `[{ use: opensearch, as: os, with: { url: "http://localhost:9", index: products, ${more} } }]`;
const NAMED = 'body: { query: { match: { title: { query: shoe, _name: in_title } } } }';

const MISTAKES: readonly Mistake[] = [
  mistake('one retriever without a list', '{ use: near }'),
  mistake('no retrievers', '[]'),
  mistake('a misspelt key', '[{ use: near, wiht: { to: query.query } }]'),
  mistake('a key of a step', '[{ use: near, top: 5, with: { to: query.query } }]'),
  mistake('a misspelt plugin', '[{ use: naer, with: { to: query.query } }]'),
  mistake('a rule as a retriever', '[{ use: score, with: { value: 1 } }]'),
  mistake('a retriever as a step', NEAR, { components: '  - { use: near, with: { to: query.query } }' }),
  mistake('a missing option', '[{ use: near }]'),
  mistake('an attribute of the candidates', '[{ use: near, with: { to: product.title } }]'),
  mistake(
    'an output of another retriever',
    '[{ use: near, with: { to: query.query } }, { use: near, as: far, with: { to: near:score } }]',
  ),
  mistake(
    'an output of a later retriever',
    '[{ use: near, as: far, with: { to: near:score } }, { use: near, with: { to: query.query } }]',
  ),
  mistake(
    'a condition on the candidates',
    '[{ use: near, when: product.price > 1, with: { to: query.query } }]',
  ),
  mistake(
    'two retrievers of one name',
    '[{ use: near, with: { to: query.query } }, { use: near, with: { to: user.country } }]',
  ),
  mistake('a step with the name of a retriever', '[{ use: near, as: a, with: { to: query.query } }]', {
    components:
      '  - { use: rank_within, as: a, with: { value: product.price } }\n  - { use: score, with: { value: 1 } }',
  }),
  mistake('a misspelt output', NEAR, { components: '  - { use: score, with: { value: near:scroe } }' }),
  mistake('an output with a dot', NEAR, { components: '  - { use: score, with: { value: near.score } }' }),
  mistake('a timeout that is a number', '[{ use: near, timeout: 60, with: { to: query.query } }]'),
  mistake('a timeout above the time limit', '[{ use: near, timeout: 2s, with: { to: query.query } }]'),
  mistake('a merge without retrievers', '', { retrieve: undefined as never, merge: '{ most: 5 }' }),
  mistake('a merge of more than the candidates', NEAR, { merge: '{ most: 2000 }' }),
  mistake('a misspelt key of merge', NEAR, { merge: '{ moste: 5 }' }),
  mistake('a misspelt word of merge', NEAR, { merge: '{ fuse: rff }' }),
  mistake('a misspelt word of merge beside too many', NEAR, { merge: '{ fuse: rfr, most: 2000 }' }),
  mistake('an order by a text', NEAR, { merge: '{ fuse: query.query }' }),
  mistake('an order by an attribute of the candidates', NEAR, {
    merge: '{ fuse: near:score + product.price }',
  }),
  mistake('a body with a misspelt expression', http('{ query: { match: { expr: qeury.query } } }')),
  mistake('a body with an expression that is no text', http('{ query: { expr: 5 } }')),
  mistake('a body with a key beside an expression', http('{ query: { expr: query.query, boost: 2 } }')),
  mistake('a body with an attribute of the candidates', http('{ query: { expr: product.title } }')),
  mistake('a body and a file', http('{ size: 5 }', ', body_file: queries/text.json')),
  mistake('a misspelt named query', opensearch(`${NAMED}, queries: { title: in_titel }`)),
  mistake('features that the body does not log', opensearch(`${NAMED}, features: { bm25: title_bm25 }`)),
  mistake('a named query called score', opensearch(`${NAMED}, queries: { score: in_title }`)),
  mistake('a size in the body', opensearch('body: { size: 5 }')),
  mistake('an index that is a path', opensearch('body: {}').replace('products', '../_all/_delete')),
  mistake('a host that is not allowed', http('{ size: 5 }')),
  mistake('an address of another database', postgres('mysql://db/shop', SQL)),
  mistake(
    'a parameter of an address that names another host',
    postgres('postgres://db/shop?host=other', SQL),
  ),
  mistake('a misspelt sslmode', postgres('postgres://db/shop?sslmode=required', SQL)),
  mistake('a password with a bare %', postgres('postgres://u:p%zz@db/shop', SQL)),
  mistake('a database whose host is not allowed', postgres('postgres://DB/shop', SQL)),
  mistake('a database without a statement', postgres('postgres://db/shop', 'params: [query.query]')),
  mistake(
    'a parameter that reads the candidates',
    postgres('postgres://db/shop', `${SQL}, params: [product.price]`),
  ),
];

describe('messages about mistakes under `retrieve:`', () => {
  testMistakes(
    MISTAKES,
    { ...FILES, 'queries/text.json': '{}' },
    'test/unit/request/compile/golden/retrieve-mistakes.txt',
  );
});
