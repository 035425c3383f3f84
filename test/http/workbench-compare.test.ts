import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Browser, Locator, Page } from 'playwright-core';
import { compares } from '../../runtime/cli/compare/compares.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { startBrowser } from '../support/browser.js';
import { experimentLedger } from '../support/experiment-shop.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { call, post } from './harness.js';

const LONG = 'Wasserdichter Trekkingrucksack mit abnehmbarem Regenschutz und dreißig Fächern '.repeat(3);

/** 12 queries in each of two languages. The new pipeline ranks German ones well, and loses one English one. */
const QUERIES = Array.from({ length: 24 }, (_, at) => ({
  query: at === 23 ? 'tent' : `${at < 12 ? 'zelt' : 'bag'} ${at}`,
  language: at < 12 ? 'de' : 'en',
}));
const GOOD = (at: number): number => (at === 23 ? 1 : at < 12 || at % 3 === 0 ? 7 : 4);
const JUDGMENTS = [
  'query,id,grade,language',
  ...QUERIES.flatMap(({ query, language }, at) =>
    Array.from({ length: 8 }, (_, place) => `${query},p${place},${place === GOOD(at) ? 3 : 0},${language}`),
  ),
].join('\n');

const pipeline = (name: string, value: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(string), user: optional(user) }
${name === 'shop' ? 'params: { w_pop: 0.3 }\n' : ''}components:
  - { use: score, with: { value: "${value}" } }
log: { unit: user }
`;

const FILES = {
  'millrace.yaml':
    'project: shop\ntime_zone: Europe/Berlin\nimage_hosts: [cdn.shop.example]\nevents: { impression: {}, click: {}, order: { revenue: float } }\n',
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
display: { title: title, image: image_url, subtitle: brand, badges: [price] }
attributes: { title: string, image_url: string, brand: string, price: float }
`,
  'schemas/entities/user.yaml': 'entity: user\nattributes: {}\n',
  'pipelines/shop.yaml': pipeline('shop', '100 - product.price + 0 * w_pop'),
  'pipelines/shop_new.yaml': pipeline('shop_new', 'product.price'),
  'experiments/popularity.yaml': `experiment: popularity
pipeline: shop
unit: user
until: 2026-11-05T00:00Z
share: 10%
arms: { control: {}, popular: { params: { w_pop: 0.5 } } }
metrics: { primary: { event: order, value: sum(revenue), within: 7d, adjust: { before: 14d } }, guard: [latency_p99] }
`,
  'judgments/test.csv': JUDGMENTS,
  'judgments/broken.csv': 'query,grade\nzelt,1\n',
};

const PRODUCTS = Array.from({ length: 8 }, (_, at) => ({
  product_id: `p${at}`,
  title: at === 5 ? LONG : `Zelt Modell ${at}`,
  image_url: `https://cdn.shop.example/${at}.png`,
  brand: at % 2 === 0 ? 'Nord' : 'Lumen',
  price: 10 + at,
}));

/** Starts the service of the files. @param isWorkbench whether its process runs comparisons */
async function start(
  root: string,
  isWorkbench: boolean,
): Promise<{ url: string; close: () => Promise<void> }> {
  const settings = loadSettings(
    { LOG_LEVEL: 'silent', MILLRACE_QUEUE_MS: '30000', MILLRACE_IMAGE_HOSTS: 'cdn.shop.example' },
    { project: root },
  );
  const app = await createApp(settings, {
    ...{ store: new MemoryStore(), logger: pino({ level: 'silent' }), experiments: true },
    ...(isWorkbench ? { compares } : {}),
    ...{ isLive: true },
  });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities: PRODUCTS });
  const close = async (): Promise<void> => {
    await server.close(0);
    await app.close();
  };
  return { url, close };
}

