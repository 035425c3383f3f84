import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { ADDED_LIMITS } from '../../runtime/state/curation/rule-plan.js';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/served-project.js';
import { post } from './harness.js';

const MANY = Array.from({ length: ADDED_LIMITS.columns + 1 }, (_, at) => `n${at}`);

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
attributes:
  brand: ref(brand)
  margin: float
  tags: list(string)
  shape: vector(3)
  cost: { type: float, private: true }
  related: ref(product)
  ${MANY.map((name) => `${name}: float`).join('\n  ')}
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { country: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nextends: MillraceEntity\nattributes: { tier: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, category: optional(string), user: optional(user) }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: campaigns } }
  - { use: curation, as: more, with: { list: more } }
`,
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
  'curation/more.yaml': 'curation: more\nrules: []\n',
};

interface Answer {
  readonly errors: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
  readonly uses: readonly { readonly attributes: readonly { readonly name: string }[] }[];
  readonly version: string;
  readonly refused: readonly object[];
}

interface Instance {
  readonly app: App;
  call(path: string, body: object, status?: number): Promise<Answer>;
  /** The bytes of an answer. */
  bytes(query?: string, user?: string): Promise<string>;
  order(query?: string, user?: string): Promise<string>;
  /** The attributes that the plan in service reads. */
  reads(): readonly string[];
  close(): Promise<void>;
}

async function start(root: string, env: Readonly<Record<string, string>>): Promise<Instance> {
  const app = await createApp(loadSettings(env, { project: root }), { logger: pino({ level: 'silent' }) });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const candidates = ['a', 'b', 'c'].map((product_id, at) => ({ product_id, found: 3 - at }));
  const bytes = async (query = '', user = 'u1'): Promise<string> => {
    const answer = await fetch(`${url}/api/v1/search${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ request_id: 'r1', candidates, category: 'tv', user: { user_id: user } }),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(200);
    return text;
  };
  return {
    app,
    call: async (path, body, wanted = 200) => {
      const { status, json } = await post(`${url}/api/v1/${path}`, body);
      expect(status, JSON.stringify(json)).to.equal(wanted);
      return json as unknown as Answer;
    },
    bytes,
    order: async (query, user) => {
      const { ranked_candidates: ranked } = JSON.parse(await bytes(query, user)) as {
        ranked_candidates: { candidate_id: string }[];
      };
      return ranked.map(({ candidate_id: id }) => id).join('');
    },
    reads: () => JSON.stringify(app.pipelines[0]?.describe()).match(/(?:product|user)[.][a-z.0-9]+/g) ?? [],
    close: async () => {
      await server.close(0);
      await app.close();
    },
  };
}

/** Rules of a list that put candidates with a condition first. */
const first = (where: string, list = 'campaigns'): object => ({
  list,
  rules: [{ boost: { where, add: 9 } }],
});
const draft = (where: string, name = 'one', list = 'campaigns'): object => ({
  list,
  draft: name,
  campaigns: { tv: { on: { category: ['tv'] }, boost: { where, add: 9 } } },
});

