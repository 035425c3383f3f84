import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
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

describeWith('chromium', 'millrace dev and its page /inspect', () => {
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

  async function upload(url: string, key?: string): Promise<void> {
    const answer = await fetch(new URL('/api/v1/entities/upload', url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ entity_type: 'product', entities: PRODUCTS }),
    });
    expect(answer.status).to.equal(200);
  }

  /** The column of the page of candidates. */
  const column = (number: number): Promise<string[]> =>
    page
      .locator(
        `#answer > div > div.scroll >> nth=0 >> css=:scope > table > tbody > tr > td:nth-child(${number})`,
      )
      .allInnerTexts();

  it('explains a ranking, and shows the moves when a file changes', async function () {
    this.timeout(60_000);
    const url = await dev();
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+\/inspect$/);
    await upload(url);
    const complaints: string[] = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(url);
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#answer table').first().waitFor();
    expect(await column(3)).to.deep.equal(['dear', HOSTILE, 'cheap']);
    expect(await column(2)).to.deep.equal(['', '', '']);
    await page.getByText('values').first().click();
    expect(await page.locator('#answer').innerText()).to.contain('product.price');

    await writeFile(join(root, PIPELINE), scoring('product.prise'));
    await page.locator('#problems').waitFor();
    const diagnostics = await page.locator('#diagnostics').innerText();
    expect(diagnostics).to.contain('pipelines/plain.yaml:5:').and.contain('^').and.contain('product.price');
    expect(await column(3)).to.deep.equal(['dear', HOSTILE, 'cheap']);
    expect(output.err).to.contain('not reloaded; the previous version continues to serve').and.contain('^');

    await writeFile(join(root, PIPELINE), scoring('0 - product.price'));
    await page.getByText('▲ 2').waitFor();
    expect(await column(3)).to.deep.equal(['cheap', HOSTILE, 'dear']);
    expect(await column(2)).to.deep.equal(['▲ 2', '=', '▼ 2']);
    expect(await page.locator('#problems').isHidden()).to.equal(true);
    expect(complaints).to.deep.equal([]);
    const screenshots = join(dirname(fileURLToPath(import.meta.url)), 'screenshots');
    mkdirSync(screenshots, { recursive: true });
    await page.screenshot({ path: join(screenshots, 'inspect.png'), fullPage: true });
  });

  it('shows why a request is refused', async function () {
    this.timeout(60_000);
    await page.goto(await dev());
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.locator('#body').fill('{"candidates": 7}');
    await page.locator('#body').press('Control+Enter');
    await page.locator('#refused', { hasText: 'candidates' }).waitFor();
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
    expect(await page.locator('body').innerText()).not.to.contain('/api/v1');
    expect((await fetch(new URL('/inspect/project', url))).status).to.equal(401);
    await page.locator('#key').fill(text);
    await page.locator('#key').press('Tab');
    await page.getByText('POST /api/v1/plain').waitFor();
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.locator('#answer table').first().waitFor();
    expect(await column(3)).to.deep.equal(['dear', HOSTILE, 'cheap']);
  });
});
