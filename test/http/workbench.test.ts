import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { startBrowser } from '../support/browser.js';
import { writeProject } from '../support/project.js';
import { millrace } from '../support/command-line.js';
import { withFiles } from '../support/temporary-files.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';
import { BIN } from '../support/repository.js';

const PIPELINE = 'pipelines/plain.yaml';
const scoring = (value: string): string =>
  `pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;
const HOSTILE = '<img src=x onerror=alert(1)>';
const PRODUCTS = [
  { product_id: 'cheap', price: 1 },
  { product_id: 'dear', price: 9 },
  { product_id: HOSTILE, price: 5 },
];

const SHOWN = `entity: product
display: { title: title, image: image, badges: [price] }
attributes: { title: string, image: string, price: float }
`;
const FINDING = `pipeline: plain
rank: product
request: { candidates: {}, query: optional(query) }
retrieve:
  - { use: words, as: found, with: { query: query.query, fields: { product.title: 1 } } }
components:
  - { use: score, with: { value: 0 - product.price } }
`;

describe('millrace dev', () => {
  it('tells errors of the first start as validate does, and ends', () =>
    withFiles(
      {
        [PIPELINE]: scoring('product.prise'),
        'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float }\n',
      },
      async (root) => {
        const dev = spawn(
          process.execPath,
          [BIN, 'dev', '--project', root, '--store', 'embedded', '--port', '0'],
          {
            env: { PATH: process.env.PATH },
            stdio: ['ignore', 'ignore', 'pipe'],
          },
        );
        let err = '';
        dev.stderr.on('data', (text: Buffer) => (err += text.toString()));
        const [code] = (await once(dev, 'close')) as [number];
        expect(code).to.equal(1);
        expect(err).to.contain('pipelines/plain.yaml:5:').and.contain('help:');
      },
    ));

  it('warns of a name where its index has ids, at the start and after a change', () =>
    withFiles(
      {
        [PIPELINE]: scoring('\'if(product.brand == "Lumen", 1, 0)\''),
        'schemas/entities/product.yaml': 'entity: product\nattributes: { brand: ref(brand) }\n',
        'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
        'brands.jsonl': '{"brand_id":"b3","name":"Lumen"}\n',
      },
      async (root) => {
        const where = ['--project', root, '--store', 'embedded'];
        const loaded = await millrace(['entities', 'load', 'brand', join(root, 'brands.jsonl'), ...where]);
        expect(loaded.code, loaded.stderr).to.equal(0);
        const dev = spawn(process.execPath, [BIN, 'dev', ...where, '--port', '0'], {
          env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0' },
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        let err = '';
        dev.stderr.on('data', (text: Buffer) => (err += text.toString()));
        try {
          await until('the start', () => err.includes('Ctrl-C'));
          expect(err)
            .to.contain('plain.yaml:5:')
            .and.contain('warning[unknown_id]')
            .and.contain('`brand.name`');
          err = '';
          await writeFile(join(root, PIPELINE), scoring('\'if(product.brand != "Nord", 1, 0)\''));
          await until('the reload', () => err.includes('reloaded in'));
          expect(err).to.contain('holds no brand `Nord`');
        } finally {
          dev.kill();
          await once(dev, 'close');
        }
      },
    )).timeout(60_000);
});

describeWith('chromium', 'millrace dev and its workbench', () => {
  let root = '';
  let browser: Browser;
  let page: Page;
  let child: ChildProcess;
  let output: { out: string; err: string };

  before(async function () {
    browser = await startBrowser(this);
  });
  after(() => browser.close());
  beforeEach(async () => {
    root = await writeProject({
      [PIPELINE]: scoring('product.price'),
      'schemas/entities/product.yaml': 'entity: product\nattributes: { price: float }\n',
    });
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  });
  afterEach(async () => {
    await page.close();
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(root, { recursive: true, force: true });
  });

  /** @returns the address of the page */
  async function dev(env: Readonly<Record<string, string>> = {}): Promise<string> {
    child = spawn(process.execPath, [BIN, 'dev', '--project', root, '--store', 'embedded', '--port', '0'], {
      env: { PATH: process.env.PATH, MILLRACE_LAME_DUCK_MS: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const told = { out: '', err: '' };
    output = told;
    child.stdout?.on('data', (text: Buffer) => (told.out += text.toString()));
    child.stderr?.on('data', (text: Buffer) => (told.err += text.toString()));
    await until('the address', () => told.out.endsWith('\n'));
    return told.out.trim();
  }

  async function upload(url: string, key?: string, products: readonly object[] = PRODUCTS): Promise<void> {
    const answer = await fetch(new URL('/api/v1/entities/upload', url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ entity_type: 'product', entities: products }),
    });
    expect(answer.status).to.equal(200);
  }

  /** The titles of the cards, in their order; without cards of the project, the ids. */
  const titles = (): Promise<string[]> => page.locator('#answer .card h3').allInnerTexts();
  const rows = async (table: string): Promise<string[][]> =>
    Promise.all(
      (await page.locator(table).locator('tbody tr').all()).map((row) => row.locator('td').allInnerTexts()),
    );
  const moves = (): Promise<string[]> => page.locator('#answer .card .place span').allInnerTexts();

  it('explains a ranking, and shows the moves when a file changes', async function () {
    this.timeout(60_000);
    // For people at a terminal, the page is there whatever the services have.
    const url = await dev({ MILLRACE_WORKBENCH: 'off' });
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/workbench$/);
    await upload(url);
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#answer .card').first().waitFor();
    expect(await titles()).to.deep.equal(['dear', HOSTILE, 'cheap']);
    expect(await moves()).to.deep.equal([]);
    await page.getByRole('button', { name: 'Why dear is at place 1' }).click();
    expect(await page.getByRole('dialog').innerText())
      .to.contain('product.price')
      .and.contain('score: 0 → 9');
    await page.keyboard.press('Escape');

    await writeFile(join(root, PIPELINE), scoring('product.prise'));
    await page.locator('#problems').waitFor();
    const diagnostics = await page.locator('#diagnostics').innerText();
    expect(diagnostics).to.contain('pipelines/plain.yaml:5:').and.contain('^').and.contain('product.price');
    expect(await titles()).to.deep.equal(['dear', HOSTILE, 'cheap']);
    expect(output.err).to.contain('not reloaded; the previous version continues to serve').and.contain('^');

    await writeFile(join(root, PIPELINE), scoring('0 - product.price'));
    await page.getByText('▲ 2').waitFor();
    expect(await titles()).to.deep.equal(['cheap', HOSTILE, 'dear']);
    expect(await moves()).to.deep.equal(['▲ 2', '=', '▼ 2']);
    expect(await page.locator('#problems').isHidden()).to.equal(true);
    expect(complaints).to.deep.equal([]);
    const screenshots = join(dirname(fileURLToPath(import.meta.url)), 'screenshots');
    mkdirSync(screenshots, { recursive: true });
    await page.screenshot({ path: join(screenshots, 'workbench.png'), fullPage: true });
  });

  it('shows what a score is made of, why two candidates differ, and why one is not here', async function () {
    this.timeout(60_000);
    await writeFile(join(root, PIPELINE), scoring('2 * product.price + 1'));
    const url = await dev();
    await upload(url);
    await page.goto(url);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByRole('button', { name: 'Why dear is at place 1' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('score, in all').waitFor();
    expect(await rows('dialog table >> nth=0')).to.deep.equal([
      ['base', '', '1', ''],
      ['product.price', '9', '18', ''],
      ['score, in all', '', '19', ''],
    ]);
    expect(await dialog.innerText()).to.contain('What lifts its score most: product.price 9 (+18).');
    await dialog.getByLabel('Compare with').selectOption({ label: '3. cheap' });
    await dialog.locator('#pair table').waitFor();
    expect(await rows('#pair table >> nth=0')).to.deep.equal([
      ['product.price', '9', '1', '16', ''],
      ['score, in all', '', '', '16', ''],
    ]);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    expect(await dialog.count()).to.equal(0);
    await page.getByLabel('Why is a candidate not here? Its id').fill('dearer');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.locator('#fate', { hasText: 'is not among the candidates of the request' }).waitFor();
  });

  it('speaks German to a German browser', async function () {
    this.timeout(60_000);
    await writeFile(join(root, PIPELINE), scoring('product.price / 4'));
    const url = await dev();
    await upload(url);
    await page.close();
    page = await browser.newPage({ locale: 'de-DE' });
    await page.goto(url);
    await page.getByRole('button', { name: 'Erklären' }).click();
    await page.getByRole('button', { name: 'Warum dear auf Platz 1 steht' }).click();
    expect(await page.getByRole('dialog').innerText()).to.contain('Score 2,25');
    expect(await page.locator('html').getAttribute('lang')).to.equal('de');
  });

  it('finds by a typed query, and shows cards with images of the named hosts alone', async function () {
    this.timeout(60_000);
    const images = createServer((_req, res) => {
      res.setHeader('content-type', 'image/svg+xml');
      res.end('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>');
    }).listen(0, '127.0.0.1');
    try {
      await once(images, 'listening');
      const host = `127.0.0.1:${(images.address() as AddressInfo).port}`;
      await writeFile(join(root, PIPELINE), FINDING);
      await writeFile(join(root, 'schemas/entities/product.yaml'), SHOWN);
      await writeFile(join(root, 'millrace.yaml'), `project: shop\nimage_hosts: ["${host}"]\n`);
      const url = await dev();
      const products = Array.from({ length: 30 }, (_, at) => ({
        product_id: `p${at}`,
        title: at === 0 ? `Trail shoe ${HOSTILE}` : `Trail shoe ${at}`,
        image: at === 1 ? 'http://other.example/1.svg' : `http://${host}/${at}.svg`,
        price: at,
      }));
      await upload(url, undefined, products);
      await page.goto(url);
      const query = page.getByLabel('query');
      await query.fill('shoe trail');
      await query.press('Enter');
      await page.locator('.card img').first().waitFor();
      expect(await page.locator('.card').count()).to.equal(24);
      const { y = 0, height = 0 } = (await page.locator('.cards').boundingBox()) ?? {};
      expect(y + height, 'two screens').to.be.at.most(1600);
      expect(await page.locator('.card').first().innerText())
        .to.contain(HOSTILE)
        .and.contain('price 0');
      await page.goto(`${url}?q=trail+shoe`);
      const second = page.locator('.card', { has: page.getByText('Trail shoe 1', { exact: true }) });
      await second.waitFor();
      expect(await second.locator('img').count()).to.equal(0);
      expect(await page.locator('#answer').innerText()).to.contain('"other.example" are not shown');
      expect(await page.getByLabel('query').inputValue()).to.equal('trail shoe');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await page.getByText('The request as JSON').click();
      await page.locator('#body').fill('{"candidates": 7}');
      await page.locator('#body').press('Control+Enter');
      await page.locator('#refused', { hasText: 'candidates' }).waitFor();
      expect(await page.locator('.card').count(), 'an old answer beside a new error').to.equal(0);
    } finally {
      images.close();
    }
  });

  it('sends again after an error, and keeps what is typed when the fields change', async function () {
    this.timeout(60_000);
    const boosted = (type: string, boost: string): string =>
      FINDING.replace('query: optional', `boost: ${type}, query: optional`).replace(
        '0 - product.price',
        `"${boost}"`,
      );
    await writeFile(join(root, PIPELINE), FINDING);
    await writeFile(join(root, 'schemas/entities/product.yaml'), SHOWN);
    const url = await dev();
    await upload(url, undefined, [{ product_id: 'p1', title: 'Trail shoe', price: 1 }]);
    await page.goto(url);
    await page.getByLabel('query').fill('shoe');
    await page.getByLabel('query').press('Enter');
    await page.locator('#answer .card').waitFor();
    await writeFile(join(root, PIPELINE), boosted('float', 'request.boost'));
    await page.locator('#refused', { hasText: 'boost' }).waitFor();
    expect(await page.getByLabel('query').inputValue()).to.equal('shoe');
    await page.getByLabel('boost').waitFor();
    await writeFile(join(root, PIPELINE), boosted('optional(float)', 'coalesce(request.boost, 0)'));
    await page.locator('#answer .card').waitFor();
    expect(await page.locator('#refused').innerText()).to.equal('');
  });

  it('shows why a request is refused', async function () {
    this.timeout(60_000);
    await page.goto(await dev());
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.locator('#body').fill('{"candidates": 7}');
    await page.locator('#body').press('Control+Enter');
    await page.locator('#refused', { hasText: 'candidates' }).waitFor();
    expect((await page.locator('#refused').innerText()).match(/found the number 7/g), 'once').to.have.length(
      1,
    );
  });

  it('asks for a key, and shows nothing of the project without one', async function () {
    this.timeout(60_000);
    const { id, text } = createKey();
    const key = {
      id,
      name: 'dev',
      hash: hashOfKey(text),
      scopes: ['explain', 'entities:write'] as const,
      created: Date.now(),
    };
    await writeFile(join(root, 'keys.json'), keysText([key]), { mode: 0o600 });
    const url = await dev({ MILLRACE_KEYS: join(root, 'keys.json') });
    await upload(url, text);
    await page.goto(url);
    await page.locator('#key').waitFor();
    await page.getByText('You are not signed in. Open the link of your invitation').waitFor();
    expect(await page.locator('body').innerText()).not.to.contain('/api/v1');
    expect((await fetch(new URL('/workbench/project', url))).status).to.equal(401);
    await page.locator('#key').fill(text);
    await page.locator('#key').press('Tab');
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#answer .card').first().waitFor();
    expect(await titles()).to.deep.equal(['dear', HOSTILE, 'cheap']);
  });
});
