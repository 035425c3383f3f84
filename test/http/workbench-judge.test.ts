import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { compares } from '../../runtime/cli/compare/compares.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { startBrowser } from '../support/browser.js';
import { millrace } from '../support/command-line.js';
import { JUDGE_SHOP, serveJudgeShop, type JudgeShop } from '../support/judge-shop.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith, itWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { post } from './harness.js';

const run = promisify(execFile);
const QUERIES = Array.from({ length: 10 }, (_, at) => `zelt ${at}`);
const PICTURE =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><path d="M1 9 5 1 9 9z" fill="#3b7"/></svg>';

describeWith('chromium', 'the work of a scientist in the workbench, in German', function () {
  this.timeout(60_000);
  let browser: Browser;
  let page: Page;
  let root = '';
  let shop: JudgeShop;
  let clicks = 0;
  let complaints: string[] = [];

  before(async function () {
    browser = await startBrowser(this);
    root = await writeProject(JUDGE_SHOP);
    shop = await serveJudgeShop(root, new MemoryStore(), { compares, records: true });
    await post(`${shop.url}/api/v1/judging/start`, {
      ...{ round: 'zelte', queries: QUERIES, depth: 2 },
      arms: [{ pipeline: 'shop' }, { pipeline: 'shop_new' }],
    });
    const context = await browser.newContext({
      ...{ locale: 'de-DE', viewport: { width: 1280, height: 900 }, acceptDownloads: true },
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.route('https://cdn.shop.example/**', (route) =>
      route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }),
    );
    page.on('console', (message) => {
      if (message.type() === 'error' && !/status of 4/.test(message.text())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  after(async () => {
    await browser.close();
    await shop.close();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    complaints = [];
    await page.setViewportSize({ width: 1280, height: 900 });
  });
  afterEach(() => expect(complaints).to.deep.equal([]));

  async function open(screen: string): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${shop.url}/workbench#${screen}`);
    clicks = 0;
  }
  async function click(what: Locator): Promise<void> {
    clicks++;
    await what.click();
  }
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name });
  const titles = (): Promise<string[]> => page.locator('#answer .card h3').allInnerTexts();
  const firstTitle = (title: string): Promise<void> =>
    page.locator('#answer .card h3').first().getByText(title, { exact: true }).waitFor();
  async function ranked(): Promise<void> {
    await open('rank');
    await click(button('Suchen'));
    await firstTitle('Zelt Modell 0');
  }
  async function saved(work: Promise<void>): Promise<string> {
    const download = (await Promise.all([page.waitForEvent('download'), work]))[0];
    return await readFile(await download.path(), 'utf8');
  }
  async function fits(): Promise<void> {
    for (const width of [768, 2560]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(width);
    }
  }

  it('grades ten queries blind, by the keyboard, and exports what evaluate reads', async () => {
    await open('judge');
    await click(button('zelte bewerten'));
    const cards = page.locator('.judged [data-card]');
    await cards.first().waitFor();
    expect(await page.locator('main').innerText()).not.to.match(/score|shop_new|arm/i);
    // Who chooses a round can use the keys at once.
    await page.locator('.judged [data-card]:focus').waitFor();
    for (let number = 1; number <= QUERIES.length; number++) {
      await page
        .getByText(`Suche ${number} von 10; ${number - 1} sind fertig`)
        .first()
        .waitFor();
      for (let card = 0; card < 4; card++) await page.keyboard.press(String(card % 4));
    }
    await page.getByText('Alle Suchen sind fertig. Danke.').waitFor();
    await click(button('Ergebnis von zelte'));
    await page.getByText('40 Noten für 10 Suchen').waitFor();
    const csv = await saved(click(button('zelte.csv speichern')));
    expect(clicks).to.be.at.most(5);
    expect(csv.split('\n').slice(0, 1)).to.deep.equal(['query,id,grade']);
    await mkdir(join(root, 'judgments'), { recursive: true });
    await writeFile(join(root, 'judgments', 'zelte.csv'), csv);
    const file = join(root, 'judgments', 'zelte.csv');
    const where = ['--project', root, '--store', 'embedded', '--judgments', file, '--json'];
    const evaluated = await millrace(['evaluate', 'shop', ...where]);
    expect(evaluated.code, evaluated.stderr).to.equal(0);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('moves among cards and queries, skips, and takes back, by keys and by buttons', async () => {
    await open('judge?round=zelte');
    await page.getByLabel('Ihr Name').fill('ben');
    await page.keyboard.press('Tab');
    const cards = page.locator('.judged [data-card]');
    await page.getByText('Suche 1 von 10; 0 sind fertig').first().waitFor();
    const focused = (): Promise<string | null> =>
      page.locator('.judged [data-card]:focus').getAttribute('aria-label');
    await cards.first().focus();
    await page.keyboard.press('ArrowRight');
    expect(await focused()).to.equal(await cards.nth(1).getAttribute('aria-label'));
    await page.keyboard.press('2');
    const title = (await cards.nth(1).locator('h3').innerText()).trim();
    await page
      .locator('.judged [data-card]', { hasText: title })
      .locator('button[aria-pressed=true]')
      .waitFor();
    expect(await cards.nth(1).getAttribute('aria-label')).to.equal(`${title}, 2`);
    await page.keyboard.press('u');
    await page.getByText(`${title}: Note zurückgenommen`).waitFor();
    expect(await cards.nth(1).getAttribute('aria-label')).to.equal(`${title}, ohne Note`);
    await page.keyboard.press('s');
    await page.getByText('Suche 2 von 10; 1 sind fertig').first().waitFor();
    await page.keyboard.press('n');
    await page.getByText('Suche 3 von 10; 1 sind fertig').first().waitFor();
    await page.keyboard.press('p');
    await page.getByText('Suche 2 von 10; 1 sind fertig').first().waitFor();
    await cards.first().getByRole('button', { name: '3', exact: true }).click();
    await cards.first().locator('button[aria-pressed=true]').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await fits();
    await page.setViewportSize({ width: 1280, height: 900 });
    await click(button('Ergebnis von zelte'));
    await page.getByText('Krippendorffs Alpha').waitFor();
    const rows = await page.locator('#result table').first().locator('tbody tr').allInnerTexts();
    expect(rows).to.have.length(2);
  });

  it('starts a round, shows mistakes at once, and removes it after a second click', async () => {
    await open('judge');
    await click(page.getByText('Neue Runde'));
    await page.getByLabel('Name der Runde').fill('Neu');
    await page.getByLabel('Suchen, eine je Zeile').fill('zelt\nbett');
    await click(button('Runde starten'));
    await page.getByRole('alert').getByText('round').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByLabel('Name der Runde').fill('neu');
    await page.getByLabel('Parameter der Pipeline 1').fill('w_price=0, w_lumen=50');
    await click(button('Runde starten'));
    await page.getByText('Suche 1 von 2; 0 sind fertig').first().waitFor();
    await button('neu löschen').click();
    await button('neu mit allen Noten löschen').click();
    await button('neu bewerten').waitFor({ state: 'detached' });
    expect(clicks).to.be.at.most(5);
  });

  it('opens a logged request, with values then and now', async () => {
    const body = { candidates: { from: 'index', where: 'true' }, query: 'zelt', request_id: 'r7' };
    await post(`${shop.url}/api/v1/shop`, body);
    const change = (price: number): ReturnType<typeof post> =>
      post(`${shop.url}/api/v1/entities/update`, {
        ...{ entity_type: 'product', entities: [{ product_id: 'p1', price }] },
      });
    await change(90);
    await open('rank');
    const read = (): ReturnType<typeof post> =>
      post(`${shop.url}/api/v1/rankings/logged`, { request_id: 'r7' });
    // Records are written soon after the answer.
    while ((await read()).status === 404);
    await page.getByLabel('Eine protokollierte Anfrage öffnen').fill('r7');
    await click(button('Öffnen'));
    await page.getByText('Protokollierte Anfrage r7').waitFor();
    await page.locator('#answer .card').first().waitFor();
    expect((await titles())[1]).to.equal('Zelt Modell 2');
    expect(await page.locator('#answer .card .place').nth(1).innerText()).to.include('▲ 1');
    await click(button(/^Warum Zelt Modell 2 auf Platz 2/));
    const dialog = page.getByRole('dialog');
    const row = dialog.locator('tr', { hasText: 'product.price' }).last();
    expect(await row.innerText()).to.match(/^product\.price\s+12\s+12\s+vorhanden$/);
    expect(clicks).to.be.at.most(5);
    await dialog.getByRole('button', { name: 'Schließen' }).click();
    await change(11);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('compares p17 with p3', async () => {
    await ranked();
    await click(button(/^Warum Zelt Modell 17 /));
    const dialog = page.getByRole('dialog');
    clicks++;
    await dialog.getByLabel('Vergleichen mit').selectOption({ label: '4. Zelt Modell 3' });
    await dialog.locator('#pair table').waitFor();
    expect(await dialog.locator('#pair').innerText()).to.include('Der Unterschied zu Zelt Modell 3');
    expect(await dialog.locator('#pair tbody tr').last().innerText()).to.include('-14');
    expect(clicks).to.be.at.most(5);
  });

  itWith('git', 'moves a param, copies the change, and validate passes on it', async () => {
    await ranked();
    clicks++;
    await page.getByLabel('w_lumen').fill('40');
    await firstTitle('Zelt Modell 1');
    await page.getByText('Die Änderung der Datei').waitFor();
    await click(button('Als YAML-Diff kopieren'));
    await page.getByText('Kopiert.').waitFor();
    expect(clicks).to.be.at.most(5);
    const diff = String(await page.evaluate('navigator.clipboard.readText()'));
    const copy = await writeProject(JUDGE_SHOP);
    try {
      await writeFile(join(copy, 'change.diff'), diff);
      await run('git', ['apply', 'change.diff'], { cwd: copy });
      expect(await readFile(join(copy, 'pipelines/shop.yaml'), 'utf8')).to.include('w_lumen: { value: 40,');
      const validated = await millrace(['validate', '--project', copy]);
      expect(validated.code, validated.stderr).to.equal(0);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await fits();
    await page.setViewportSize({ width: 1280, height: 900 });
    await click(button('Wie in der Datei'));
    await firstTitle('Zelt Modell 0');
  });

  it('finds what a param does to one brand', async () => {
    await ranked();
    clicks++;
    await page.getByLabel('Nur Karten mit').fill('lumen');
    await page.getByText('lumen: 12 auf dieser Seite, mittlerer Platz 13').waitFor();
    clicks++;
    await page.getByLabel('w_lumen').fill('100');
    await page
      .getByText('lumen: 14 auf dieser Seite, mittlerer Platz 7,5; vorher 12, mittlerer Platz 13')
      .waitFor();
    expect((await titles()).slice(0, 2)).to.deep.equal(['Zelt Modell 1', 'Zelt Modell 3']);
    expect(await page.locator('#answer .card .place').first().innerText()).to.include('▲ 1');
    expect(clicks).to.be.at.most(5);
  });

  it('saves a ranking as a test that passes, and as a judgment', async () => {
    await open('rank');
    await page.getByLabel('query').fill('zelt 0');
    await click(button('Suchen'));
    await firstTitle('Zelt Modell 0');
    const yaml = await saved(click(button('Als Test speichern')));
    await page.getByText('Er besteht.').waitFor();
    expect(clicks).to.be.at.most(5);
    await mkdir(join(root, 'tests'), { recursive: true });
    await writeFile(join(root, 'tests', 'shop_1.yaml'), yaml);
    const tested = await millrace(['test', '--project', root]);
    expect(tested.code, tested.stdout + tested.stderr).to.equal(0);
    await click(button(/^Warum Zelt Modell 12 /));
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Als Bewertung speichern').click();
    await dialog.getByRole('button', { name: 'Speichern' }).click();
    await dialog.getByText('In der Runde zelte gespeichert.').waitFor();
    const { json } = await post(`${shop.url}/api/v1/judging/export`, { round: 'zelte' });
    expect(String(json?.['csv'])).to.include('zelt 0,p12,3');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('shows an empty screen, and a judge without other rights', async () => {
    const ranking = await serveJudgeShop(root, new MemoryStore(), {});
    try {
      await page.goto(`${ranking.url}/workbench#judge`);
      await page.getByText('Es gibt noch keine Runde. Starten Sie eine.').waitFor();
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await page.goto(`${ranking.url}/workbench#rank`);
      await button('Suchen').waitFor();
      expect(await page.getByLabel('w_lumen').count()).to.equal(0);
    } finally {
      await ranking.close();
    }
  });
});
