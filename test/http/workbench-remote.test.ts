import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { chromium } from 'playwright-core';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { SCOPE_NAMES, type Scope } from '../../runtime/serve/access/scopes.js';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { JUDGE_SHOP, JUDGED_PRODUCTS, serveJudgeShop } from '../support/judge-shop.js';
import { describeWith, findChromium } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { call, post, type Answer } from './harness.js';

const SHOP_NEW = JUDGE_SHOP['pipelines/shop_new.yaml'] ?? '';
const FILES = {
  ...JUDGE_SHOP,
  'pipelines/pinned.yaml': `pipeline: pinned
rank: product
request: { candidates: {}, query: optional(string), category: optional(string) }
components:
  - { use: score, with: { value: '100 - product.price + if(request.category == "tv", 1, 0)' } }
  - { use: curation, with: { list: campaigns } }
log: { candidates: all, features: all, unit: request }
`,
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
  'judgments/test.csv': [
    'query,id,grade,is_new',
    ...['zelt', 'bett', 'tisch'].flatMap((query) =>
      Array.from({ length: 8 }, (_, at) => `${query},p${at},${at === 6 ? 3 : 0},yes`),
    ),
  ].join('\n'),
};
const QUIET = {
  PORT: '0',
  MILLRACE_IMAGE_HOSTS: 'cdn.shop.example',
  MILLRACE_WARM_UP_MS: '0',
  MILLRACE_QUEUE_MS: '30000',
};
const BODY = { query: 'zelt', candidates: { from: 'index', where: 'true' } };

type Keys = Readonly<Record<'boss' | 'newer' | 'ranker', string>>;

/** A service on an embedded store, with keys, and the process of its workbench, which has the key of the boss. */
interface Remote {
  readonly root: string;
  readonly service: RunningService;
  readonly workbench: ServiceProcess;
  readonly keys: Keys;
  close(): Promise<void>;
}

async function startRemote(): Promise<Remote> {
  const root = await writeProject(FILES);
  const made = {
    boss: { scopes: SCOPE_NAMES },
    newer: { scopes: ['explain'] as readonly Scope[], pipelines: ['shop_new'] },
    ranker: { scopes: ['rank'] as readonly Scope[] },
  };
  const created = Object.entries(made).map(([name, more]) => ({ name, ...more, ...createKey() }));
  await writeFile(
    join(root, 'keys.json'),
    keysText(created.map(({ text, ...key }) => ({ ...key, hash: hashOfKey(text), created: Date.now() }))),
  );
  const keys = Object.fromEntries(created.map(({ name, text }) => [name, text])) as Keys;
  const service = await startService(
    loadSettings(
      {
        ...{ ...QUIET, LOG_LEVEL: 'silent', MILLRACE_STORE: 'embedded', MILLRACE_WORKBENCH: 'off' },
        MILLRACE_KEYS: join(root, 'keys.json'),
      },
      { project: root },
    ),
  );
  const headers = { authorization: `Bearer ${keys.boss}` };
  const loaded = { entity_type: 'product', entities: JUDGED_PRODUCTS };
  await post(`${service.url}/api/v1/entities/upload`, loaded, headers);
  const workbench = await startProcess(
    ['--url', service.url],
    { ...QUIET, MILLRACE_PROJECT: root, MILLRACE_KEY: keys.boss },
    undefined,
    'workbench',
  );
  const close = async (): Promise<void> => {
    workbench.child.kill('SIGKILL');
    await workbench.ended;
    await service.close();
    await rm(root, { recursive: true, force: true });
  };
  return { root, service, workbench, keys, close };
}

const order = ({ json, text }: Answer): string[] => {
  expect(json, text).to.have.property('page');
  return (json as unknown as { page: { candidate_id: string }[] }).page.map(({ candidate_id: id }) => id);
};
const codeOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.['code']];

