import { expect } from 'chai';
import fc from 'fast-check';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const PIPELINE = `pipeline: search
rank: product
request: { candidates: { found: float }, query: optional(query), device: optional(string) }
components:
  - use: score
    with: { value: product.found }
  - use: filter
    with: { keep: product.product_id != "f" }
  - use: pin
    with: { positions: { 1: h } }
  - { use: curation, with: { list: campaigns } }
`;
const PLACES = `pipeline: places
rank: product
request: { candidates: { found: float, family: string, is_new: bool }, query: optional(query) }
components:
  - use: score
    with: { value: product.found }
  - { use: pin, as: early, with: { positions: { 1: g, 2: h } } }
  - { use: pin, as: late, with: { positions: { 1: f } } }
  - { use: curation, with: { list: launches } }
  - use: filter
    with: { keep: product.product_id != "f" }
  - use: group
    with: { by: product.family }
  - use: slot
    with: { positions: [4], where: product.is_new }
`;
const LIST = `curation: campaigns
rules:
  - query: tv
    pin: { 1: c, 3: a }
    hide: [b]
  - query: dated
    from: 2026-11-27T00:00+01:00
    until: 2026-12-01T00:00+01:00
    pin: { 1: c }
  - query: f
    pin: { 1: f, 2: g }
  - name: phone
    when: lower(query.query) == "phone" and request.device == "phone"
    boost: { where: product.found > 1, multiply: 10 }
    bury: { where: product.found < 1 }
  - name: overstock
    query: overstock
    bury: { where: product.found > 7 }
`;
const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