describeWith('chromium', 'the screen of comparisons, in German', function () {
  this.timeout(30_000);
  let browser: Browser;
  let page: Page;
  let root = '';
  let service: Awaited<ReturnType<typeof start>>;
  let clicks = 0;
  let complaints: string[] = [];

  before(async function () {
    browser = await startBrowser(this);
    root = await writeProject(FILES);
    experimentLedger(1000).write(join(root, '.millrace', 'ledger'));
    service = await start(root, true);
    const context = await browser.newContext({ locale: 'de-DE', viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.setDefaultTimeout(10_000);
    await page.route('https://cdn.shop.example/**', (route) =>
      route.fulfill({
        contentType: 'image/svg+xml',
        body: '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M1 9 5 1 9 9z" fill="#3b7"/></svg>',
      }),
    );
    page.on('console', (message) => {
      // A page may ask once more after the service of a test has ended.
      if (message.type() === 'error' && !/status of 4|ERR_CONNECTION_REFUSED/.test(message.text()))
        complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  after(async () => {
    await browser.close();
    await service.close();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    complaints = [];
    await page.setViewportSize({ width: 1280, height: 900 });
    await open(service.url);
  });
  afterEach(() => expect(complaints).to.deep.equal([]));

  async function open(url: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${url}/workbench#compare`);
    clicks = 0;
  }
  async function click(what: Locator): Promise<void> {
    clicks++;
    await what.click();
  }
  async function choose(label: string, option: string): Promise<void> {
    clicks++;
    await page.getByLabel(label, { exact: true }).selectOption(option);
  }
  async function fill(label: string, text: string): Promise<void> {
    clicks++;
    await page.getByLabel(label, { exact: true }).fill(text);
  }
  const compare = (): Promise<void> => click(page.getByRole('button', { name: 'Vergleichen', exact: true }));
  const done = (): Promise<void> => page.locator('#found[aria-busy="false"]').waitFor();
  /** The texts of a report that the page does not have in German. Plots are drawn by the service. */
  const untranslated = (): Promise<string[]> =>
    page.locator('#found :not(.plots *):not(ul)[lang="en"]').allInnerTexts();
  const section = (title: string): Locator =>
    page.locator('section.part', { has: page.getByRole('heading', { name: title }) });

  it('compares two models on test judgments, and shows the gate', async () => {
    await choose('Pipeline', 'shop_new');
    await choose('Verglichen mit', 'shop');
    await compare();
    await done();
    expect(await page.locator('.gates li.pass').innerText()).to.match(
      /^✔ ERFÜLLT lower\(delta\.ndcg@10\) > 0 · gefunden 0,\d+$/,
    );
    const delta = section('Unterschied zu shop').locator('tbody tr').first();
    expect(await delta.innerText()).to.match(/^ndcg@10\s+0,\d{4}\s+\+0,\d{4}\s+\[\+0,\d{4}; \+0,\d{4}\]/);
    expect(clicks).to.be.at.most(5);
    expect(await untranslated()).to.deep.equal([]);
    // It can be opened again.
    await page.reload();
    await page.locator('.gates li').waitFor();
  });

  it('opens the worst-lost query, with both pages', async () => {
    await compare();
    await done();
    const lost = section('Seiten der Suchen, die am meisten verlieren').locator('details').first();
    await click(lost.locator('summary'));
    expect(await lost.locator('summary').innerText()).to.match(/^tent ndcg@10 0,\d+ → 0,\d+ \(-0,\d+\)$/);
    expect(await lost.locator('h4').allInnerTexts()).to.deep.equal(['shop', 'shop_new']);
    const sides = lost.locator('.sides > div');
    expect(await sides.nth(0).locator('h3').first().innerText()).to.equal('Zelt Modell 0');
    expect(await sides.nth(1).locator('h3').first().innerText()).to.equal('Zelt Modell 7');
    expect(await sides.nth(1).locator('li', { hasText: 'Note 3' }).locator('h3').innerText()).to.equal(
      'Zelt Modell 1',
    );
    await sides.nth(0).locator('img').first().scrollIntoViewIfNeeded();
    await page.waitForFunction("document.querySelector('details[open] img').naturalWidth > 0");
    expect(clicks).to.be.at.most(5);
    expect(await section('Seiten der Suchen, die am meisten gewinnen').locator('details').count()).to.equal(
      10,
    );
  });

  it('slices by language, with the number of queries and intervals', async () => {
    await fill('Aufteilen nach', 'language');
    await compare();
    await done();
    const rows = await section('ndcg@10 nach language').locator('tbody tr').allInnerTexts();
    expect(rows).to.have.length(2);
    expect(rows[0]).to.match(/^de\s+12\s+1\s|^de\s+12\s+1,0000\s+\+0,\d{4}\s+\[\+0,\d{4}; \+0,\d{4}\]/);
    expect(rows[1]).to.match(/^en\s+12\s+0,\d{4}\s/);
    expect(clicks).to.be.at.most(5);
  });

  it('reads an experiment: raw, adjusted, guards, and the ratio', async () => {
    await choose('Anhand von', 'experiment:popularity');
    await click(page.getByRole('button', { name: 'Bericht lesen' }));
    await done();
    const found = await page.locator('#found').innerText();
    expect(found).to.include('95-%-Intervall, ein Blick am Ende');
    expect(found).to.match(/bereinigt um die Vergangenheit/);
    expect(found).to.match(/Schutz latency_p99 \d+,\d → \d+,\d ms/);
    expect(found).to.match(/Test des Verhältnisses p 0,\d{4}/);
    expect(found).to.match(/Entscheidung/);
    expect(await untranslated()).to.deep.equal([]);
    expect(clicks).to.be.at.most(5);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('compares own queries without grades, and logged requests by their clicks', async () => {
    await choose('Anhand von', 'queries');
    await fill('Suchen, eine je Zeile', 'zelt\n\nrucksack');
    await compare();
    await done();
    const pages = section('Seiten mit den größten Unterschieden').locator('details');
    expect(await pages.locator('summary strong').allInnerTexts()).to.deep.equal([
      'Zeile 1: zelt',
      'Zeile 2: rucksack',
    ]);
    expect(await untranslated()).to.deep.equal([]);
    await click(pages.first().locator('summary'));
    expect(await pages.first().locator('.sides > div').first().locator('li').count()).to.equal(8);
    await choose('Anhand von', 'logged');
    await compare();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).to.include('has no answered request to shop_new');
  });

  it('is operated by the keyboard alone', async () => {
    await page.getByLabel('Anhand von').focus();
    for (let tabs = 0; tabs < 5; tabs++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await done();
    const lost = section('Seiten der Suchen, die am meisten verlieren').locator('summary').first();
    await lost.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'shop_new', exact: true }).first().waitFor();
  });

  it('is accessible while empty, with long titles, after an error, and where nothing is compared', async () => {
    await page.getByText('Wählen Sie, was verglichen wird.').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await compare();
    await done();
    await page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))");
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    for (const width of [768, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
    }
    await choose('Anhand von', 'judgments:broken.csv');
    await compare();
    await page.getByRole('alert').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    const ranking = await start(root, false);
    try {
      await open(ranking.url);
      await page.getByText('Dieser Prozess rankt.').waitFor();
      expect(await accessibilityFaults(page)).to.deep.equal([]);
    } finally {
      await ranking.close();
    }
  });

  it('stays small', async () => {
    const bytes = await page.evaluate(
      `Promise.all(['main.js', 'session.js', 'preview.js', 'style.css'].map((name) => fetch('/workbench/' + name)
        .then((answer) => new Response(answer.body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer())
        .then((bytes) => bytes.byteLength))).then((sizes) => sizes.reduce((sum, one) => sum + one))`,
    );
    expect(bytes).to.be.at.most(200 * 1024);
  });
});

describe('comparisons over HTTP', function () {
  this.timeout(30_000);
  let root = '';
  let service: Awaited<ReturnType<typeof start>>;
  before(async () => {
    root = await writeProject(FILES);
    service = await start(root, true);
  });
  after(async () => {
    await service.close();
    await rm(root, { recursive: true, force: true });
  });

  const at = (route: string): string => `${service.url}/api/v1/comparisons${route}`;
  const startOne = (body: object): ReturnType<typeof post> => post(at('/start'), body);
  async function ended(id: unknown): Promise<Record<string, unknown>> {
    for (;;) {
      const { json } = await post(at('/get'), { comparison: id });
      if (!['waiting', 'running'].includes(String(json?.['state']))) return json as Record<string, unknown>;
    }
  }

  it('answer what evaluate answers', async () => {
    const { json } = await startOne({
      ...{ pipeline: 'shop_new', against: 'shop', judgments: 'test.csv', metrics: ['ndcg@3'] },
      require: ['delta.ndcg@3 > 0', 'queries > 30'],
    });
    const answer = await ended(json?.['comparison']);
    expect(answer).to.deep.include({ state: 'done', progress: 1, problem: null, author: null });
    expect(answer['result']).to.deep.include({ pipeline: 'shop_new', against: 'shop', queries: 24 });
    const { gates } = answer['report'] as { gates: { passed: boolean }[] };
    expect(gates.map(({ passed }) => passed)).to.deep.equal([true, false]);
    const { json: list } = await call(at(''));
    expect(list).to.deep.include({
      pipelines: ['shop', 'shop_new'],
      judgments: ['broken.csv', 'test.csv'],
      experiments: ['popularity'],
    });
  });

  it('take names of the project alone', async () => {
    for (const judgments of ['../millrace.yaml', 'none.csv', '/etc/passwd', '..', 'test.csv\u0000'])
      expect((await startOne({ pipeline: 'shop', judgments })).status, judgments).to.equal(422);
    const { status, json } = await startOne({ pipeline: 'shop', judgments: 'tst.csv', requires: [] });
    expect(status).to.equal(422);
    expect(json?.['errors']).to.deep.equal([
      {
        pointer: '/requires',
        code: 'unknown_field',
        detail: (json?.['errors'] as { detail: string }[])[0]?.detail,
      },
      {
        pointer: '/judgments',
        code: 'unknown_name',
        detail: 'judgments: no file of judgments is called "tst.csv"; did you mean "test.csv"?',
      },
    ]);
  });

  it('say where a condition, a metric or a source is wrong', async () => {
    const pointers = async (body: object): Promise<unknown[]> => {
      const { status, json } = await startOne(body);
      expect(status).to.equal(422);
      return (json?.['errors'] as { pointer: string }[]).map(({ pointer }) => pointer);
    };
    const judged = { pipeline: 'shop', judgments: 'test.csv' };
    expect(await pointers({ ...judged, require: ['map > 0', 'delta.map > 0', 'ndgc > 1'] })).to.deep.equal([
      '/require/1',
      '/require/2',
    ]);
    expect(await pointers({ ...judged, metrics: ['ndcg@10', 'click'] })).to.deep.equal(['/metrics/1']);
    expect(await pointers({ ...judged, queries: ['a'] })).to.deep.equal(['']);
    expect(await pointers({ pipeline: 'shop' })).to.deep.equal(['']);
    expect(await pointers({ judgments: 'test.csv' })).to.deep.equal(['/pipeline']);
    expect(await pointers({ pipeline: 'shop', queries: ['a'] })).to.deep.equal(['/against']);
    expect(
      await pointers({ pipeline: 'shop', against: 'shop', queries: Array(201).fill('a') }),
    ).to.deep.equal(['/queries']);
  });

  it('run one at a time, wait in bounded number, and stop', async () => {
    const queries = Array.from({ length: 200 }, (_, number) => `q${number}`);
    const body = { pipeline: 'shop', against: 'shop_new', queries };
    const started = await Promise.all(Array.from({ length: 8 }, () => startOne(body)));
    const refused = started.filter(({ status }) => status === 409);
    expect(refused.length).to.be.at.least(1);
    expect(refused[0]?.json?.['code']).to.equal('comparisons_full');
    const ids = started.flatMap(({ json }) => json?.['comparison'] ?? []);
    for (const comparison of ids) await post(at('/stop'), { comparison });
    for (const id of ids) expect((await ended(id))['state']).to.be.oneOf(['stopped', 'done']);
    expect((await ended(ids.at(-1)))['state']).to.equal('stopped');
    const unknown = await post(at('/get'), { comparison: 'none' });
    expect([unknown.status, unknown.json?.['code']]).to.deep.equal([404, 'unknown_comparison']);
  });

  it('do not run in a process that ranks', async () => {
    const ranking = await start(root, false);
    try {
      const { status, json } = await post(`${ranking.url}/api/v1/comparisons/start`, { pipeline: 'shop' });
      expect([status, json?.['code']]).to.deep.equal([409, 'comparisons_elsewhere']);
      expect(json?.['detail']).to.include('millrace workbench');
    } finally {
      await ranking.close();
    }
  });
});