describe('the workbench of a running service on an embedded store', function () {
  this.timeout(120_000);
  let remote: Remote;
  const as = (who: keyof Keys): Record<string, string> => ({
    authorization: `Bearer ${remote.keys[who]}`,
  });
  const ask = (path: string, body: object, who?: keyof Keys): Promise<Answer> =>
    post(`${remote.workbench.url}${path}`, body, who === undefined ? {} : as(who));
  const compare = async (body: object): Promise<Record<string, unknown>> => {
    const { json, text, status } = await ask('/api/v1/comparisons/start', body);
    expect(status, text).to.equal(200);
    for (;;) {
      const answer = await ask('/api/v1/comparisons/get', { comparison: json?.['comparison'] });
      if (!['waiting', 'running'].includes(String(answer.json?.['state'])))
        return answer.json as Record<string, unknown>;
    }
  };
  const logged = async (id: string, who?: keyof Keys): Promise<Answer> => {
    // Records are written soon after the answer.
    for (;;) {
      const answer = await ask('/api/v1/rankings/logged', { request_id: id }, who);
      if (answer.json?.['code'] !== 'unknown_logged_request') return answer;
    }
  };

  before(async () => {
    remote = await startRemote();
  });
  after(() => remote.close());

  it('says that it does all this, and finds the ledger', async () => {
    const look = (): Promise<Answer> => call(`${remote.workbench.url}/workbench/project`);
    expect((await look()).json).to.include({ elsewhere: null, hasLedger: false });
    await post(`${remote.service.url}/api/v1/shop`, BODY, as('boss'));
    while ((await look()).json?.['hasLedger'] !== true);
    const own = await call(`${remote.service.url}/workbench/project`, { headers: as('boss') });
    expect(own.json).to.include({ elsewhere: 'service', hasLedger: false });
    const pipelines = own.json?.['pipelines'] as { name: string; params: { name: string }[] }[];
    expect(pipelines.find(({ name }) => name === 'shop')?.params.map(({ name }) => name)).to.deep.equal([
      'w_price',
      'w_lumen',
    ]);
  });

  it('tries values of params, on a plan of their own', async () => {
    const explain = '/api/v1/shop/explain';
    const before = await ask(explain, BODY);
    expect(order(before).slice(0, 3)).to.deep.equal(['p0', 'p1', 'p2']);
    const tried = await ask(`${explain}?param=w_price=0.5&param=w_lumen=40`, BODY);
    expect(order(tried).slice(0, 3)).to.deep.equal(['p1', 'p3', 'p5']);
    expect(tried.json?.['params']).to.deep.equal({ w_price: 0.5, w_lumen: 40 });
    expect(tried.json?.['params_diff']).to.include('+  w_lumen: { value: 40,');
    const many = await Promise.all(
      Array.from({ length: 20 }, (_, at) => ask(`${explain}?param=w_lumen=${at}`, BODY)),
    );
    expect(many.map(({ json }) => (json?.['params'] as Record<string, number>)['w_lumen'])).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => at),
    );
    // What serves has not changed.
    expect(order(await ask(explain, BODY))).to.deep.equal(order(before));
    for (const param of ['w_price', 'w_price=x', 'w_prise=1', 'w_price=7', 'constructor=1'])
      expect((await ask(`${explain}?param=${param}`, BODY)).status, param).to.equal(422);
    expect(codeOf(await ask(`${explain}?param=w_price=0.5`, BODY, 'ranker'))[0]).to.equal(403);
  });

  it('pools an arm with other params', async () => {
    const arms = [{ pipeline: 'shop', params: { w_price: 0, w_lumen: 50 } }];
    const started = await ask('/api/v1/judging/start', {
      round: 'params',
      arms,
      queries: ['zelt'],
      depth: 4,
    });
    expect(started.status, started.text).to.equal(200);
    const { json } = await ask('/api/v1/judging/query', { round: 'params', number: 1 });
    const candidates = json?.['candidates'] as { candidate_id: string }[];
    expect(candidates.map(({ candidate_id: id }) => Number(id.slice(1)) % 2)).to.deep.equal([1, 1, 1, 1]);
  });

  it('reads a logged request from the ledger', async () => {
    await post(`${remote.service.url}/api/v1/shop`, { ...BODY, request_id: 'r1' }, as('boss'));
    const { json } = await logged('r1');
    expect(json).to.deep.include({ request_id: 'r1', pipeline: 'shop' });
    const [first] = json?.['candidates'] as { values: object }[];
    expect(first?.values).to.have.deep.property('product.price', { value: 10, status: 'present' });
    expect(order(await ask('/api/v1/shop/explain', json?.['body'] as object)).slice(0, 2)).to.deep.equal([
      'p0',
      'p1',
    ]);
    expect(codeOf(await logged('r1', 'newer'))).to.deep.equal([403, 'key_not_allowed']);
    expect(codeOf(await logged('r1', 'ranker'))).to.deep.equal([403, 'scope_missing']);
  });

  it('keeps a ranking as a test that passes', async () => {
    const { status, json, text } = await ask('/api/v1/rankings/keep', {
      ...{ test: 'zelte', pipeline: 'shop', request: { ...BODY, user_page_size: 5 } },
    });
    expect(status, text).to.equal(200);
    expect(json).to.deep.include({ file: 'tests/zelte.yaml', notes: [] });
    const copy = await writeProject({ ...FILES, 'tests/zelte.yaml': String(json?.['yaml']) });
    try {
      const tested = await millrace(['test', '--project', copy]);
      expect(tested.stdout, tested.stderr).to.include('1 passed');
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  it('compares as a process does that has the store', async () => {
    const body = {
      ...{ pipeline: 'shop_new', against: 'shop', judgments: 'test.csv', metrics: ['ndcg@3'] },
      ...{ slice: 'is_new', require: ['delta.ndcg@3 > 0'] },
    };
    const found = await compare(body);
    expect(found).to.deep.include({ state: 'done', problem: null, notes: [], author: 'boss' });
    const shop = await serveJudgeShop(remote.root);
    try {
      const started = await post(`${shop.url}/api/v1/comparisons/start`, body);
      const get = (): Promise<Answer> =>
        post(`${shop.url}/api/v1/comparisons/get`, { comparison: started.json?.['comparison'] });
      let own = await get();
      while (own.json?.['state'] !== 'done') own = await get();
      expect(found['result']).to.deep.equal(own.json['result']);
      expect(found['report']).to.deep.equal(own.json['report']);
    } finally {
      await shop.close();
    }
    const queries = await compare({ pipeline: 'shop_new', against: 'shop', queries: ['zelt', 'bett'] });
    expect(queries, String(queries['problem'])).to.include({ state: 'done' });
    expect(JSON.stringify(queries['report'])).to.include('Zelt Modell 0');
    const others = await ask('/api/v1/comparisons/start', body, 'newer');
    expect(codeOf(others)).to.deep.equal([403, 'key_not_allowed']);
  });

  it('compares in the name of a person who is signed in, and refuses pages without the token', async () => {
    const { url } = remote.workbench;
    const person = { name: 'anna', role: 'scientist' };
    const { json } = await post(`${remote.service.url}/api/v1/invitations/create`, person, as('boss'));
    const invitation = json?.['invitation'];
    const opened = await post(`${url}/api/v1/session/open`, { invitation }, { origin: url });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const who = await call(`${url}/api/v1/session`, { headers: { cookie } });
    const body = { pipeline: 'shop_new', against: 'shop', queries: ['zelt'] };
    const start = `${url}/api/v1/comparisons/start`;
    expect(codeOf(await post(start, body, { cookie }))).to.deep.equal([403, 'csrf_missing']);
    const headers = { cookie, 'x-millrace-csrf': String(who.json?.['csrf']) };
    const started = await post(start, body, headers);
    expect(started.json, started.text).to.include({ author: 'anna' });
    const comparison = started.json?.['comparison'];
    let found = await post(`${url}/api/v1/comparisons/get`, { comparison }, headers);
    while (!['done', 'failed'].includes(String(found.json?.['state'])))
      found = await post(`${url}/api/v1/comparisons/get`, { comparison }, headers);
    expect(found.json).to.include({ state: 'done', problem: null });
  });

  it('says what a draft changes of logged requests', async () => {
    await post(
      `${remote.service.url}/api/v1/pinned`,
      { ...BODY, category: 'tv', request_id: 'r2' },
      as('boss'),
    );
    await logged('r2');
    const campaigns = { fair: { on: { category: ['tv'] }, pin: { '1': 'p7' } } };
    const put = await ask('/api/v1/curation/draft/put', { list: 'campaigns', draft: 'sale', campaigns });
    expect(put.status, put.text).to.equal(200);
    const found = await compare({ pipeline: 'pinned', draft: 'sale', logged: 10 });
    expect(found['result'], String(found['problem'])).to.deep.include({ requests: 1, changed: 1 });
    const { places } = found['result'] as { places: readonly object[] };
    expect(places[0]).to.include({ product: 'p7', place: 1, unknown: false, requests: 1, shown: 1 });
    const both = await ask('/api/v1/pinned/explain?draft=sale', BODY);
    expect(both.json?.['heard']).to.deep.equal([]);
    const refused = await ask('/api/v1/shop/explain?draft=sale&param=w_price=2', BODY);
    expect([refused.status, refused.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 422 && text.includes('draft and param'),
    );
  });

  it('says where to start it, if it cannot read the project', async () => {
    const empty = await mkdtemp(join(tmpdir(), 'millrace-empty-'));
    const env = { ...QUIET, MILLRACE_PROJECT: empty, MILLRACE_KEY: remote.keys.boss };
    const lost = await startProcess(['--url', remote.service.url], env, undefined, 'workbench');
    try {
      const { json } = await call(`${lost.url}/workbench/project`);
      expect(json).to.include({ elsewhere: 'project', hasLedger: false });
      const refused = await call(`${lost.url}/api/v1/comparisons`);
      expect(codeOf(refused)).to.deep.equal([409, 'comparisons_elsewhere']);
      expect(refused.text).to.include('in the folder of the project');
      const tried = await post(`${lost.url}/api/v1/shop/explain?param=w_lumen=50`, BODY);
      expect(order(tried)[0]).to.equal('p1');
    } finally {
      lost.child.kill('SIGKILL');
      await lost.ended;
      await rm(empty, { recursive: true, force: true });
    }
  });

  it('says that the files are not those that serve', async () => {
    const file = join(remote.root, 'pipelines/shop_new.yaml');
    await writeFile(file, SHOP_NEW.replace('product.price }', '2 * product.price }'));
    const changed = await startProcess(
      ['--url', remote.service.url],
      { ...QUIET, MILLRACE_PROJECT: remote.root, MILLRACE_KEY: remote.keys.boss },
      undefined,
      'workbench',
    );
    try {
      const kept = await post(`${changed.url}/api/v1/rankings/keep`, {
        ...{ test: 'zelte', pipeline: 'shop', request: { ...BODY, user_page_size: 5 } },
      });
      expect(kept.text).to.match(/the files here have the version \w+, and the service ranks with \w+/);
      const tried = await post(`${remote.service.url}/api/v1/pinned/explain?param=none=1`, BODY, as('boss'));
      expect(tried.status).to.equal(422);
    } finally {
      changed.child.kill('SIGKILL');
      await changed.ended;
      await writeFile(file, SHOP_NEW);
    }
  });
});

describeWith('chromium', 'a scientist at the workbench of a running service, in German', function () {
  this.timeout(120_000);

  it('moves a slider, and the page is reordered', async () => {
    const remote = await startRemote();
    const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
    try {
      const page = await browser.newPage({ locale: 'de-DE' });
      page.setDefaultTimeout(30_000);
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.route('https://cdn.shop.example/**', (route) => route.abort());
      const headers = { authorization: `Bearer ${remote.keys.boss}` };
      await post(`${remote.service.url}/api/v1/shop`, BODY, headers);
      await page.goto(`${remote.workbench.url}/workbench`);
      await page.getByLabel('Pipeline').selectOption('shop');
      await page.getByRole('button', { name: 'Suchen' }).click();
      const first = (title: string): Promise<void> =>
        page.locator('.card h3').first().filter({ hasText: title }).waitFor();
      await first('Zelt Modell 0');
      await page.getByLabel('w_lumen').fill('100');
      await first('Zelt Modell 1');
      await page.getByRole('button', { name: 'Wie in der Datei' }).click();
      await first('Zelt Modell 0');
      await page.getByText('Eine protokollierte Anfrage').waitFor();
      await page.getByRole('link', { name: 'Vergleichen' }).click();
      await page.getByRole('button', { name: 'Vergleichen', exact: true }).waitFor();
      expect(complaints).to.deep.equal([]);
    } finally {
      await browser.close();
      await remote.close();
    }
  });
});
