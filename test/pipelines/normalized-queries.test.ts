import { expect } from 'chai';
import { scoresOf, startProject, type TestProject } from '../support/project.js';

const files = (ids: string): Record<string, string> => ({
  'millrace.yaml': 'events: { click: {} }\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
  'schemas/entities/query.yaml': `entity: query\n${ids}attributes: { kind: float }\n`,
  'schemas/features/query_stats.yaml': 'view: query_stats\nof: [query]\nfeatures: { clicks_30d: float }\n',
  'schemas/features/pair_stats.yaml':
    'view: pair_stats\nof: [query, product]\nfeatures: { pair_clicks: float }\n',
  'schemas/counters/query_live.yaml':
    'counter: query_live\nof: [query]\nfeatures: { live: { event: click, window: 7d } }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { query: query }
features:
  - query_stats(query)
  - pair_stats(query, product)
  - query_live(query)
components:
  - use: interaction
    with: { of: query, with: product, outputs: { before: { event: click, window: 7d } } }
  - use: score
    with:
      value: >-
        coalesce(query.kind, 0) + 10 * coalesce(query_stats:clicks_30d, 0) + 100 * coalesce(pair_stats:pair_clicks, 0)
        + 1000 * coalesce(query_live:live, 0) + 10000 * coalesce(interaction:before, 0)
`,
});

const SPELT = ['Écran  TV!', 'ecran tv', 'ECRAN TV', '“écran tv”'];

describe('query keys', () => {
  let project: TestProject | undefined;

  afterEach(async () => {
    await project?.close();
    project = undefined;
  });

  /** Writes with one spelling each; returns the project. */
  async function start(ids: string): Promise<TestProject> {
    project = await startProject(files(ids));
    await project.upload('product', { product_id: 'a' });
    await project.upload('query', { query: SPELT[0], kind: 1 });
    await project.push('query_stats', { query: SPELT[1], clicks_30d: 2 });
    await project.push('pair_stats', { query: SPELT[2], product_id: 'a', pair_clicks: 3 });
    const events = [{ type: 'click', product: { product_id: 'a' } }];
    await project.app.feedback.record({ request_id: 'r', query: { query: SPELT[3] }, events });
    return project;
  }

  const scoreOf = async ({ rank }: TestProject, query: string): Promise<number | undefined> =>
    scoresOf(await rank({ query: { query }, candidates: [{ product_id: 'a' }] }))['a'];

  it('are exact by default', async () => {
    const shop = await start('');
    const scores: (number | undefined)[] = [];
    for (const query of SPELT) scores.push(await scoreOf(shop, query));
    expect(scores).to.deep.equal([1, 20, 300, 11000]);
  });

  it('are one for all spellings if they are normalised', async () => {
    const shop = await start('ids: normalized\n');
    for (const query of SPELT) expect(await scoreOf(shop, query), query).to.equal(11321);
    expect(await scoreOf(shop, 'ecran')).to.equal(0);
  });

  it('are normalised by routes that read, delete and forget', async () => {
    const shop = await start('ids: normalized\n');
    const { entities } = await shop.app.entities.get({ entity_type: 'query', entity_ids: [SPELT[2]] });
    expect(entities).to.deep.equal({ 'ecran tv': { query: 'ecran tv', kind: 1 } });
    await shop.app.features.remove({ view: 'query_stats', rows: [{ query: SPELT[3] }] });
    expect(await scoreOf(shop, 'ecran tv')).to.equal(11301);
    await shop.app.entities.remove({ entity_type: 'query', entity_ids: [SPELT[3]] });
    expect(await scoreOf(shop, 'ecran tv')).to.equal(11300);
  });

  it('keep a text without a letter as it is', async () => {
    const shop = await start('ids: normalized\n');
    await shop.push('query_stats', { query: '?!', clicks_30d: 7 });
    expect(await scoreOf(shop, '?!')).to.equal(70);
    expect(await scoreOf(shop, '')).to.equal(0);
  });
});
