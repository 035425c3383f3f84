import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import type { InstanceList, ShownInstance } from '../../runtime/serve/metrics/live-meter.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { InstanceBoard } from '../../runtime/state/instances/instance-board.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { startBrowser } from '../support/browser.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { call, post } from './harness.js';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: {}\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
params: { sign: 1 }
request: { candidates: { found: float }, user: optional(user) }
components:
  - { use: score, with: { value: sign * product.found } }
`,
  'pipelines/quiet.yaml':
    'pipeline: quiet\nrank: product\ncomponents:\n  - { use: score, with: { value: 1 } }\n',
  'experiments/turned.yaml': `experiment: turned
pipeline: search
unit: user
arms: { control: { weight: 1 }, turned: { weight: 1, params: { sign: -1 } } }
`,
};
const BODY = { candidates: [{ product_id: 'a', found: 1 }], user: { user_id: 'u1' } };

describe('the board of instances', () => {
  it('keeps what each said last, forgets the silent, and takes back those that end', async () => {
    const board = new InstanceBoard(new MemoryStore(), 'shop');
    const now = Date.now();
    await board.tell('a', { instance: 'a', seen: now - 9 * 60_000 }, now - 9 * 60_000);
    await Promise.all(['b', 'c'].map((instance) => board.tell(instance, { instance, seen: now }, now)));
    const names = async (at: number): Promise<string[]> =>
      (await board.list(at)).map(({ instance }) => instance).sort();
    expect(await names(now)).to.deep.equal(['a', 'b', 'c']);
    expect(await names(now + 2 * 60_000)).to.deep.equal(['b', 'c']);
    await board.tell('b', null, now);
    expect(await names(now)).to.deep.equal(['a', 'c']);
    for (let at = 0; at < 250; at++) await board.tell(`i${at}`, { instance: `i${at}`, seen: now + at }, now);
    expect(await names(now))
      .to.have.length(200)
      .and.include('i249')
      .and.not.include('a');
  });
});

describeWith('redis-server', 'all instances of a store', function () {
  this.timeout(30_000);
  let redis: PrivateRedis;
  let root = '';
  let ranking: RunningService;
  let workbench: RunningService;

  const start = (env: Readonly<Record<string, string>> = {}): Promise<RunningService> =>
    startService(
      loadSettings(
        {
          ...{ LOG_LEVEL: 'silent', PORT: '0', MILLRACE_WARM_UP_MS: '0', MILLRACE_QUEUE_MS: '30000' },
          ...{ MILLRACE_STORE: 'redis', REDIS_URL: redis.url, ...env },
        },
        { project: root },
      ),
    );
  const list = async (): Promise<readonly ShownInstance[]> =>
    ((await call(`${workbench.url}/api/v1/instances`)).json as unknown as InstanceList).instances;

  before(async () => {
    redis = await startRedisServer();
    root = await writeProject(FILES);
    ranking = await start();
    workbench = await start({ MILLRACE_WORKBENCH: 'only' });
  });
  after(async () => {
    await workbench.close();
    await ranking.close();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  it('are shown by the process of the workbench, which is none of them', async () => {
    for (let at = 0; at < 5; at++)
      expect((await post(`${ranking.url}/api/v1/search`, BODY)).status).to.equal(200);
    await post(`${ranking.url}/api/v1/search`, { candidates: 1 });
    await until(
      'a rate above zero',
      async () => (await list())[0]?.pipelines.some(({ requests }) => requests > 0) === true,
      15_000,
    );
    const [one, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(one).to.deep.include({
      state: 'current',
      refused: 0,
      feedback: 0,
      last_feedback: null,
      sources: [],
    });
    const [quiet, search] = one?.pipelines ?? [];
    // Zero requests are a zero; their latency is not known.
    expect(quiet).to.deep.equal({
      pipeline: 'quiet',
      requests: 0,
      failed: 0,
      degraded: 0,
      p50: null,
      p99: null,
    });
    expect(search?.failed).to.be.closeTo((search?.requests ?? 0) / 6, 0.01);
    expect(search?.p99).to.be.greaterThan(0);
    expect(one?.arms.reduce((sum, { requests }) => sum + requests, 0)).to.equal(5);
  });

  it('are gone when they end, and stale when they fall silent', async () => {
    const second = await start();
    await until('two instances', async () => (await list()).length === 2);
    await second.close();
    expect(await list()).to.have.length(1);
    const seen = Date.now() - 60_000;
    const [known] = await list();
    await new InstanceBoard(ranking.app.store, 'millrace').tell(
      'crashed',
      { ...(known as object), instance: 'crashed', seen },
      seen,
    );
    expect((await list()).map(({ instance, state }) => [instance === 'crashed', state])).to.have.deep.members(
      [
        [true, 'stale'],
        [false, 'current'],
      ],
    );
  });

  describeWith('chromium', 'on the screen Live, in German', () => {
    let browser: Browser;
    let page: Page;
    const complaints: string[] = [];
    before(async function () {
      browser = await startBrowser(this);
      const context = await browser.newContext({ locale: 'de-DE', viewport: { width: 1280, height: 900 } });
      page = await context.newPage();
      page.setDefaultTimeout(10_000);
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().includes('status of 4'))
          complaints.push(message.text());
      });
    });
    after(() => browser.close());

    it('absent, stale and zero differ, and every state is accessible', async () => {
      await page.goto(`${workbench.url}/workbench#live`);
      await page.getByRole('heading', { name: 'Instanzen' }).waitFor();
      await page.getByText('1 aktuell, 1 veraltet.').waitFor();
      const stale = await page.locator('tr', { hasText: 'crashed' }).innerText();
      expect(stale).to.match(/veraltet\s+vor \d+ (s|min)\s+–\s+–\s+–/);
      const quiet = await page.locator('tr', { hasText: /^quiet/ }).innerText();
      expect(quiet).to.match(/\s0\s+0\s+0\s+–\s+–$/);
      expect(await page.locator('main').innerText())
        .to.include('Keine Instanz liest Quellen.')
        .and.include('turned');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      for (const width of [768, 2560]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
      }
      await page.getByRole('button', { name: 'Effekte von turned' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      expect(complaints).to.deep.equal([]);
    });

    it('says that no instance is there', async () => {
      const empty = await start({ MILLRACE_WORKBENCH: 'only', MILLRACE_PREFIX: 'empty' });
      try {
        await page.goto(`${empty.url}/workbench#live`);
        await page.getByText('Keine Instanz meldet sich.').waitFor();
        expect(await accessibilityFaults(page)).to.deep.equal([]);
      } finally {
        await empty.close();
      }
    });
  });
});
