import { expect } from 'chai';
import { compileProject } from '../../runtime/serve/app/project/compile-project.js';
import { CurationWatch } from '../../runtime/state/curation/curation-watch.js';
import { ADDED_LIMITS } from '../../runtime/state/curation/rule-plan.js';
import { readSent } from '../../runtime/state/curation/stored-rules.js';
import { encodeList } from '../../runtime/state/curation/stored-rules.js';
import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { writeProject } from '../support/project.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const pipeline = (name: string, score: string, reads: string): string => `pipeline: ${name}
rank: product
request: { candidates: { found: float }, user: optional(user) }
params: { weight: 1 }
components:
  - { use: score, with: { value: ${score} } }
  - { use: curation, with: { list: campaigns${reads} } }
page: { size: 6, max_size: 50 }
`;

const experiment = (name: string, mode: string, offset: number, arm: string): string => `experiment: ${name}
pipeline: search
${mode}unit: user
layer: page
offset: ${offset}%
share: 20%
arms: { control: {}, other: { ${arm} } }
metrics: { primary: { event: click } }
`;

/** @param reads of the steps `use: curation` */
const files = (reads: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { pop: float, margin: float, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { country: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nextends: MillraceEntity\nattributes: { tier: string }\n',
  'pipelines/search.yaml': pipeline('search', 'product.found * weight', reads),
  'pipelines/other.yaml': pipeline('other', 'product.pop * weight', reads),
  'experiments/a.yaml': experiment('a', '', 0, 'params: { weight: -1 }'),
  'experiments/b.yaml': experiment('b', '', 20, 'pipeline: other'),
  'experiments/c.yaml': experiment('c', 'mode: interleave\n', 40, 'params: { weight: -1 }'),
  'experiments/d.yaml': experiment('d', 'mode: interleave\n', 60, 'pipeline: other'),
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
});

const READS = ', reads: [product.margin, product.brand.country, user.tier]';
const RULES = [
  { boost: { where: 'product.margin > 0.5', add: 4 } },
  { bury: { where: 'product.brand.country == "DE" and user.tier == "gold"' } },
];
const PRODUCTS = Array.from({ length: 12 }, (_, at) => ({
  product_id: `p${at}`,
  pop: (at * 5) % 12,
  margin: ((at * 7) % 12) / 12,
  brand: `b${at % 3}`,
}));

describe('columns that rules add to a plan', () => {
  const served: ServedProject[] = [];
  before(async () => {
    // One reads the columns because its steps list them.
    for (const reads of ['', READS]) {
      const one = await serveFiles(files(reads));
      served.push(one);
      const upload = (entity_type: string, entities: object[]): Promise<unknown> =>
        one.post('/api/v1/entities/upload', { entity_type, entities });
      await upload('product', PRODUCTS);
      await upload('brand', [{ brand_id: 'b1', country: 'DE' }]);
      await upload('user', [{ user_id: 'u1', tier: 'gold' }]);
      await one.post('/api/v1/curation/put', { list: 'campaigns', rules: RULES });
    }
  });
  after(() => Promise.all(served.map((one) => one.close())));

  const answers = (url: string, user: string): Promise<unknown[]> =>
    Promise.all(
      served.map(async (one) => {
        const candidates = PRODUCTS.map(({ product_id }, at) => ({ product_id, found: (at * 11) % 12 }));
        const { status, json } = await one.post(url, {
          request_id: `r-${user}`,
          candidates,
          user: { user_id: user },
        });
        expect(status, JSON.stringify(json)).to.equal(200);
        return json;
      }),
    );

  it('give the answers of a plan that reads them anyway, in arms of every kind', async () => {
    const orders = new Set<string>();
    for (let user = 0; user < 60; user++) {
      const [own, theirs] = await answers('/api/v1/search', `u${user}`);
      expect(own).to.deep.equal(theirs);
      orders.add(JSON.stringify((own as { ranked_candidates: unknown }).ranked_candidates));
    }
    expect(orders.size).to.be.greaterThan(4);
  });

  it('are in explanations, with their values', async () => {
    const [own] = await answers('/api/v1/search/explain', 'u1');
    expect(JSON.stringify(own)).to.contain('"product.margin"').and.to.contain('"user.tier"');
  });

  it('are kept decoded as the others are', async () => {
    await answers('/api/v1/other', 'u1');
    const [own, theirs] = (await answers('/api/v1/other/explain', 'u1')) as { store?: object }[];
    expect(own?.store).to.deep.equal(theirs?.store);
  });

  it('are refused if the plan is late, here and on an instance that learns of them, until there is time', async () => {
    const root = await writeProject(files(''));
    const limits = { ...ADDED_LIMITS, ms: -1 };
    const compiled = await compileProject(root, { addedLimits: limits });
    const lists = compiled.curation;
    const texts = RULES.map((rule) => JSON.stringify(rule));
    const record = encodeList(texts, { campaigns: {}, publishes: [] });
    const watch = new CurationWatch({
      ...{ lists, root, prefix: 't', logger: pino({ level: 'silent' }), pollMs: 1e6 },
      store: { read: (keys) => Promise.resolve(keys.map(() => record)) },
    });
    try {
      const { rules } = await readSent('campaigns', { rules: RULES, campaigns: {} }, 'UTC');
      let stored = 0;
      const store = (): Promise<void> => {
        stored++;
        return Promise.resolve();
      };
      const errors = await lists.replace('campaigns', 'api', rules, store);
      expect(errors.map(({ code }) => code)).to.deep.equal(['late_plan']);
      expect(errors[0]?.message).to.contain('nothing changed');
      await watch.start();
      expect([stored, lists.get('campaigns')?.rules.api]).to.deep.equal([0, []]);
      expect(lists.get('campaigns')?.refused.api).to.have.length(1);
      limits.ms = ADDED_LIMITS.ms;
      await watch.look();
      expect(lists.get('campaigns')?.rules.api).to.have.length(2);
      expect(lists.get('campaigns')?.refused).to.deep.equal({});
    } finally {
      watch.stop();
      await compiled.close();
      await rm(root, { recursive: true, force: true });
    }
  });
});
