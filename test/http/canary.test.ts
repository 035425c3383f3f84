import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { request } from 'undici';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { createRequestBodies } from '../support/canary-bodies.js';
import { listen, type HttpServer } from '../../runtime/serve/http/listen.js';
import { routesOf } from '../../runtime/serve/http/routes.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { lz4 } from '../support/lz4-frame.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { writeProject } from '../support/project.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

/** Looks for secrets and private values in everything that the service and its commands print. */

const FILES = {
  'schemas/entities/user.yaml': `entity: user
attributes:
  email: { type: string, private: true }
  age: { type: int, private: true }
  doctor: { type: ref(doctor), private: true }
  tags: { type: list(string), private: true }
  home: { type: { record: { street: string } }, private: true }
  city: string
`,
  'schemas/entities/doctor.yaml': 'entity: doctor\nattributes: { field: string }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, cost: { type: float, private: true }, brand: ref(brand) }\n',
  'schemas/features/user_stats.yaml':
    'view: user_stats\nof: [user]\nhistory: true\nfeatures: { note: { type: string, private: true }, spent: { type: float, private: true, default: 0 }, orders: int }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: user }
features: [user_stats]
define: { mail: user.email, years: user.age }
components:
  - use: interaction
    as: history
    with: { of: user, with: product.brand, outputs: { clicks: { event: click, window: 30d } } }
  - use: filter
    with: { keep: mail != "a" and user.city != "b" and user.doctor.field != "c" and user_stats:note != "d" and user.home.street != "e" and count(user.tags) >= 0 }
  - use: score
    with: { value: product.price - product.cost + years + user_stats:spent + history:clicks }
`,
  'pipelines/risk.yaml': `pipeline: risk
score: user
components:
  - use: score
    with: { value: user.age / 3 }
answer: { mail: user.email, place: user.city }
`,
};

/** The values that nothing may print. Each is a text, or a number whose digits are searched for. */
const PRIVATE_TEXTS = [
  'emailcanary',
  'doctorcanary',
  'tagcanary',
  'streetcanary',
  'notecanary',
  'fieldcanary',
];
const PRIVATE_NUMBERS = ['918273645', '827364591', '736459182'];
const PASSWORD = 'passwordcanary';
const SALT = 'saltcanary-saltcanary';
const SECRETS = [...PRIVATE_TEXTS, ...PRIVATE_NUMBERS, PASSWORD, 'saltcanary'];
/** A public value: that the search finds it shows that the search works. */
const PUBLIC = 'citycanary';

const USER = {
  ...{ user_id: 'user-1', email: 'emailcanary@example.org', age: 918273645, doctor: 'doctorcanary' },
  ...{ tags: ['tagcanary'], home: { street: 'streetcanary 1' }, city: PUBLIC },
};
const ROW = { user_id: 'user-1', note: 'notecanary', spent: 827364591 };

const PLANTED = {
  ...{ user: USER, row: ROW },
  hidden: new Set(['email', 'age', 'doctor', 'tags', 'home', 'note', 'spent']),
};

/** Routes that return stored values to those who may read them: the answers of requests that succeed are not searched. */
const READS: ReadonlySet<string> = new Set([
  ...['/api/v1/entities/get', '/api/v1/entities/scan', '/api/v1/features/scan'],
  ...['/feature/get-online-features', '/api/v1/risk'],
]);

/** Commands whose output or file is a copy of stored values, or that never end. */
const COPIES: ReadonlySet<string> = new Set([
  ...['entities export', 'features export', 'store backup', 'store restore', 'text-stats'],
  ...['entities get', 'features get'],
  ...['serve', 'dev', 'demo', 'consume', 'features import-feast', 'store repair'],
]);

interface Output {
  readonly of: string;
  readonly text: string;
}

function leaks(outputs: readonly Output[], texts: readonly string[]): string[] {
  return outputs.flatMap(({ of, text }) =>
    texts
      .filter((secret) => text.includes(secret))
      .map((secret) => `${secret} in ${of}: ${text.slice(0, 2000)}`),
  );
}

describeWith('redis-server', 'canaries', function () {
  this.timeout(120_000);
  let redis: PrivateRedis;
  let root = '';
  let app: App;
  let server: HttpServer;
  let env: Record<string, string>;
  const log: string[] = [];
  const recorded = memoryLedger();

  before(async function () {
    redis = await startRedisServer(['--requirepass', PASSWORD]);
    root = await writeProject(FILES);
    const url = redis.url.replace('redis://', `redis://:${PASSWORD}@`);
    env = {
      ...{ REDIS_URL: url, MILLRACE_ID_SALT: SALT, MILLRACE_HASH_IDS: 'user' },
      ...{ MILLRACE_PROJECT: root, LOG_LEVEL: 'debug' },
    };
    const settings = loadSettings(env);
    const logger = pino({ level: 'debug' }, { write: (line: string) => log.push(line) });
    app = await createApp(settings, { logger, ledger: recorded.ledger });
    server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    await fill();
  });
  after(async () => {
    await (server as HttpServer | undefined)?.close(0);
    await (app as App | undefined)?.close();
    await (redis as PrivateRedis | undefined)?.remove();
    await rm(root, { recursive: true, force: true });
  });

  const fill = async (): Promise<void> => {
    await app.entities.upload({ entity_type: 'user', entities: [USER] });
    const doctor = { doctor_id: 'doctorcanary', field: 'fieldcanary' };
    await app.entities.upload({ entity_type: 'doctor', entities: [doctor] });
    const product = { product_id: 'product-1', price: 2, cost: 736459182, brand: 'brand-1' };
    await app.entities.upload({ entity_type: 'product', entities: [product] });
    await app.features.push({ view: 'user_stats', rows: [ROW] });
  };

  const send = async (
    method: 'GET' | 'POST',
    path: string,
    body?: string,
    type = 'application/json',
  ): Promise<Output> => {
    const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
      method,
      ...(body === undefined ? {} : { body, headers: { 'content-type': type } }),
    });
    const text = await answer.body.text();
    const [route = ''] = path.split('?');
    const isRead = answer.statusCode === 200 && READS.has(route);
    const headers = JSON.stringify(Object.entries(answer.headers));
    return {
      of: `${method} ${path} ${answer.statusCode} ← ${body?.slice(0, 300) ?? ''}`,
      text: headers + (isRead ? '' : text),
    };
  };

  /** Every route with good and bad bodies, which carry the canaries. */
  const everyRoute = async (): Promise<Output[]> => {
    const outputs: Output[] = [];
    for (const route of routesOf(app.pipelines)) {
      outputs.push(await send(route.method === 'GET' ? 'POST' : 'GET', route.path));
      if (route.method === 'GET') {
        outputs.push(await send('GET', route.path));
        continue;
      }
      const api = {
        ...{
          pipelines: app.pipelines,
          entityTypes: app.config.entities,
          views: app.config.views,
          eventKinds: app.config.events,
          curationLists: ['campaigns'],
          counterNames: ['clicked'],
          experimentNames: ['popularity'],
        },
        version: '1',
      };
      for (const body of createRequestBodies(route.body.examples(api), PLANTED))
        outputs.push(await send('POST', route.path, body));
      outputs.push(await send('POST', route.path, '{"email":"emailcanary', 'application/json'));
      outputs.push(await send('POST', route.path, '{"email":"emailcanary"} emailcanary'));
      outputs.push(await send('POST', route.path, '{"age":918273645}', 'text/plain'));
    }
    const large = `{"email":"${'emailcanary'.repeat(2_000_000)}"}`;
    outputs.push(await send('POST', '/api/v1/search', large));
    outputs.push(await send('GET', '/nothing/emailcanary?email=emailcanary'));
    return outputs;
  };
  const explanation = (): Promise<Output> =>
    send(
      'POST',
      '/api/v1/search/explain',
      JSON.stringify({
        ...{ request_id: 'r', user: { user_id: 'user-1' }, candidates: [{ product_id: 'product-1' }] },
        include_events: true,
      }),
    );

  it('are found in a public attribute, in explanations and in events', async () => {
    const shown = await explanation();
    const { explanation: page, events } = {
      explanation: JSON.parse(shown.text.slice(shown.text.indexOf('{'))) as Record<string, unknown>,
      events: shown.text.slice(shown.text.indexOf('"events"')),
    };
    expect(JSON.stringify(page['request'])).to.include(PUBLIC);
    expect(events).to.include(PUBLIC);
    expect(leaks([shown], [PUBLIC])).to.have.length(1);
    expect(leaks([shown], SECRETS)).to.deep.equal([]);
  });

  it('are in no record of feedback and rows, nor are the ids of types that are hidden', async () => {
    const event = { type: 'click', product: { product_id: 'product-1', cost: 736459182 } };
    await app.feedback.record({ request_id: 'r-ledger', user: USER, events: [event] });
    await app.features.push({ view: 'user_stats', rows: [{ ...ROW, orders: 5 }] });
    const found = await recorded.records();
    expect(new Set(found.map(({ kind }) => kind))).to.deep.equal(new Set(['feedback', 'history']));
    const text = JSON.stringify(
      found.map((record) => [record.schema, record.schema.columns.map(({ name }) => cellsOf(record, name))]),
    );
    expect(text).to.include('product-1').and.to.include('h_');
    expect(leaks([{ of: 'the ledger', text }], [...SECRETS, 'user-1'])).to.deep.equal([]);
  });

  it('are in no answer, no error, no metric and no line of the log', async () => {
    const outputs = await everyRoute();
    expect(outputs.length).to.be.greaterThan(100);
    const statuses = new Set(outputs.map(({ of }) => / (\d{3}) ←/.exec(of)?.[1]));
    expect([...statuses]).to.include.members(['200', '400', '404', '405', '413', '415', '422']);
    expect(leaks(outputs, SECRETS).slice(0, 3)).to.deep.equal([]);
    expect(log.length).to.be.greaterThan(100);
    expect(leaks([{ of: 'the log', text: log.join('') }], [...SECRETS, 'user-1', PUBLIC])).to.deep.equal([]);
  });

  it('are in no answer and no line of the log while records are damaged and the store is lost', async () => {
    await fill();
    const client = new Redis(redis.url, { password: PASSWORD });
    client.on('error', () => undefined);
    const keys = await client.keys('millrace:*');
    for (const key of keys.filter((name) => !name.includes(':schema:'))) {
      const record = await client.getBuffer(key);
      if (record === null) continue;
      record.fill(0xee, Math.min(8, record.length), Math.min(16, record.length));
      await client.set(key, record);
    }
    client.disconnect();
    const damaged = [
      await send('POST', '/api/v1/entities/get', '{"entity_type":"user","entity_ids":["user-1"]}'),
      ...(await everyRoute()),
    ];
    expect(damaged[0]?.of).to.include(' 500 ');
    await redis.stop();
    const lost = await everyRoute().finally(() => redis.start());
    expect(lost.some(({ of }) => of.includes(' 503 '))).to.equal(true);
    expect(leaks([...damaged, ...lost], SECRETS).slice(0, 3)).to.deep.equal([]);
    expect(leaks([{ of: 'the log', text: log.join('') }], [...SECRETS, 'user-1', PUBLIC])).to.deep.equal([]);
  });

  it('are in no output of a command', async () => {
    const bad = [
      { ...USER, email: 918273645, age: 'emailcanary', tags: 'tagcanary', home: 'streetcanary' },
      { ...USER, user_id: null },
      { ...USER, doctor: { id: 'doctorcanary' } },
    ];
    const users = join(root, 'users.jsonl');
    await writeFile(
      users,
      `${[USER, ...bad].map((row) => JSON.stringify(row)).join('\n')}\n{"email":"emailcanary\n`,
    );
    const csv = join(root, 'users.csv');
    await writeFile(
      csv,
      'user_id,email,age\nuser-1,emailcanary,emailcanary\nuser-2,"emailcanary,918273645\n',
    );
    const rows = join(root, 'rows.jsonl');
    await writeFile(rows, `${JSON.stringify({ ...ROW, spent: 'notecanary', note: 827364591 })}\n`);
    const judgments = join(root, 'judgments.csv');
    await writeFile(judgments, 'query,product_id,grade\nq,product-1,2\n');
    const body = join(root, 'body.json');
    const ranking = {
      user: USER,
      candidates: [{ product_id: 'product-1', cost: 736459182 }],
      include_events: true,
    };
    await writeFile(body, JSON.stringify(ranking));
    const wrong = join(root, 'wrong.json');
    await writeFile(wrong, JSON.stringify({ ...ranking, user: bad[0] }));
    const old = `redis://:${PASSWORD}@127.0.0.1:${redis.port}`;
    const client = new Redis(old);
    for (const [i, user] of [USER, ...bad].entries())
      await client.set(`old:user:user-${i}`, lz4(JSON.stringify({ ...user, user_id: `user-${i}` })));
    await client.set('old:user:damaged', lz4(JSON.stringify(USER)).subarray(0, 60));
    client.disconnect();
    const lines: readonly (readonly string[])[] = [
      ['validate'],
      ['plan', 'search'],
      ['types'],
      ['test'],
      ['experiments', 'list'],
      ['counters', 'rebuild', 'clicks'],
      ['shadow', 'search', '--against', 'search'],
      ['ledger', 'propensities'],
      ['schemas', '--write', '--out', join(root, 'schemas')],
      ['plugins'],
      ['new', 'view', 'a_view', '--project', join(root, 'unused')],
      ['entities', 'load', 'user', users],
      ['entities', 'load', 'user', csv],
      ['entities', 'delete', 'user', 'user-9'],
      ['entities', 'import-wyvern', '--redis', old, '--prefix', 'old:'],
      ['entities', 'import-wyvern', '--redis', old.replace(PASSWORD, `${PASSWORD}x`)],
      ['init', join(root, 'new'), '--metarank', wrong, '--events', users],
      ['features', 'load', 'user_stats', rows],
      ['features', 'delete', 'user_stats', '--key', 'user_id=user-1'],
      ['rank', 'search', '--explain', body],
      ['rank', 'search', '--explain', '--json', body],
      ['rank', 'search', wrong],
      ['store', 'check'],
      ['store', 'trim'],
      ['store', 'forget', 'user', 'user-1'],
      ['reload', '--url', 'http://127.0.0.1:1'],
      ['rollback', '--url', 'http://127.0.0.1:1'],
      ['curation', 'upload', 'campaigns', csv, '--draft', 'a', '--url', 'http://127.0.0.1:1'],
      ['curation', 'export', 'campaigns', '--url', 'http://127.0.0.1:1'],
      ['settings'],
      ['settings', '--json'],
      ['keys', 'create', 'shop', '--scope', 'rank', '--keys-file', join(root, 'keys.json')],
      ['keys', 'invite', 'anna', '--role', 'scientist', '--keys-file', join(root, 'keys.json')],
      ['keys', 'list', '--keys-file', join(root, 'keys.json')],
      ['workbench', '--url', 'http://127.0.0.1:9'],
      ['keys', 'revoke', 'shop', '--keys-file', join(root, 'keys.json')],
      ['evaluate', 'search', '--judgments', judgments],
      ['diff', 'search', 'search', '--requests', body],
      ['tune', 'search', '--judgments', judgments],
      ['ledger', 'cat'],
      ['ledger', 'stats'],
      ['ledger', 'replay'],
      ['ledger', 'compact', '--out', join(root, 'parquet')],
      ['ledger', 'import', csv, '--rejected', join(root, 'rejected.jsonl')],
      ['feedback', 'load', csv, '--map', 'ga4', '--rejected', join(root, 'told.jsonl')],
      ['dataset', 'build', '--out', join(root, 'data')],
      ['train', 'search:score', '--data', join(root, 'data'), '--out', join(root, 'model.txt')],
    ];
    const groups = ['curation', 'entities', 'features', 'feedback', 'store', 'keys', 'ledger', 'dataset'];
    const help = await Promise.all(
      ['', ...groups].map((name) => millrace([...(name ? [name] : []), '--help'])),
    );
    const commands = ['', ...groups].flatMap((name, i) =>
      [...(help[i]?.stdout.split(/^Commands:$/m)[1] ?? '').matchAll(/^ {2}([a-z][a-z-]+)(?= |$)/gm)]
        .map(([, command = '']) => `${name} ${command}`.trim())
        .filter((command) => !/(?:^| )help$/.test(command) && !groups.includes(command)),
    );
    const tried = new Set(lines.map((line) => commands.find((name) => line.join(' ').startsWith(name))));
    expect(
      commands.filter((name) => !tried.has(name) && !COPIES.has(name)),
      'commands without a line',
    ).to.deep.equal([]);
    const outputs: Output[] = [];
    for (const line of lines) {
      const { stdout, stderr, code } = await millrace(line, { env });
      outputs.push({ of: `millrace ${line.join(' ')} (${code})`, text: stdout + stderr });
    }
    for (const broken of [
      { REDIS_URL: `redis://:${PASSWORD}@127.0.0.1:nonsense` },
      { REDIS_URL: `redis://:${PASSWORD}x@127.0.0.1:${redis.port}` },
      { REDIS_URL: `http://user:${PASSWORD}@127.0.0.1` },
      { MILLRACE_ID_SALT: 'saltcanary' },
    ]) {
      const { stdout, stderr, code } = await millrace(['store', 'check'], { env: { ...env, ...broken } });
      expect(code).not.to.equal(0);
      outputs.push({ of: `millrace with ${JSON.stringify(broken)}`, text: stdout + stderr });
    }
    expect(outputs.find(({ of }) => of.includes('--explain --json'))?.text).to.include(PUBLIC);
    expect(leaks(outputs, SECRETS).slice(0, 3)).to.deep.equal([]);
  });
});
