import { expect } from 'chai';
import fc from 'fast-check';
import type { ExplainedValue } from '../../runtime/request/pipeline/explain/explanation.js';
import { isWellFormed } from '../../runtime/ground/core/ids.js';
import { startProject, type TestProject } from '../support/project.js';

/** Every value that a ranking used has an event: attributes, features, definitions and expressions of steps. */

const NOW = Date.parse('2026-03-01T12:00:00Z');

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
  stock: int
  live: bool
  tags: list(string)
  taste: vector(2)
  added: timestamp
  brand: ref(brand)
  sellers: list(ref(seller))
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, owner: ref(owner) }\n',
  'schemas/entities/owner.yaml': 'entity: owner\nattributes: { country: string }\n',
  'schemas/entities/seller.yaml': 'entity: seller\nattributes: { rating: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { age: int, brand: ref(brand) }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nttl: 1d\nfeatures: { ctr: { type: float, default: 0.5 }, label: string }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { sales: float }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: { search_score: float }, query: query, user: optional(user), device: optional(string) }
features: [stats, { of_brand: brand_stats(product.brand) }]
define: { cheap: product.price < 20, adult: user.age >= 18, price: product.price }
components:
  - use: filter
    with: { keep: product.stock > 0 }
  - use: linear
    as: ltr
    with:
      missing: 0
      weights: { log1p(price): 1, product.search_score: 0.1, stats:ctr: 2, of_brand:sales: 1, mean(product.sellers.rating): 1 }
  - use: score
    with: { value: ltr:score }
  - use: boost
    when: request.device != "kiosk"
    with:
      where: product.brand.owner.country == "DK" or product.brand.name == query.query or product.brand == user.brand
      add: 1
  - use: boost
    with: { where: cheap and adult and product.live and product.added < now() and count(product.tags) > 0, multiply: 1.5 }
  - use: boost
    as: taste
    with: { where: known(product.taste) and product.title != stats:label, multiply: 1 + user.age / 100 }
