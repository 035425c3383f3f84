import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MOST_DRAFTS, MOST_PUBLISHES } from '../../runtime/state/curation/draft-answers.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/served-project.js';
import { describeWith } from '../support/needs.js';
import { post } from './harness.js';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, category: optional(string) }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: campaigns } }
`,
  'curation/campaigns.yaml':
    'curation: campaigns\ncampaigns:\n  of_file: { on: { category: [x] }, hide: [a] }\n',
};

interface Change {
  readonly campaign: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly keys: readonly string[];
}

interface Answer {
  readonly publish: string | null;
  readonly version: string;
  readonly code: string;
  readonly detail: string;
  readonly campaigns: Record<string, unknown>;
  readonly conflicts: readonly unknown[];
  readonly changes: readonly Change[];
  readonly drafts: readonly (Omit<Answer, 'drafts'> & { readonly draft: string })[];
  readonly publishes: readonly Answer[];
  readonly undoes: string | null;
}

interface Instance {
  readonly url: string;
  /** @param status that the answer must have */
  call(path: string, body: object, status?: number): Promise<Answer>;
  order(query?: string): Promise<string>;
  close(): Promise<void>;
}

async function start(root: string, env: Readonly<Record<string, string>>): Promise<Instance> {
  const app = await createApp(loadSettings(env, { project: root }), { logger: pino({ level: 'silent' }) });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const candidates = ['a', 'b', 'c'].map((product_id, at) => ({ product_id, found: 3 - at }));
  return {
    url,
    call: async (path, body, wanted = 200) => {
      const { status, json } = await post(`${url}/api/v1/curation/${path}`, { list: 'campaigns', ...body });
      expect(status, JSON.stringify(json)).to.equal(wanted);
      return json as unknown as Answer;
    },
    order: async (query = '') => {
      const { status, json } = await post(`${url}/api/v1/search${query}`, { candidates, category: 'tv' });
      expect(status, JSON.stringify(json)).to.equal(200);
      const { ranked_candidates: ranked } = json as { ranked_candidates: { candidate_id: string }[] };
      return ranked.map(({ candidate_id: id }) => id).join('');
    },
    close: async () => {
      await server.close(0);
      await app.close();
    },
  };
}

const first = (id: string): object => ({ on: { category: ['tv'] }, pin: { 1: id } });
const hiding = (id: string): object => ({ on: { category: ['tv'] }, hide: [id] });

for (const store of ['embedded', 'redis'] as const)
  describeWith(store === 'redis' ? 'redis-server' : [], `drafts of a list, on the ${store} store`, () => {
    let redis: PrivateRedis | undefined;
    let root = '';
    let data = '';
    let env: Record<string, string> = {};
    let anna: Instance;
    let ben: Instance;

    before(async () => {
      if (store === 'redis') redis = await startRedisServer();
    });
    after(() => redis?.remove());
    beforeEach(async () => {
      root = await writeProject(FILES);
      data = await mkdtemp(join(tmpdir(), 'millrace-drafts-'));
      env = {
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
    });
    afterEach(async () => {
      await anna.close();
      if (ben !== anna) await ben.close();
      await rm(root, { recursive: true, force: true });
      await rm(data, { recursive: true, force: true });
    });

    it('stand side by side, serve nobody until they are published, and are then gone', async () => {
      await anna.call('draft/put', { draft: 'one', campaigns: { tv: first('c') }, note: 'soon' });
      await ben.call('draft/put', { draft: 'two', campaigns: { audio: hiding('b') } });
      expect(await anna.order()).to.equal('abc');
      const { drafts } = await ben.call('draft/get', {});
      expect(drafts.map(({ draft, changes }) => [draft, changes.map(({ keys }) => keys)])).to.deep.equal([
        ['one', [['on', 'pin']]],
        ['two', [['on', 'hide']]],
      ]);
      const { publish, changes } = await anna.call('publish', { draft: 'one' });
      expect(publish).to.match(/^1-[0-9a-f]{6}$/);
      expect(changes.map(({ campaign, before }) => [campaign, before])).to.deep.equal([['tv', null]]);
      expect(await anna.order()).to.equal('cab');
      await until(async () => (await ben.order()) === 'cab');
      expect((await ben.call('draft/get', {})).drafts.map(({ draft }) => draft)).to.deep.equal(['two']);
      expect((await anna.call('publish', { draft: 'one' }, 404)).code).to.equal('unknown_draft');
      await anna.call('put', { rules: [{ hide: ['a'] }] });
      expect((await anna.call('get', {})).campaigns).to.deep.equal({ tv: first('c') });
      expect(await anna.order()).to.equal('cb');
    });

    it('are previewed as they will be served, whatever is in service, and leave nothing', async () => {
      await anna.call('draft/put', {
        draft: 'one',
        campaigns: { tv: { ...first('c'), from: '2026-11-27' } },
      });
      const at = (time: string): string => `?draft=one&at=${encodeURIComponent(time)}`;
      expect(await ben.order(at('2026-11-28T20:00+01:00'))).to.equal('cab');
      expect(await ben.order(at('2026-11-26T20:00+01:00'))).to.equal('abc');
      expect(await ben.order()).to.equal('abc');
      await anna.call('draft/put', { draft: 'one', campaigns: { tv: first('b') } });
      expect(await ben.order('?draft=one')).to.equal('bac');
      const unknown = await post(`${ben.url}/api/v1/search?draft=none`, { candidates: [], category: 'tv' });
      expect(unknown.status).to.equal(404);
      const wrong = await post(`${ben.url}/api/v1/search?at=friday`, { candidates: [], category: 'tv' });
      expect(wrong.status).to.equal(422);
      const counted = async (): Promise<string> => {
        const metrics = await (await fetch(`${ben.url}/metrics`)).text();
        return metrics
          .split('\n')
          .filter((line) => line.includes('pipeline="search"'))
          .join('\n');
      };
      const before = await counted();
      expect(before).not.to.equal('');
      await ben.order('?draft=one');
      expect(await counted()).to.equal(before);
      await ben.order();
      expect(await counted()).not.to.equal(before);
    });

    it('refuse to overwrite what others published since, and name both sides', async () => {
      await anna.call('draft/put', { draft: 'annas', campaigns: { tv: first('c'), audio: hiding('b') } });
      await ben.call('draft/put', { draft: 'bens', campaigns: { tv: first('b') } });
      const { publish } = await ben.call('publish', { draft: 'bens' });
      const refused = await anna.call('publish', { draft: 'annas' }, 409);
      expect(refused.code).to.equal('curation_conflict');
      expect(refused.detail).to.contain(`tv, which somebody published as ${publish ?? ''}`);
      expect(refused.conflicts[0]).to.deep.include({
        campaign: 'tv',
        yours: first('c'),
        theirs: first('b'),
        publish,
      });
      expect(await ben.order()).to.equal('bac');
      expect((await anna.call('draft/get', { draft: 'annas' })).drafts[0]?.conflicts).to.deep.equal(['tv']);
      await anna.call('draft/put', { draft: 'annas', campaigns: { tv: first('c') }, rebase: true });
      await anna.call('publish', { draft: 'annas' });
      expect(await anna.order()).to.equal('ca');
    });

    it('undo what was published, and nothing else', async () => {
      await anna.call('draft/put', { draft: 'annas', campaigns: { tv: first('c'), gone: hiding('x') } });
      const { publish: annas } = await anna.call('publish', { draft: 'annas' });
      const before = (await anna.call('get', {})).campaigns;
      await anna.call('draft/put', { draft: 'more', campaigns: { tv: first('b'), gone: null } });
      const { publish: more } = await anna.call('publish', { draft: 'more' });
      await ben.call('draft/put', { draft: 'bens', campaigns: { audio: hiding('a') } });
      const { publish: bens } = await ben.call('publish', { draft: 'bens' });
      const refused = await anna.call('undo', { publish: annas }, 409);
      expect(refused.conflicts).to.have.length(1); // the other is removed already
      expect(refused.conflicts[0]).to.deep.include({ campaign: 'tv', yours: null, publish: more });
      const undone = await anna.call('undo', { publish: more });
      expect(undone.undoes).to.equal(more);
      expect(await anna.order()).to.equal('cb');
      expect((await anna.call('get', {})).campaigns).to.deep.equal({ ...before, audio: hiding('a') });
      await ben.call('undo', { publish: bens });
      expect(JSON.stringify((await ben.call('get', {})).campaigns)).to.equal(JSON.stringify(before));
      const { publishes } = await ben.call('history', { most: 3 });
      expect(publishes.map(({ undoes, changes }) => [undoes, changes.length])).to.deep.equal([
        [bens, 1],
        [more, 2],
        [null, 1],
      ]);
      expect((await ben.call('undo', { publish: '9-abcdef' }, 404)).code).to.equal('unknown_publish');
    });

    it('are refused with the place of what is wrong, and change nothing', async () => {
      const put = async (campaigns: object): Promise<string> =>
        JSON.stringify(await anna.call('draft/put', { draft: 'wrong', campaigns }, 422));
      expect(await put({ tv: { pins: { 1: 'a' } } }))
        .to.contain('"/campaigns/tv/pins"')
        .and.to.contain('`pin`');
      expect(await put({ tv: { boost: { where: 'product.prize > 1', add: 1 } } })).to.contain(
        'has no attribute `prize`',
      );
      expect(await put({ 'Black Friday': {} })).to.contain('invalid_name');
      expect(await put({ tv: { hide: ['x'.repeat(40_000)] } })).to.contain('too_long');
      expect((await anna.call('draft/get', {})).drafts).to.deep.equal([]);
      await anna.call('draft/put', { draft: 'twice', campaigns: { of_file: hiding('b') } });
      const twice = JSON.stringify(await anna.call('publish', { draft: 'twice' }, 422));
      expect(twice).to.contain('campaigns:of_file:1');
      const version = (await anna.call('draft/get', { draft: 'twice' })).drafts[0]?.version;
      await ben.call('draft/put', { draft: 'twice', campaigns: { tv: first('b') } });
      const late = await anna.call('publish', { draft: 'twice', version }, 409);
      expect(late.code).to.equal('curation_changed');
      await anna.call('draft/discard', { draft: 'twice', campaigns: ['of_file'] });
      const { drafts } = await anna.call('draft/get', { draft: 'twice' });
      expect(drafts[0]?.changes.map(({ campaign }) => campaign)).to.deep.equal(['tv']);
      await anna.call('draft/discard', { draft: 'twice' });
      await anna.call('draft/get', { draft: 'twice' }, 404);
    });

    it('lose nothing when two editors save and publish at once', async () => {
      const names = Array.from({ length: 12 }, (_, at) => `c${at}`);
      const saved = names.map((name, at) =>
        (at % 2 === 0 ? anna : ben).call('draft/put', { draft: 'both', campaigns: { [name]: hiding(name) } }),
      );
      await Promise.all(saved);
      const all = await anna.call('draft/get', { draft: 'both' });
      expect(all.drafts[0]?.changes.map(({ campaign }) => campaign)).to.have.members(names);
      const others = names.map((name, at) => {
        const editor = at % 2 === 0 ? anna : ben;
        return editor
          .call('draft/put', { draft: `own${at}`, campaigns: { [`${name}_own`]: hiding(name) } })
          .then(() => editor.call('publish', { draft: `own${at}` }));
      });
      await Promise.all([...others, ben.call('publish', { draft: 'both' })]);
      const { campaigns } = await ben.call('get', {});
      expect(Object.keys(campaigns)).to.have.members([...names, ...names.map((name) => `${name}_own`)]);
      const { publishes } = await anna.call('history', { most: MOST_PUBLISHES });
      expect(publishes).to.have.length(names.length + 1);
    });

    it('are as many as the limits say', async function () {
      this.timeout(120_000);
      for (let at = 0; at < MOST_DRAFTS; at++)
        await anna.call('draft/put', { draft: `d${at}`, campaigns: { [`c${at}`]: hiding('x') } });
      const more = await anna.call('draft/put', { draft: 'more', campaigns: { tv: first('b') } }, 422);
      expect(JSON.stringify(more)).to.contain(`the list has ${MOST_DRAFTS} drafts`);
      await anna.call('draft/discard', { draft: 'd0' });
      await anna.call('draft/put', { draft: 'more', campaigns: { tv: first('b') } });
    });
  });
