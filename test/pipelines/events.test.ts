import { expect } from 'chai';
import { EVENT_TYPES } from '../../runtime/ground/core/event-types.js';
import { startProject, type TestProject } from '../support/project.js';

interface Event {
  readonly event_type: string;
  readonly event_data: Record<string, unknown>;
}

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand) }\n',
  'schemas/features/stats.yaml':
    'view: stats\nof: [product]\nfeatures: { zero: int, empty: string, none: list(string), live: bool }\n',
  'schemas/features/brand_stats.yaml': 'view: brand_stats\nof: [brand]\nfeatures: { sales: float }\n',
  'schemas/features/taste.yaml': 'view: taste\nof: [user, brand]\nfeatures: { clicks: int }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request:
  candidates: { search_score: float }
  user: user
features:
  - stats
  - of_brand: brand_stats(product.brand)
  - liking: taste(user, product.brand)
components:
  - use: filter
    with: { keep: product.search_score > 0 }
  - use: linear
    as: model
    with: { weights: { product.search_score: 0 } }
  - use: score
    with: { value: 'product.search_score + 0 * (stats:zero + count(stats:none) + of_brand:sales + liking:clicks) + if(stats:live or stats:empty == "x", 0, 0)' }
  - use: pin
    with: { positions: { 1: p1 } }
page: { size: 2 }
`,
};

describe('events', () => {
  let project: TestProject;
  let events: Event[] = [];

  before(async () => {
    project = await startProject(FILES, { now: () => Date.parse('2026-03-01T12:00:00Z') });
    const ids = ['p0', 'p1', 'p2', 'p3', 'p4'];
    await project.upload('product', ...ids.map((product_id) => ({ product_id, brand: 'b' })));
    await project.push(
      'stats',
      ...ids.map((product_id) => ({ product_id, zero: 0, empty: '', none: [], live: false })),
    );
    await project.push('brand_stats', { brand_id: 'b', sales: 0 });
    await project.push('taste', { user_id: 'u', brand_id: 'b', clicks: 0 });
    const ran = await project.run({
      request_id: 'r1',
      include_events: true,
      user: { user_id: 'u' },
      user_page: 1,
      candidates: ids.map((product_id, search_score) => ({ product_id, search_score })),
    });
    events = ran.events as Event[];
  });
  after(() => project.close());

  const of = (type: string): Record<string, unknown>[] =>
    events.filter(({ event_type }) => event_type === type).map(({ event_data }) => event_data);

  it('have the same envelope', () => {
    for (const event of events) {
      expect(event).to.have.all.keys(
        'request_id',
        'api_source',
        'run_id',
        'event_timestamp',
        'event_type',
        'event_data',
      );
      expect(event).to.include({
        request_id: 'r1',
        api_source: 'ranking',
        event_timestamp: '2026-03-01T12:00:00.000Z',
      });
    }
    expect(JSON.parse(JSON.stringify(events))).to.deep.equal(events);
  });

  it('have the members of the event table, in order', () => {
    for (const [type, { data, optional, from }] of Object.entries(EVENT_TYPES)) {
      // No plugin of this pipeline emits events.
      if (from !== 'request' || type === 'CUSTOM') continue;
      const written = of(type);
      expect(written, type).not.to.have.length(0);
      for (const one of written) {
        const members = Object.keys(one);
        expect(members).to.deep.equal(data.filter((member) => members.includes(member)));
        expect([...members, ...optional]).to.include.members([...data]);
      }
    }
  });

  it('include features that are 0, false, "" and [], and each entity once', () => {
    const features = of('FEATURE');
    const values = features.filter((one) => one.feature_identifier === 'p3');
    expect(Object.fromEntries(values.map((one) => [one.feature_name, one.feature_value]))).to.deep.equal({
      'stats:zero': 0,
      'stats:empty': '',
      'stats:none': [],
      'stats:live': 0,
      'product.brand': 'b',
      'product.search_score': 3,
      'filter:with.keep': 1,
      'score:with.value': 3,
    });
    const shared = features.filter((one) => one.feature_identifier_type !== 'product');
    expect(
      shared.map((one) => [one.feature_identifier_type, one.feature_identifier, one.feature_value]),
    ).to.deep.equal([
      ['brand', 'b', 0],
      ['user:brand', 'u:b', 0],
    ]);
  });

  it('include a prediction for every remaining candidate, and every candidate in its final order', () => {
    expect(of('MODEL').map((one) => [one.model_name, one.model_output])).to.deep.equal(
      new Array(4).fill(['model', 0]),
    );
    expect(
      of('CANDIDATE').map((one) => [one.entity_identifier, one.candidate_score, one.candidate_order]),
    ).to.deep.equal([
      ['p1', 4, 0],
      ['p4', 4, 1],
      ['p3', 3, 2],
      ['p2', 2, 3],
    ]);
  });

  it('number impressions over the whole ranking, not over the page', () => {
    expect(
      of('IMPRESSION').map((one) => [one.entity_identifier, one.impression_score, one.impression_order]),
    ).to.deep.equal([
      ['p3', 3, 2],
      ['p2', 2, 3],
    ]);
  });
});