for (const store of ['embedded', 'redis'] as const)
  describeWith(
    store === 'redis' ? 'redis-server' : [],
    `rules that name what the plan does not read, on the ${store} store`,
    () => {
      let redis: PrivateRedis | undefined;
      let root = '';
      let data = '';
      let anna: Instance;
      let ben: Instance;

      before(async () => {
        if (store === 'redis') redis = await startRedisServer();
        root = await writeProject(FILES);
        data = await mkdtemp(join(tmpdir(), 'millrace-columns-'));
        const env = {
          MILLRACE_STORE: store,
          MILLRACE_DATA_DIR: data,
          MILLRACE_RELOAD_POLL_MS: '30',
          MILLRACE_QUEUE_MS: '30000', // a busy machine is no overload
          MILLRACE_PREFIX: `t${Date.now()}`,
          ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        };
        anna = await start(root, env);
        // One process owns the folder of an embedded store.
        ben = redis === undefined ? anna : await start(root, env);
        const upload = (entity_type: string, entities: object[]): Promise<unknown> =>
          anna.call('entities/upload', { entity_type, entities });
        await upload('brand', [{ brand_id: 'lumen', country: 'DE' }]);
        await upload('user', [{ user_id: 'u1', tier: 'gold' }]);
        await upload('product', [
          { product_id: 'a', margin: 0.1, tags: ['old'] },
          { product_id: 'b', margin: 0.3, tags: ['new'], brand: 'lumen', cost: 7 },
          { product_id: 'c', margin: 0.5, n0: 4 },
        ]);
      });
      after(async () => {
        await anna.close();
        if (ben !== anna) await ben.close();
        await rm(root, { recursive: true, force: true });
        await rm(data, { recursive: true, force: true });
        await redis?.remove();
      });
      afterEach(async () => {
        for (const list of ['campaigns', 'more']) await anna.call('curation/put', { list, rules: [] });
        for (const one of [anna, ben]) await until(async () => (await one.order()) === 'abc');
      });

      for (const [where, order] of [
        ['product.margin >= 0.5', 'cab'],
        ['"new" in product.tags', 'bac'],
        ['product.brand.country == "DE"', 'bac'],
        ['product.brand == "lumen"', 'bac'],
        ['user.tier == "gold" and product.n0 > 3', 'cab'],
        ['product == "b"', 'bac'],
      ] as const)
        it(`make the plan of every instance anew, and back: ${where}`, async () => {
          expect(await anna.order()).to.equal('abc');
          const before = anna.reads();
          await anna.call('curation/put', first(where));
          expect(await anna.order()).to.equal(order);
          await until(async () => (await ben.order()) === order);
          await anna.call('curation/put', { list: 'campaigns', rules: [] });
          expect(await anna.order()).to.equal('abc');
          expect(anna.reads()).to.deep.equal(before);
          await until(async () => (await ben.order()) === 'abc');
        });

      it('see an upload of the value at once, also if the entities are kept decoded', async () => {
        await anna.call('curation/put', first('product.margin >= 0.5'));
        await until(async () => (await ben.order()) === 'cab');
        for (const margin of [0.1, 0.7]) {
          await anna.call('entities/upload', {
            entity_type: 'product',
            entities: [{ product_id: 'c', margin, n0: 4 }],
          });
          const order = margin > 0.5 ? 'cab' : 'abc';
          expect(await anna.order()).to.equal(order);
          await until(async () => (await ben.order()) === order);
        }
      });

      it('use conditions on the request and the user, also to bring a product', async () => {
        const rules = [{ when: 'user.tier == "gold"', hide: ['a'] }];
        await anna.call('curation/put', { list: 'campaigns', rules });
        expect(await anna.order()).to.equal('bc');
        expect(await anna.order('', 'u2')).to.equal('abc');
        await anna.call('curation/put', { list: 'campaigns', rules: [] });
        const on = { category: ['tv'], when: 'user.tier == "gold"' };
        const bring = { list: 'campaigns', draft: 'bring', campaigns: { tv: { on, pin: { 1: 'z' } } } };
        await anna.call('curation/draft/put', bring);
        expect([await anna.order('?draft=bring'), await anna.order()]).to.deep.equal(['zabc', 'abc']);
        await anna.call('curation/publish', { list: 'campaigns', draft: 'bring' });
        expect([await anna.order(), await anna.order('', 'u2')]).to.deep.equal(['zabc', 'abc']);
        await anna.call('curation/draft/put', { ...bring, campaigns: { tv: null } });
        await anna.call('curation/publish', { list: 'campaigns', draft: 'bring' });
      });

      it('are previewed in drafts, byte for byte as they are served after publishing', async () => {
        const before = await anna.bytes();
        await anna.call('curation/draft/put', draft('product.margin >= 0.5'));
        const previewed = await ben.bytes('?draft=one');
        expect(previewed).to.not.equal(before);
        expect(await anna.bytes()).to.equal(before);
        await anna.call('curation/publish', { list: 'campaigns', draft: 'one' });
        expect(await anna.bytes()).to.equal(previewed);
        await until(async () => (await ben.bytes()) === previewed);
        // Without the campaign, the plan of the preview is the one as it was compiled.
        await anna.call('curation/draft/put', { list: 'campaigns', draft: 'none', campaigns: { tv: null } });
        expect(await ben.bytes('?draft=none')).to.equal(before);
        expect(await anna.bytes()).to.equal(previewed);
        await anna.call('curation/publish', { list: 'campaigns', draft: 'none' });
        expect(await anna.bytes()).to.equal(before);
      });

      it('of two lists of one pipeline share a plan, in service and in a preview', async () => {
        await anna.call('curation/put', first('product.margin >= 0.5'));
        await anna.call('curation/put', first('"new" in product.tags', 'more'));
        expect(await anna.order()).to.equal('bca');
        await anna.call('curation/draft/put', draft('product.n0 > 3', 'both'));
        await anna.call('curation/draft/put', draft('"old" in product.tags', 'both', 'more'));
        const previewed = await anna.bytes('?draft=both');
        for (const list of ['campaigns', 'more'])
          await anna.call('curation/publish', { list, draft: 'both' });
        expect(await anna.bytes()).to.equal(previewed);
        await anna.call('curation/put', { list: 'campaigns', rules: [] });
        for (const list of ['campaigns', 'more']) {
          const gone = { list, draft: 'gone', campaigns: { tv: null } };
          await anna.call('curation/draft/put', gone);
          await anna.call('curation/publish', { list, draft: 'gone' });
        }
        expect(await anna.order()).to.equal('bac');
      });

      it('answer requests meanwhile, each with the rules before or after', async () => {
        const orders = new Set<string>();
        let isDone = false;
        const asking = [1, 2].map(async () => {
          while (!isDone) {
            orders.add(await anna.order());
            await pause(2);
          }
        });
        for (let times = 0; times < 5; times++) {
          await anna.call('curation/put', first('product.margin >= 0.5'));
          await anna.call('curation/put', first('"new" in product.tags'));
          await anna.call('curation/put', { list: 'campaigns', rules: [] });
        }
        isDone = true;
        await Promise.all(asking);
        expect(
          [...orders].every((one) => ['abc', 'cab', 'bac'].includes(one)),
          [...orders].join(),
        ).to.equal(true);
      });

      for (const [why, where, code, detail] of [
        ['an unknown attribute', 'product.margn > 1', 'unknown_attribute', 'did you mean `product.margin`?'],
        ['an unknown entity', 'shelf.height > 1', 'unknown_name', 'nothing here is called `shelf`'],
        ['a private attribute', 'product.cost > 1', 'private_value', 'list it under `reads`'],
        ['a vector', 'known(product.shape)', 'expression_type', 'list it under `reads`'],
        [
          'too many references',
          'product.related.related.brand.country == "DE"',
          'unknown_name',
          'at most 2 references',
        ],
        [
          'too many columns',
          MANY.map((name) => `product.${name} > 1`).join(' or '),
          'added_columns',
          `at most ${ADDED_LIMITS.columns} can be added; name fewer attributes`,
        ],
      ] as const)
        it(`are refused with the place, and change nothing, for ${why}`, async () => {
          const { version } = await anna.call('curation/get', { list: 'campaigns' });
          const refused = await anna.call('curation/put', first(where), 422);
          expect(refused.errors).to.have.length(1);
          expect(refused.errors[0]).to.deep.include({ pointer: '/rules/0', code });
          expect(refused.errors[0]?.detail).to.contain(detail);
          const drafted = await anna.call('curation/draft/put', draft(where, 'wrong'), 422);
          expect(drafted.errors[0]).to.deep.include({ pointer: '/campaigns/tv/boost', code });
          expect((await anna.call('curation/get', { list: 'campaigns' })).version).to.equal(version);
          expect(await anna.order()).to.equal('abc');
        });

      it('count the columns of all lists of a pipeline', async () => {
        const [one = '', ...most] = MANY;
        await anna.call('curation/put', first(most.map((name) => `product.${name} > 1`).join(' or ')));
        const refused = await anna.call('curation/put', first(`product.${one} > 1`, 'more'), 422);
        expect(refused.errors[0]).to.deep.include({ pointer: '/rules/0', code: 'added_columns' });
        await anna.call('curation/put', { list: 'campaigns', rules: [] });
        await anna.call('curation/put', first(`product.${one} > 3`, 'more'));
        expect(await anna.order()).to.equal('cab');
      });

      it('can come from a changed file', async () => {
        const path = join(root, 'curation/more.yaml');
        await writeFile(
          path,
          'curation: more\nrules:\n  - boost: { where: product.margin < 0.4, add: 2.5 }\n',
        );
        await until(async () => (await anna.order()) === 'abc' && anna.reads().includes('product.margin'));
        await writeFile(path, FILES['curation/more.yaml']);
        await until(() => Promise.resolve(!anna.reads().includes('product.margin')));
      });

      it('can name what the builder of the workbench offers', async () => {
        const { uses } = await anna.call('curation/get', { list: 'campaigns' });
        const names = uses[0]?.attributes.map(({ name }) => name) ?? [];
        expect(names).to.include.members([
          'product.margin',
          'product.tags',
          'product.brand',
          'product.found',
        ]);
        expect(names).to.not.include.members(['product.cost']);
        expect(names).to.not.include.members(['product.shape']);
      });
    },
  );
