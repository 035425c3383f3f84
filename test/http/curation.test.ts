import { expect } from 'chai';
import { Redis } from 'ioredis';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { ENOUGH } from '../../runtime/project/config/diagnostics/diagnostics.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until, type LogLine } from '../support/served-project.js';
import { describeWith } from '../support/needs.js';
import { post } from './harness.js';

const PUT = '/api/v1/curation/put';
const GET = '/api/v1/curation/get';
const FILE = 'query,action,target,value\ntv,pin,b,1\n';
const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, brand: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, query: query }
components:
  - use: score
    with: { value: product.found }
  - { use: curation, with: { list: campaigns, reads: [product.price] } }
`,
  'curation/campaigns.csv': FILE,
};
const BODY = {
  candidates: ['a', 'b', 'c', 'd'].map((product_id, row) => ({ product_id, found: 4 - row })),
  query: { query: 'TV' },
};

interface Refusal {
  readonly errors: readonly { readonly pointer: string; readonly code: string }[];
}

interface Instance {
  readonly url: string;
  readonly log: LogLine[];
  order(query?: string): Promise<string>;
  close(): Promise<void>;
}

async function start(root: string, env: Readonly<Record<string, string>>): Promise<Instance> {
  const log: LogLine[] = [];
  const logger = pino({ level: 'info' }, { write: (text) => void log.push(JSON.parse(text) as LogLine) });
  const app = await createApp(loadSettings(env, { project: root }), { logger });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    log,
    order: async (query = 'TV') => {
      const { status, json } = await post(`${url}/api/v1/search`, { ...BODY, query: { query } });
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

for (const store of ['embedded', 'redis'] as const)
  describeWith(
    store === 'redis' ? 'redis-server' : [],
    `rules of a list that change while the service runs, on the ${store} store`,
    () => {
      let redis: PrivateRedis | undefined;
      let root = '';
      let data = '';
      let env: Record<string, string> = {};
      let instances: Instance[] = [];

      before(async function () {
        if (store === 'redis') redis = await startRedisServer();
      });
      after(() => redis?.remove());

      beforeEach(async () => {
        root = await writeProject(FILES);
        data = await mkdtemp(join(tmpdir(), 'millrace-curation-'));
        env = {
          MILLRACE_STORE: store,
          MILLRACE_DATA_DIR: data,
          MILLRACE_RELOAD_POLL_MS: '30',
          MILLRACE_PREFIX: `t${Date.now()}`,
          ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
        };
        instances = [await start(root, env)];
      });
      afterEach(async () => {
        for (const one of instances) await one.close();
        await rm(root, { recursive: true, force: true });
        await rm(data, { recursive: true, force: true });
      });
      const first = (): Instance => {
        const [one] = instances;
        if (one === undefined) throw new Error('there is no instance');
        return one;
      };

      it('warns of rules that meet others, in words of validate, and stores them', async () => {
        const { url } = first();
        const put = async (rules: readonly object[]): Promise<unknown> => {
          const { status, json } = await post(url + PUT, { list: 'campaigns', rules });
          expect(status, JSON.stringify(json)).to.equal(200);
          return (json as { warnings: unknown }).warnings;
        };
        const overFile = {
          rule: 'campaigns:1',
          code: 'contradiction',
          detail:
            'for the query `tv`, campaigns:api:1 pins `c` to position 1 too; the later rule, campaigns:api:1, wins; choose another position, or times that do not overlap',
        };
        const overApi = {
          rule: 'campaigns:api:1',
          code: 'contradiction',
          detail:
            'for the query `tv`, campaigns:1 (line 2) pins `b` to position 1 too; the later rule, campaigns:api:1, wins; choose another position, or times that do not overlap',
        };
        const both = [overFile, overApi];
        expect(await put([{ query: 'tv', match: 'prefix', pin: { 1: 'c' } }])).to.deep.equal(both);
        const { json } = await post(url + GET, { list: 'campaigns' });
        expect((json as { warnings: unknown }).warnings).to.deep.equal(both);
        const two = [
          { query: 'radio', match: 'contains', hide: ['d'] },
          { name: 'best', query: 'old radio', pin: { 2: 'd' } },
        ];
        expect(await put(two)).to.deep.equal([
          {
            rule: 'campaigns:api:best',
            code: 'contradiction',
            detail:
              'the pin does not hold for the query `old radio`: campaigns:api:1 hides `d` there; remove one of the two, or choose times that do not overlap',
          },
        ]);
        expect(await first().order('an old radio')).to.equal('abc');
        const apart = [
          { ...two[0], until: '2020-01-01T00:00Z' },
          { ...two[1], from: '2020-01-01T00:00Z' },
        ];
        expect(await put(apart)).to.deep.equal([]);
        expect(await put([])).to.deep.equal([]);
      });

      it('stores the rules of a request, applies them at once, and has them after a restart', async () => {
        const rules = [
          { query: 'tv', hide: ['a'] },
          { boost: { where: 'product.price > 10', multiply: 3 }, bury: { where: 'product.found < 2' } },
        ];
        expect(await first().order()).to.equal('bacd');
        const answer = await post(first().url + PUT, { list: 'campaigns', rules });
        expect(answer.status, JSON.stringify(answer.json)).to.equal(200);
        expect(answer.json).to.deep.include({
          list: 'campaigns',
          rules: 2,
          file_rules: 1,
          not_in_index: ['a'],
        });
        expect(await first().order()).to.equal('bcd');
        const audit = first().log.find(({ msg }) => msg === 'write');
        expect(audit).to.deep.include({ list: 'campaigns', route: PUT, status: 200 });

        await first().close();
        instances = [await start(root, env)];
        expect(await first().order()).to.equal('bcd');
        const read = await post(first().url + GET, { list: 'campaigns' });
        expect(read.json).to.deep.include({ rules, file_rules: 1, refused: [] });
        await post(first().url + PUT, { list: 'campaigns', rules: [] });
        expect(await first().order()).to.equal('bacd');
      });

      it('changes nothing if one rule of a request is wrong', async () => {
        await post(first().url + PUT, { list: 'campaigns', rules: [{ hide: ['d'] }] });
        const wrong = {
          list: 'campaigns',
          rules: [
            { hide: ['a'] },
            { boost: { where: 'product.brnd == "x"', add: 1 } },
            { query: 'tv', pin: { 1: 'c' } },
            { query: 'tv', from: 'soon', hide: [7] },
          ],
        };
        const { status, json } = await post(first().url + PUT, wrong);
        expect(status).to.equal(422);
        const { errors } = json as unknown as Refusal;
        expect(errors.map(({ pointer, code }) => [pointer, code])).to.deep.include([
          '/rules/3',
          'wrong_type',
        ]);
        const deep = Array.from({ length: 101 }).reduce<unknown>((inner) => [inner], 'a');
        // Each of the first two rules is read alone.
        const many = Array.from({ length: 600 }, (_, index) => `product-${index}`);
        const afterDeep = await post(first().url + PUT, {
          list: 'campaigns',
          rules: [{ hide: [deep, ...many] }, { hide: many }, { hide: ['a'] }, { hide: [7] }],
        });
        expect((afterDeep.json as unknown as Refusal).errors.map(({ pointer }) => pointer)).to.deep.equal([
          '/rules/0',
          '/rules/3',
        ]);
        const unread = await post(first().url + PUT, { ...wrong, rules: wrong.rules.slice(0, 2) });
        expect(JSON.stringify(unread.json)).to.contain('/rules/1').and.to.contain('`product.brand`');
        const conflict = await post(first().url + PUT, { ...wrong, rules: wrong.rules.slice(2, 3) });
        expect(JSON.stringify(conflict.json)).to.contain('contradiction');
        expect(await first().order()).to.equal('bac');
        expect((await post(first().url + PUT, { list: 'campaign', rules: [] })).status).to.equal(404);
        expect((await post(first().url + PUT, { list: 'campaigns' })).status).to.equal(422);
      });

      it('stops where there are enough errors, in reading and in compiling, and says so', async () => {
        const put = async (rule: object, count: number): Promise<readonly unknown[]> => {
          const rules = Array.from({ length: count }, (_, i) => ({ ...rule, when: `f${i}(1)` }));
          const { json } = await post(first().url + PUT, { list: 'campaigns', rules });
          const { detail, violation_count: found } = json as { detail: string; violation_count: number };
          return [found, detail.includes('as far as it was read')];
        };
        for (const rule of [{ hide: ['a'] }, { hide: [7] }]) {
          expect(await put(rule, ENOUGH - 1)).to.deep.equal([ENOUGH - 1, false]);
          expect(await put(rule, 2 * ENOUGH)).to.deep.equal([ENOUGH, true]);
        }
      });

      it('serves the rules that are stored, whichever of several writes at once came last', async () => {
        for (let round = 0; round < 3; round++) {
          const writes = ['b', 'c', 'd', 'a'].map((id) =>
            post(first().url + PUT, { list: 'campaigns', rules: [{ query: 'radio', pin: { 1: id } }] }),
          );
          for (const { status } of await Promise.all(writes)) expect(status).to.equal(200);
          const { json } = await post(first().url + GET, { list: 'campaigns' });
          const [rule] = (json as { rules: { pin: Record<string, string> }[] }).rules;
          expect((await first().order('radio'))[0]).to.equal(rule?.pin['1']);
        }
      });

      it('replaces only the rules of the version that a request names', async () => {
        const put = async (id: string, version?: string): Promise<[number, Record<string, unknown>]> => {
          const rules = [{ query: 'radio', pin: { 1: id } }];
          const { status, json } = await post(first().url + PUT, {
            list: 'campaigns',
            rules,
            ...(version === undefined ? {} : { version }),
          });
          return [status, json as Record<string, unknown>];
        };
        const [created, { version }] = await put('b', '');
        expect(created).to.equal(200);
        const [status, problem] = await put('c', 'other');
        expect([status, problem['code']]).to.deep.equal([409, 'curation_changed']);
        expect(problem['detail']).to.equal(
          'others replaced the rules of the list campaigns: they no longer have the version other',
        );
        const [, late] = await put('c', '');
        expect(late['detail']).to.equal('others stored rules of the list campaigns, which had none');
        expect(await first().order('radio')).to.equal('bacd');
        expect((await put('d', String(version)))[0]).to.equal(200);
        expect(await first().order('radio')).to.equal('dabc');
        const wrong = await post(first().url + PUT, { list: 'campaigns', rules: [], version: 1 });
        expect(JSON.stringify(wrong.json)).to.contain('version: expected a text, found the number 1');
      });

      it('changes nothing if an id is longer than ids can be', async () => {
        const rules = [{ query: 'radio', pin: { 1: 'b', 2: 'x'.repeat(1025) } }];
        const { status, json } = await post(first().url + PUT, { list: 'campaigns', rules });
        expect(status).to.equal(422);
        expect(JSON.stringify(json)).to.contain('"/rules/0"').and.to.contain('at most 1024 characters');
        expect(await first().order('radio')).to.equal('abcd');
        const read = await post(first().url + GET, { list: 'campaigns' });
        expect(read.json).to.deep.include({ rules: [], version: '' });
      });

      it('takes long lists, and says how long one may be', async () => {
        // Together they have more names than a body may have outside its list.
        const rules = Array.from({ length: 900 }, (_, index) => ({
          name: `r${index}`,
          query: `radio ${index}`,
          match: 'prefix',
          until: '2030-01-01',
          pin: { 1: 'd' },
          note: 'season',
          from: '2020-01-01',
          hide: ['a'],
        }));
        const { status, json } = await post(first().url + PUT, { list: 'campaigns', rules });
        expect(status, JSON.stringify(json).slice(0, 400)).to.equal(200);
        expect(await first().order('radio 899')).to.equal('dbc');
        const last = { list: 'campaigns', rules: [...rules, { hide: ['b'] }, { name: 'r0', hide: ['b'] }] };
        expect(JSON.stringify((await post(first().url + PUT, last)).json))
          .to.contain('"/rules/901"')
          .and.to.contain('another rule of the list has the name `r0`');
        const more = { list: 'campaigns', rules: Array.from({ length: 10_001 }, () => ({ hide: ['a'] })) };
        expect(JSON.stringify((await post(first().url + PUT, more)).json)).to.contain(
          'rules: at most 10000, found 10001',
        );
        const hide = Array.from({ length: 2000 }, (_, index) => `product-${index}`);
        const large = { list: 'campaigns', rules: [rules[0], { hide }] };
        expect((await post(first().url + PUT, large)).status).to.equal(200);
        const larger = { list: 'campaigns', rules: [rules[0], { hide: [...hide, ...hide] }] };
        const refused = await post(first().url + PUT, larger);
        expect(refused.status).to.equal(422);
        expect(JSON.stringify(refused.json))
          .to.contain('{"pointer":"/rules/1","code":"too_long"')
          .and.to.match(
            /a rule has at most 32768 characters of JSON, found \d+; divide it into several rules/,
          );
        const odd = { list: 'campaigns', rules: [rules[0], null] };
        expect(JSON.stringify((await post(first().url + PUT, odd)).json)).to.contain(
          '{"pointer":"/rules/1","code":"wrong_type","detail":"expected a rule, found null"}',
        );
      });

      it('takes up a changed file, and keeps the old rules while a file is wrong', async () => {
        const path = join(root, 'curation/campaigns.csv');
        const metric = async (): Promise<string> => {
          const text = await (await fetch(`${first().url}/metrics`)).text();
          const line = /^millrace_curation_refused\{list="campaigns",source="file"\} (\d)$/m.exec(text);
          return line?.[1] ?? '';
        };
        await writeFile(path, 'query,action,target,value\ntv,pin,d,1\n');
        await until(async () => (await first().order()) === 'dabc');
        expect(await metric()).to.equal('0');
        await writeFile(path, 'query,action,target,value\ntv,pin,c,1\ntv,pin,a,one\n');
        const told = (): object | undefined => first().log.find(({ code }) => code === 'wrong_type');
        // The service may first see the file half-written, which is another error.
        await until(async () => told() !== undefined && (await metric()) === '1');
        expect(await first().order()).to.equal('dabc');
        expect(told()).to.deep.include({ file: 'curation/campaigns.csv', line: 3, column: 10 });
        const read = await post(first().url + GET, { list: 'campaigns' });
        expect(JSON.stringify(read.json)).to.contain('"line":3');
        await rm(path);
        expect(await first().order()).to.equal('dabc');
        await writeFile(path, FILE);
        await until(async () => (await metric()) === '0');
        expect(await first().order()).to.equal('bacd');
      });

      if (store === 'redis')
        it('says that rules are not confirmed while Redis refuses writes, and keeps the old ones', async () => {
          const client = new Redis(redis?.url ?? '');
          try {
            await client.config('SET', 'maxmemory', '1');
            const { status, json } = await post(first().url + PUT, { list: 'campaigns', rules: [] });
            expect(status).to.equal(503);
            expect(json).to.include({ code: 'store_out_of_memory' });
            expect(json).to.have.property('detail').that.contains('The list campaigns is not confirmed');
            expect(await first().order()).to.equal('bacd');
          } finally {
            await client.config('SET', 'maxmemory', '0');
            client.disconnect();
          }
        });

      if (store === 'redis')
        it('applies the rules of another instance', async () => {
          instances.push(await start(root, env));
          const [, second] = instances;
          await post(first().url + PUT, { list: 'campaigns', rules: [{ query: 'tv', hide: ['c'] }] });
          await until(async () => (await second?.order()) === 'bad');
          await post(`${second?.url ?? ''}${PUT}`, { list: 'campaigns', rules: [] });
          await until(async () => (await first().order()) === 'bacd');
        });
    },
  );