page: { size: 100 }
`,
};

interface Event {
  readonly event_type: string;
  readonly event_data: Readonly<Record<string, unknown>>;
}

const BODY = {
  request_id: 'r1',
  include_events: true,
  query: { query: 'Fleet' },
  device: 'phone',
  user: { user_id: 'u', age: 30, brand: 'b1' },
  candidates: [
    { product_id: 'p1', search_score: 2 },
    { product_id: 'p2', brand: { brand_id: 'b1', name: 'Own name' } },
    { product_id: 'p3', stock: 0 },
  ],
};

describe('the events of all values in a ranking', () => {
  let project: TestProject;

  before(async () => {
    project = await startProject(FILES, { now: () => NOW });
    const common = { price: 10, stock: 1, live: true, added: 4, tags: ['a'], taste: [1, 2], brand: 'b1' };
    await project.upload(
      'product',
      { product_id: 'p1', title: 'one', ...common, sellers: ['s1', 's2'] },
      { product_id: 'p2', ...common, sellers: [] },
      { product_id: 'p3', ...common, title: '' },
    );
    await project.upload('brand', { brand_id: 'b1', name: 'Fleet', owner: 'o1' });
    await project.upload('owner', { owner_id: 'o1', country: 'DK' });
    await project.upload('seller', { seller_id: 's1', rating: 4 }, { seller_id: 's2', rating: null });
    await project.push('stats', { product_id: 'p1', ctr: 0.1, label: 'x' });
    await project.push('brand_stats', { brand_id: 'b1', sales: 7 });
  });
  after(() => project.close());

  const features = async (): Promise<Readonly<Record<string, unknown>>[]> => {
    const { events } = await project.run(BODY);
    return (events as Event[]).flatMap((one) => (one.event_type === 'FEATURE' ? [one.event_data] : []));
  };
  const told = async (type: string, id: string): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      (await features())
        .filter((one) => one.feature_identifier_type === type && one.feature_identifier === id)
        .map((one) => [String(one.feature_name), one.feature_value]),
    );

  it('include attributes, features, definitions and expressions of a candidate', async () => {
    expect(await told('product', 'p1')).to.deep.equal({
      'product.stock': 1,
      'product.price': 10,
      'product.search_score': 2,
      'product.sellers': ['s1', 's2'],
      'product.sellers.rating': [4, null],
      'product.brand': 'b1',
      'product.live': 1,
      'product.added': 4,
      'product.tags': ['a'],
      'product.taste': [1, 2],
      'product.title': 'one',
      'stats:ctr': 0.1,
      'stats:label': 'x',
      price: 10,
      cheap: 1,
      'filter:with.keep': 1,
      'ltr:with.weights.log1p(price)': Math.log1p(10),
      'ltr:with.weights.mean(product.sellers.rating)': 4,
      'boost#4:with.where': 1,
      'boost#5:with.where': 1,
      'taste:with.where': 1,
      'taste:with.multiply': 1.3,
    });
  });

  it('include the values of a removed candidate up to its filter', async () => {
    const removed = await told('product', 'p3');
    expect(removed).to.include({ 'product.stock': 0, 'product.price': 10, cheap: 1, 'filter:with.keep': 0 });
    expect(Object.keys(removed)).not.to.include('boost#4:with.where');
  });

  it('include a shared entity once, and again if the request carries another value of it', async () => {
    const names = (await features()).filter((one) => one.feature_name === 'product.brand.name');
    expect(names.map((one) => [one.feature_identifier, one.feature_value])).to.deep.equal([
      ['b1', 'Fleet'],
      ['b1', 'Own name'],
    ]);
    expect(await told('brand', 'b1')).to.deep.equal({
      'product.brand.owner': 'o1',
      'product.brand.name': 'Own name',
      'of_brand:sales': 7,
    });
    expect(await told('owner', 'o1')).to.deep.equal({ 'product.brand.owner.country': 'DK' });
  });

  it('include the values of the request once', async () => {
    expect(await told('user', 'u')).to.deep.equal({ 'user.age': 30, 'user.brand': 'b1' });
    expect(await told('query', 'Fleet')).to.deep.equal({ 'query.query': 'Fleet' });
    expect(await told('request', 'r1')).to.deep.equal({
      'request.device': 'phone',
      adult: 1,
      'boost#4:when': 1,
    });
  });

  const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }).filter(isWellFormed);
  const number = fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
    fc.oneof(one, fc.constant(null), fc.constant(undefined));
  const product = fc.record({
    product_id: text,
    title: maybe(text),
    price: maybe(number),
    stock: maybe(fc.integer()),
    live: maybe(fc.boolean()),
    tags: maybe(fc.array(text, { maxLength: 3 })),
    taste: maybe(fc.tuple(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constant(0))),
    brand: maybe(fc.oneof(text, fc.record({ name: text, owner: fc.record({ country: text }) }))),
    sellers: maybe(fc.array(text, { maxLength: 3 })),
    search_score: maybe(number),
  });

  it('match the explanation, occur once each, and equal the output of JSON.stringify', () =>
    fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(product, { minLength: 1, maxLength: 5, selector: (one) => one.product_id }),
        text,
        async (candidates, requestId) => {
          const body = {
            request_id: requestId,
            include_events: true,
            query: { query: requestId },
            user: { user_id: requestId },
            device: requestId,
            candidates: JSON.parse(JSON.stringify(candidates)) as unknown,
            user_page_size: 5,
          };
          const [pipeline] = project.app.pipelines;
          const explanation = await pipeline?.explain(body, { requestId: 'made-up' });
          const json = explanation?.answer.events;
          const events = (json?.toJSON() ?? []) as unknown as Event[];
          expect(Buffer.concat(json?.chunks ?? []).toString()).to.equal(JSON.stringify(events));

          const data = events.map((one) => one.event_data);
          expect(new Set(data.map((one) => JSON.stringify(one))).size).to.equal(data.length);
          const shown = ({ value, status, cause }: ExplainedValue): string =>
            JSON.stringify([value, status, cause ?? null]);
          const known = new Map<unknown, Set<string>>();
          for (const one of data) {
            const [name, value, status] =
              'model_name' in one
                ? ['ltr:score', one.model_output, one.model_output_status]
                : [one.feature_name, one.feature_value, one.feature_status];
            const values = known.get(name) ?? new Set();
            values.add(JSON.stringify([value, status, one.feature_status_cause ?? null]));
            known.set(name, values);
          }
          const values = (explanation?.page ?? []).map((one) => one.values);
          for (const row of [...values, explanation?.request ?? {}])
            for (const [name, value] of Object.entries(row)) {
              // The identifier of an event names its entity; an id has its own event only if a step reads it.
              if (/^(product\.product_id|user\.user_id|request\.request_id)$/.test(name)) continue;
              expect([...(known.get(name) ?? [])], name).to.include(shown(value));
            }
        },
      ),
      { numRuns: 60 },
    ));
});
