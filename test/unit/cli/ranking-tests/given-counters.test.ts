import { expect } from 'chai';
import { ProjectInvalidError } from '../../../../runtime/serve/app/project/compile-project.js';
import { failuresOf, runIn } from '../../../support/ranking-tests.js';

const FILES = {
  'millrace.yaml': 'project: shop\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/counters/brand_live.yaml': `counter: brand_live
of: [brand]
by: [product.brand]
features:
  clicks_7d: { event: click, window: 7d }
  last_click: { event: click, value: last(time) }
  ctr: { event: click, over: impression, window: 7d, prior: { weight: 100, mean: 0.05 } }
`,
  'schemas/counters/product_live.yaml': `counter: product_live
of: [product]
features: { revenue: { event: order, window: 30d, value: sum(revenue) } }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: {}
features: [product_live, brand: brand_live(product.brand)]
components:
  - use: score
    with: { value: 'product_live:revenue + brand:clicks_7d + 100 * brand:ctr + 0 * known(brand:last_click)' }
`,
};

const test = (given: string, expected: string): string => `test: t
pipeline: search
time: 2026-01-31T12:00Z
given:
  entities: { product: [{ product_id: p1, brand: b1 }, { product_id: p2, brand: b2 }] }
  features: ${given}
request: { candidates: [{ product_id: p1 }, { product_id: p2 }, { product_id: p3 }] }
expect: ${expected}
`;

const run = async (given: string, expected: string): Promise<Record<string, readonly string[]>> =>
  failuresOf(await runIn({ ...FILES, 'tests/t.yaml': test(given, expected) }));

describe('counters in tests', () => {
  it('have the values that a test gives, and those of a key without events otherwise', async () => {
    const given = `
    brand_live: [{ brand_id: b1, clicks_7d: 40, ctr: 0.5 }]
    product_live: [{ product_id: p2, revenue: 2.5 }]`;
    const expected = `
  scores: { p1: 90, p2: 7.5, p3: 0 }
  values:
    brand:clicks_7d: { p1: 40, p2: 0, p3: null }
    brand:ctr: { p1: 0.5, p2: 0.05 }
    product_live:revenue: { p1: 0, p2: 2.5, p3: 0 }
  statuses:
    brand:last_click: { p1: missing_feature, p2: missing_feature }
    brand:clicks_7d: { p2: present }`;
    expect(await run(given, expected)).to.deep.equal({});
  });

  it('take a time for the last event', async () => {
    const given = '{ brand_live: [{ brand_id: b1, last_click: 2026-01-30T12:00Z }] }';
    const expected = '{ statuses: { brand:last_click: { p1: present, p2: missing_feature } } }';
    expect(await run(given, expected)).to.deep.equal({});
  });

  it('have the given values in the condition of a retriever', async () => {
    const files = {
      ...FILES,
      'schemas/entities/user.yaml': 'entity: user\n',
      'schemas/counters/user_live.yaml':
        'counter: user_live\nof: [user]\nfeatures: { clicks: { event: click, window: 7d } }\n',
      'pipelines/found.yaml': `pipeline: found
rank: product
request: { user: user, query: query }
features: [user_live]
retrieve:
  - { use: words, as: all, with: { query: query.query, fields: { product.product_id: 1 } } }
  - { use: words, as: busy, when: user_live:clicks > 3, with: { query: query.query, fields: { product.product_id: 1 } } }
components: [{ use: score, with: { value: 'coalesce(all:score, 0)' } }]
`,
      'tests/found.yaml': `test: found
pipeline: found
given:
  features: { user_live: [{ user_id: u1, clicks: 4 }] }
  outputs: { 'all:score': { p1: 1 }, 'busy:score': { p2: 1 } }
request: { user: { user_id: u1 }, query: { query: x } }
expect: { order: [p1, p2] }
`,
    };
    expect(failuresOf(await runIn(files))).to.deep.equal({});
  });

  const MISTAKES: readonly (readonly [given: string, message: string, help: string])[] = [
    ['{ brand_liv: [] }', 'there is no feature view or counter `brand_liv`', 'did you mean `brand_live`?'],
    [
      '{ brand_live: [{ brand_id: b1, click_7d: 1 }] }',
      'the counter `brand_live` has no feature `click_7d`',
      'did you mean `clicks_7d`?',
    ],
    ['{ brand_live: [{ clicks_7d: 1 }] }', 'the row has no `brand_id`', 'add `brand_id`'],
  ];
  for (const [given, message, help] of MISTAKES)
    it(`report ${given}`, async () => {
      const error: unknown = await run(given, '{ order: [p1, p2, p3] }').catch((reason: unknown) => reason);
      if (!(error instanceof ProjectInvalidError)) throw new Error('expected diagnostics');
      const [first] = error.diagnostics;
      expect([first?.message, first?.help]).to.deep.equal([message, help]);
      expect(first?.at.file.path).to.equal('tests/t.yaml');
    });

  it('report a value that the counter cannot have', async () => {
    const error: unknown = await run(
      '{ brand_live: [{ brand_id: b1, clicks_7d: many }] }',
      '{ order: [p1, p2, p3] }',
    ).catch((reason: unknown) => reason);
    const messages =
      error instanceof ProjectInvalidError ? error.diagnostics.map(({ message }) => message) : [];
    expect(messages.join('\n')).to.match(/clicks_7d.*whole number/);
  });
});
