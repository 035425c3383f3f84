import { expect } from 'chai';
import { startProject, type TestProject } from '../support/project.js';

const FILES = {
  'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlin\nimage_hosts: [cdn.example]\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: string, stock: int }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, query: optional(query), category: optional(string) }
components:
  - { use: filter, with: { keep: "coalesce(product.stock, 1) > 0" } }
  - { use: score, with: { value: "coalesce(product.found, 0)" } }
  - { use: pin, with: { positions: { 2: c } } }
  - { use: curation, with: { list: campaigns } }
`,
  'curation/campaigns.yaml': `curation: campaigns
rules:
  - { name: gift, query: gift, sponsor: { places: [1], product: d, label: Ad } }
campaigns:
  friday:
    from: 2026-11-27
    until: 2026-11-30
    on: { category: [tv, audio] }
    pin: { 1: p42 }
    hide: [b]
    sponsor: { places: [1, 2], product: p7, label: Anzeige }
    banner: { place: top, image: https://cdn.example/f.webp, link: /f, text: Friday }
  taken:
    on: { category: [taken] }
    pin: { 1: a, 2: b }
    sponsor: { places: [1, 2], product: d, label: Anzeige }
  own:
    on: { category: [own] }
    pin: { 3: d }
    sponsor: { places: [1], product: d, label: Anzeige }
  words:
    on: { query: [red shoe, boots], match: contains, when: not known(request.category) }
    bury: { where: product.found > 3 }
  later:
    on: { query: [gift] }
    sponsor: { places: [1], product: a, label: Ad }
`,
};
const DAY = 86_400_000;

describe('campaigns', () => {
  let now = 0;
  let project: TestProject;
  before(async () => {
    project = await startProject(FILES, {
      now: () => now,
      env: { MILLRACE_IMAGE_HOSTS: 'cdn.example' },
    });
    await project.upload('product', { product_id: 'p42', stock: 3 }, { product_id: 'p7', stock: 0 });
  });
  after(() => project.close());
  beforeEach(() => {
    now = Date.UTC(2026, 10, 28, 12);
  });

  const answer = async (more: object, more2: object = {}): Promise<Record<string, unknown>> => {
    const candidates = ['a', 'b', 'c', 'd'].map((product_id, at) => ({ product_id, found: 4 - at }));
    const [pipeline] = project.app.pipelines;
    const run = await pipeline?.run({ candidates, ...more }, { requestId: 'r1', ...more2 });
    return run?.answer as unknown as Record<string, unknown>;
  };
  const told = async (more: object): Promise<string> => {
    const { ranked_candidates: ranked } = await answer(more);
    return (ranked as { candidate_id: string; sponsored?: string }[])
      .map(({ candidate_id: id, sponsored }) => (sponsored === undefined ? id : `${id}=${sponsored}`))
      .join(' ');
  };

  it('become rules: a pin brings its product, hides, and keeps its position before a pin of the pipeline', async () => {
    expect(await told({ category: 'tv' })).to.equal('p42 c a d');
    expect(await told({ category: 'audio' })).to.equal('p42 c a d');
    expect(await told({ category: 'TV' })).to.equal('a c b d');
    expect(await told({})).to.equal('a c b d');
  });

  it('sponsor the first place that no curated pin has, before a pin of the pipeline, with its label', async () => {
    await project.upload('product', { product_id: 'p7', stock: 5 });
    expect(await told({ category: 'tv' })).to.equal('p42 p7=Anzeige a c d');
    await project.upload('product', { product_id: 'p7', stock: 0 });
    expect(await told({ category: 'taken' })).to.equal('a b c d');
    expect(await told({ category: 'own' })).to.equal('a c d b');
    // The later rule has the place.
    expect(await told({ query: { query: 'Gift!' } })).to.equal('a=Ad c b d');
  });

  it('add their content once, and nothing where no such rule applies', async () => {
    const banner = { place: 'top', image: 'https://cdn.example/f.webp', link: '/f', text: 'Friday' };
    expect((await answer({ category: 'tv' })).content).to.deep.equal([banner]);
    expect(await answer({ category: 'own' })).to.have.all.keys('ranked_candidates');
    const candidates = [{ product_id: 'a' }, { product_id: 'b' }];
    const { events } = await project.run({ candidates, category: 'tv', include_events: true });
    const texts = events.map((event) => JSON.stringify(event)).filter((text) => text.includes('CUSTOM'));
    expect(texts.filter((text) => text.includes('"rule":"campaigns:friday:1"'))).to.have.length(1);
  });

  it('hold on whole days of the time zone, the last one included', async () => {
    const from = Date.UTC(2026, 10, 26, 23);
    const until = Date.UTC(2026, 10, 30, 23);
    for (const [at, applies] of [
      [from - 1, false],
      [from, true],
      [until - 1, true],
      [until, false],
      [until + DAY, false],
    ] as const) {
      now = at;
      expect((await told({ category: 'tv' })).startsWith('p42'), new Date(at).toISOString()).to.equal(
        applies,
      );
    }
  });

  it('are for several queries, and for what else the request must meet', async () => {
    const query = { query: 'a red shoe' };
    expect(await told({ query })).to.equal('b c d a');
    expect(await told({ query: { query: 'old boots' } })).to.equal('b c d a');
    expect(await told({ query, category: 'x' })).to.equal('a c b d');
  });
});