describe('a pipeline with a list of rules', () => {
  let served: ServedProject;
  before(async () => {
    served = await serveFiles({
      'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: {}\n',
      'pipelines/search.yaml': PIPELINE,
      'curation/campaigns.yaml': LIST,
      'pipelines/places.yaml': PLACES,
      'curation/launches.yaml':
        'curation: launches\nrules:\n  - { pin: { 3: c } }\n  - { query: tv, pin: { 1: c, 3: a } }\n',
    });
  });
  after(() => served.close());

  const body = (query: string, scores: readonly number[], more: object = {}): object => ({
    candidates: IDS.map((id, row) => ({ product_id: id, found: scores[row] ?? 0 })),
    query: { query },
    ...more,
  });
  const order = async (path: string, sent: object): Promise<string[]> => {
    const { status, json } = await served.post(path, sent);
    expect(status, JSON.stringify(json)).to.equal(200);
    const answer = (json.answer ?? json) as { ranked_candidates: { candidate_id: string }[] };
    return answer.ranked_candidates.map((one) => one.candidate_id);
  };
  const rank = (query: string, scores: readonly number[]): Promise<string[]> =>
    order('/api/v1/search', body(query, scores));
  const score = fc.oneof(
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );
  const scores = fc.array(score, { minLength: IDS.length, maxLength: IDS.length });

  it('keeps its pins exact and never serves what it hides, for any scores', () =>
    fc.assert(
      fc.asyncProperty(scores, async (all) => {
        const ranked = await rank(' TV ', all);
        expect([ranked[0], ranked[2]]).to.deep.equal(['c', 'a']);
        // `b` is hidden, and the filter removes `f`. Nothing else is lost.
        expect([...ranked].sort()).to.deep.equal(['a', 'c', 'd', 'e', 'g', 'h']);
        const plain = await rank('other', all);
        expect(plain[0]).to.equal('h');
        const free = (one: string): boolean => !['a', 'b', 'c', 'h'].includes(one);
        expect(ranked.filter(free)).to.deep.equal(plain.filter(free));
      }),
      { numRuns: 25 },
    ));

  it('does not serve a pinned candidate that a filter removes', async () => {
    const ranked = await rank('f', [1, 2, 3, 4, 5, 6, 7, 8]);
    expect(ranked).not.to.include('f');
    expect(ranked.slice(0, 2)).to.deep.equal(['h', 'g']);
  });

  it('starts and ends a rule at the moment that its offset says', async () => {
    const sent = body('dated', [8, 7, 6, 5, 4, 3, 2, 1]);
    const first = async (at: string): Promise<string | undefined> =>
      (await order(`/api/v1/search/explain?at=${encodeURIComponent(at)}`, sent))[0];
    expect(await first('2026-11-26T22:59:59.999Z')).to.equal('h');
    expect(await first('2026-11-26T23:00Z')).to.equal('c');
    expect(await first('2026-11-27T00:00+01:00')).to.equal('c');
    expect(await first('2026-11-30T22:59:59.999Z')).to.equal('c');
    expect(await first('2026-12-01T00:00+01:00')).to.equal('h');
    expect(await first(String(Date.parse('2026-11-28T00:00Z')))).to.equal('c');
    const wrong = await served.post('/api/v1/search/explain?at=friday', sent);
    expect(wrong.status).to.equal(422);
  });

  it('names the rule in explanations and events', async () => {
    const sent = { ...body('Phone', [3, 0, 2, 1, 1, 9, 1, 1], { device: 'phone' }), include_events: true };
    const { json } = await served.post('/api/v1/search/explain', sent);
    const page = json.page as { candidate_id: string; changes: Record<string, unknown>[] }[];
    const of = (id: string): Record<string, unknown>[] =>
      page.find(({ candidate_id }) => candidate_id === id)?.changes.filter(({ as }) => as === 'curation') ??
      [];
    expect(of('c')).to.deep.equal([
      { step: 4, as: 'curation', before: 2, after: 20, rules: ['campaigns:phone'] },
    ]);
    expect(of('b')).to.deep.equal([{ step: 4, as: 'curation', put_below: true, rules: ['campaigns:phone'] }]);
    const overstock = await served.post(
      '/api/v1/search/explain',
      body('overstock', [8, 7, 6, 5, 4, 3, 2, 1]),
    );
    const buried = (overstock.json.page as typeof page).find(({ candidate_id }) => candidate_id === 'a');
    expect(buried?.changes.at(-1)).to.deep.equal({
      ...{ step: 4, as: 'curation', put_below: true, rules: ['campaigns:overstock'] },
      ...{ moved_from: 1, moved_to: 7 },
    });
    const { json: answer } = await served.post('/api/v1/search', sent);
    const events = answer.events as { event_type: string; event_data: Record<string, unknown> }[];
    const told = events.filter(({ event_data }) => JSON.stringify(event_data).includes('campaigns:phone'));
    expect(told.map(({ event_type }) => event_type).sort()).to.deep.equal([
      'BUSINESS_LOGIC',
      'BUSINESS_LOGIC',
      'BUSINESS_LOGIC',
      'CUSTOM',
    ]);
    const hidden = await served.post('/api/v1/search/explain', body('tv', [1, 2, 3, 4, 5, 6, 7, 8]));
    const steps = hidden.json.steps as { as: string; hidden?: unknown }[];
    expect(steps.find(({ as }) => as === 'curation')?.hidden).to.deep.equal({ 'campaigns:1': ['b'] });
  });

  it('says which pin lost, which pin holds instead, and what a slot brings back', async () => {
    const changesFor = async (query: string): Promise<(id: string) => Record<string, unknown>[]> => {
      const candidates = IDS.map((id, row) => ({
        ...{ product_id: id, found: 8 - row, is_new: id === 'e' },
        family: id === 'e' ? 'd' : id,
      }));
      const { status, json } = await served.post('/api/v1/places/explain', { candidates, query: { query } });
      expect(status, JSON.stringify(json)).to.equal(200);
      const page = json.page as { candidate_id: string; changes: Record<string, unknown>[] }[];
      return (id) =>
        page.find(({ candidate_id }) => candidate_id === id)?.changes.filter(({ as }) => as !== 'score') ??
        [];
    };
    const tv = await changesFor('tv');
    expect(tv('c')).to.deep.equal([
      { step: 4, as: 'curation', pinned_to: 1, moved_from: 3, rules: ['launches:2'] },
    ]);
    expect(tv('g')).to.deep.equal([{ step: 2, as: 'early', pin_lost: 1 }]);
    expect(tv('h')).to.deep.equal([{ step: 2, as: 'early', pinned_to: 2, moved_from: 6 }]);
    // The group removes the variant `e`, and the slot is stronger.
    expect(tv('e')).to.deep.equal([{ step: 7, as: 'slot', moved_to: 4 }]);
    const other = await changesFor('other');
    expect(other('g')).to.deep.equal([{ step: 2, as: 'early', pinned_to: 1, moved_from: 5 }]);
    expect(other('c')[0]).to.deep.include({ pinned_to: 3, rules: ['launches:1'] });
    expect(other('f')).to.deep.equal([]);
  });
});
