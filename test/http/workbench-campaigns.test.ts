import { expect } from 'chai';
import { chmod, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import type { Browser, Locator, Page } from 'playwright-core';
import { compares } from '../../runtime/cli/compare/compares.js';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { ROLES } from '../../runtime/serve/access/scopes.js';
import { ServedKeys } from '../../runtime/serve/access/served-keys.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { startBrowser } from '../support/browser.js';
import { MadeLedger, START } from '../support/made-ledger.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { call, post } from './harness.js';

const FILES = {
  'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlin\nimage_hosts: [cdn.shop.example]\n',
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
display: { title: title, subtitle: brand, badges: [price, stock] }
attributes: { title: string, brand: string, ean: string, shelf: string, price: float, stock: int }
`,
  'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite: string }\n',
  'pipelines/shop.yaml': `pipeline: shop
rank: product
request: { candidates: {}, query: optional(query), category: optional(string), user: optional(user) }
retrieve:
  - { use: words, as: found, when: known(query.query), with: { query: query.query, fields: { product.title: 1 } } }
  - { use: words, as: shelf, when: known(request.category), with: { query: request.category, fields: { product.shelf: 1 } } }
components:
  - { use: filter, as: in_stock, with: { keep: product.stock > 0 } }
  - use: score
    with:
      value: "100 - product.price + if(coalesce(product.brand == user.favourite, false), 1000, 0)"
  - { use: curation, with: { list: campaigns } }
`,
  'curation/campaigns.yaml': `curation: campaigns
campaigns:
  recall:
    hide: [p8]
    note: recalled
  radio_week:
    on: { query: [radio] }
    pin: { 1: p9 }
`,
};

const SHELVES = { Fernseher: 'tv', Radio: 'audio', Laptop: 'laptop' };
/** 8 televisions, 8 radios and 8 laptops, each cheaper than the next. p3 is sold out. */
const PRODUCTS = Object.entries(SHELVES).flatMap(([title, shelf], group) =>
  Array.from({ length: 8 }, (_, at) => {
    const number = 8 * group + at;
    return {
      product_id: `p${number}`,
      title: `${title} ${number}`,
      brand: at % 4 === 3 ? 'Lumen' : 'Nord',
      ean: `40000000000${String(number).padStart(2, '0')}`,
      shelf,
      price: 10 + at,
      stock: number === 3 ? 0 : 5,
    };
  }),
);

/** What was asked for: ten pages of televisions by category, and ten of radios by query. */
function loggedRequests(): MadeLedger {
  const ledger = new MadeLedger();
  for (let at = 0; at < 20; at++) {
    const isTv = at % 2 === 0;
    const ids = Array.from({ length: 8 }, (_, number) => `p${(isTv ? 0 : 8) + number}`);
    ledger.ranking(
      {
        ...{ request: `r${at}`, time: START + at, candidates: ids.map((id) => ({ id })) },
        ...(isTv ? { values: { 'request.category': 'tv' } } : { entities: ['query=radio'] }),
      },
      { request: { 'request.category': 'text' } },
      { pipeline: 'shop' },
    );
  }
  return ledger;
}

describeWith('chromium', 'the screen of campaigns, in German', function () {
  this.timeout(30_000);
  let browser: Browser;
  let page: Page;
  let root = '';
  let close: () => Promise<void>;
  let url = '';
  let clicks = 0;
  let complaints: string[] = [];
  const people: Record<string, string> = {};
  let [cookie, csrf] = ['', ''];

  before(async function () {
    browser = await startBrowser(this);
    const keys = (['anna', 'ben', 'cora'] as const).map((name) => {
      const { id, text } = createKey();
      people[name] = text;
      const more = name === 'anna' ? { invites: true as const, expires: Date.now() + 3_600_000 } : {};
      const scopes =
        name === 'cora' ? ['explain' as const] : [...ROLES.merchandiser, 'entities:write' as const];
      return { id, name, hash: hashOfKey(text), scopes, created: Date.now(), ...more };
    });
    root = await writeProject({ ...FILES, 'keys.json': keysText(keys) });
    await chmod(join(root, 'keys.json'), 0o600);
    loggedRequests().write(join(root, '.millrace', 'ledger'));
    const settings = loadSettings(
      { LOG_LEVEL: 'silent', MILLRACE_QUEUE_MS: '30000', MILLRACE_KEYS: join(root, 'keys.json') },
      { project: root },
    );
    const app = await createApp(settings, {
      ...{ store: new MemoryStore(), compares },
      logger: pino({ level: 'silent' }),
      keys: await ServedKeys.open(join(root, 'keys.json')),
    });
    const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${server.port}`;
    close = async () => {
      await server.close(0);
      await app.close();
    };
    const opened = await post(`${url}/api/v1/session/open`, { invitation: people['anna'] });
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    csrf = String((await call(`${url}/api/v1/session`, { headers: { cookie } })).json?.csrf);
    await as('ben', 'entities/upload', { entity_type: 'product', entities: PRODUCTS });
    const context = await browser.newContext({
      locale: 'de-DE',
      timezoneId: 'America/New_York',
      viewport: { width: 1280, height: 900 },
    });
    const [name = '', value = ''] = cookie.split('=');
    await context.addCookies([{ name, value, url }]);
    page = await context.newPage();
    page.setDefaultTimeout(5000);
    // The browser writes a line for each answer with a 4xx; these are expected.
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('status of 4'))
        complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    await as('ben', 'entities/upload', {
      entity_type: 'user',
      entities: [{ user_id: 'u7', favourite: 'Lumen' }],
    });
  });
  after(async () => {
    await browser.close();
    await close();
    await rm(root, { recursive: true, force: true });
  });
  beforeEach(async () => {
    await empty();
    complaints = [];
    await open();
  });

  /** Calls the service: anna by her session, ben by a key. */
  async function as(who: string, path: string, body: object): Promise<Record<string, unknown>> {
    const headers: Record<string, string> =
      who === 'anna' ? { cookie, 'x-millrace-csrf': csrf } : { authorization: `Bearer ${people[who] ?? ''}` };
    const { status, json } = await post(`${url}/api/v1/${path}`, body, headers);
    expect(status, JSON.stringify(json)).to.equal(200);
    return json as Record<string, unknown>;
  }

  /** Removes all drafts and campaigns. */
  async function empty(): Promise<void> {
    const list = 'campaigns';
    const { drafts } = (await as('ben', 'curation/draft/get', { list })) as { drafts: { draft: string }[] };
    for (const { draft } of drafts) await as('ben', 'curation/draft/discard', { list, draft });
    const { campaigns } = (await as('ben', 'curation/get', { list })) as { campaigns: object };
    const gone = Object.fromEntries(Object.keys(campaigns).map((name) => [name, null]));
    if (Object.keys(gone).length > 0) await publish('ben', 'empty', gone);
  }

  async function publish(who: string, draft: string, campaigns: object): Promise<void> {
    await as(who, 'curation/draft/put', { list: 'campaigns', draft, campaigns });
    await as(who, 'curation/publish', { list: 'campaigns', draft });
  }

  async function stored(draft = 'entwurf'): Promise<Record<string, unknown>> {
    const { drafts } = (await as('ben', 'curation/draft/get', { list: 'campaigns', draft })) as {
      drafts: { changes: { campaign: string; after: unknown }[] }[];
    };
    return Object.fromEntries(drafts[0]?.changes.map(({ campaign, after }) => [campaign, after]) ?? []);
  }

  async function open(): Promise<void> {
    await page.goto('about:blank'); // another fragment alone is no new start
    await page.goto(`${url}/workbench#campaigns`);
    await page.getByRole('heading', { name: 'Neue Aktion' }).waitFor();
    clicks = 0;
  }

  /** Everything for which a person uses the mouse counts as one click, also to go to a field. */
  async function click(what: Locator): Promise<void> {
    clicks++;
    await what.click();
  }
  async function fill(label: string, text: string, within: Locator | Page = page): Promise<void> {
    clicks++;
    await within.getByLabel(label, { exact: true }).fill(text);
    await within.getByLabel(label, { exact: true }).press('Enter');
  }
  async function choose(within: Locator | Page, label: string, option: string): Promise<void> {
    clicks++;
    await within.getByLabel(label, { exact: true }).selectOption(option);
  }
  const button = (name: string | RegExp, within: Locator | Page = page): Locator =>
    within.getByRole('button', { name, exact: typeof name === 'string' });
  const form = (name: string): Locator => page.getByRole('form', { name, exact: true });
  const titles = (): Promise<string[]> => page.locator('#page .card h3').allInnerTexts();
  const first = (title: string): Locator =>
    page.locator('#page li:first-child h3', { hasText: new RegExp(`^${title}$`) });
  const done = (): void => {
    expect(clicks).to.be.at.most(5);
    expect(complaints).to.deep.equal([]);
  };

  it('pins a product that was not found, and one that is dragged', async () => {
    await fill('query', 'fernseher');
    await first('Fernseher 0').waitFor();
    await fill('Id oder Wörter des Titels', 'laptop 20');
    await click(button('Auf Platz 1 setzen: Laptop 20'));
    await first('Laptop 20').waitFor();
    // Its title is known from the search: it was on no page.
    expect(await page.locator('#said').innerText()).to.contain('Laptop 20 ist auf Platz 1 gesetzt.');
    await page.locator('#pins', { hasText: 'Erscheint auf Platz 1.' }).waitFor();
    done();
    await page
      .locator('#page li', { hasText: 'Fernseher 5' })
      .dragTo(page.locator('#page li', { hasText: 'Fernseher 0' }));
    await page.locator('#pins', { hasText: 'Fernseher 5' }).waitFor();
    await page.locator('#page li:nth-child(2) h3', { hasText: 'Fernseher 5' }).waitFor();
    expect(await stored()).to.deep.equal({
      aktion: { on: { query: ['fernseher'] }, pin: { 1: 'p20', 2: 'p5' } },
    });
  });

  it('pins a sold-out product, and says why it is not shown', async () => {
    await fill('query', 'fernseher');
    await fill('Id oder Wörter des Titels', 'Fernseher 3');
    await click(button('Auf Platz 1 setzen: Fernseher 3'));
    await page.locator('#pins', { hasText: 'Erscheint nicht: Der Schritt in_stock entfernt es' }).waitFor();
    expect(await page.locator('#pins').innerText())
      .to.contain('Fernseher 3 (p3)')
      .and.contain('Es bleibt, wofür gilt „stock ist über 0“');
    done();
    await fill('Id oder Wörter des Titels', '4000000000005');
    await button('Auf Platz 1 setzen: Fernseher 5').waitFor();
  });

  it('hides a product, shows what the file hides as locked, and who has a place', async () => {
    await fill('query', 'radio');
    await first('Radio 9').waitFor();
    expect(await titles()).not.to.contain('Radio 8');
    expect(await page.locator('#page li').first().innerText()).to.contain(
      'gesperrt: radio_week, curation/campaigns.yaml, Zeile 6',
    );
    await click(button('Verbergen: Radio 10'));
    await page.locator('#said', { hasText: 'Radio 10 ist verborgen.' }).waitFor();
    await page.locator('#page h3', { hasText: 'Radio 10' }).waitFor({ state: 'detached' });
    done();
    await click(page.getByText('Gesperrt: 2 Regeln aus curation/campaigns.yaml'));
    await page.getByText('hide: [p8]').waitFor();
  });

  it('boosts a brand in two categories without an expression', async () => {
    await fill('Für die Kategorien', 'tv, audio');
    await first('Fernseher 0').waitFor();
    const boost = form('Bevorzugen');
    await choose(boost, 'Eigenschaft', 'product.brand');
    await fill('Wert', 'Lumen', boost);
    await first('Fernseher 7').waitFor();
    await boost.getByText('brand ist Lumen × 1,5').waitFor();
    done();
    expect(await stored()).to.deep.equal({
      aktion: {
        on: { category: ['tv', 'audio'] },
        boost: { where: 'product.brand == "Lumen"', multiply: 1.5 },
      },
    });
    await fill('Faktor des Scores', '1,5x', boost);
    await boost.getByText('Erwartet wird eine Zahl über 0, zum Beispiel 1,5.').waitFor();
  });

  it('buries by an attribute that the pipeline does not read', async () => {
    await fill('query', 'fernseher');
    await first('Fernseher 0').waitFor();
    const bury = form('Nach hinten stellen');
    await choose(bury, 'Eigenschaft', 'product.ean');
    await fill('Wert', '4000000000000', bury);
    await first('Fernseher 1').waitFor();
    done();
    expect(await stored()).to.deep.equal({
      aktion: { on: { query: ['fernseher'] }, bury: { where: 'product.ean == "4000000000000"' } },
    });
  });

  it('sponsors place 3 as an advertisement', async () => {
    await fill('query', 'fernseher');
    const sponsor = form('Bezahlter Platz');
    await fill('Produkt', 'p20', sponsor);
    await page.locator('#said', { hasText: 'gespeichert' }).waitFor();
    await fill('Plätze', '3', sponsor);
    await sponsor.getByText('Erscheint auf Platz 3.').waitFor();
    expect(await page.locator('#page li:nth-child(3)').innerText())
      .to.contain('Laptop 20')
      .and.contain('Anzeige');
    done();
  });

  it('refuses the image of a foreign host beside its field, and shows a banner', async () => {
    await fill('query', 'fernseher');
    const banner = form('Banner');
    await fill('Text', 'Black Friday', banner);
    await page.locator('.banner', { hasText: 'Black Friday' }).waitFor();
    await fill('Bild', 'https://other.example/1.webp', banner);
    await banner.getByText('Bilder von other.example sind nicht erlaubt.').waitFor();
    expect(await banner.getByLabel('Bild').getAttribute('aria-invalid')).to.equal('true');
    expect(await banner.getByLabel('Bild').inputValue(), 'what was refused').to.equal(
      'https://other.example/1.webp',
    );
    done();
    await fill('Bild', '/img/1.webp', banner);
    await page.locator('.banner', { hasText: '/img/1.webp' }).waitFor();
    expect(await banner.getByLabel('Bild').getAttribute('aria-invalid')).to.equal('false');
  });

  it('makes one campaign for three categories on four days, and finds it again', async () => {
    await fill('Name', 'Black Friday');
    await fill('Erster Tag', '2031-11-27');
    await fill('Letzter Tag', '2031-11-30');
    await fill('Für die Kategorien', 'tv, audio, laptop');
    await page.locator('#said', { hasText: 'Noch nicht gespeichert' }).waitFor();
    await click(button('Verbergen: Fernseher 1'));
    await page.locator('#said', { hasText: 'verborgen' }).waitFor();
    done();
    const campaign = {
      from: '2031-11-27',
      until: '2031-11-30',
      on: { category: ['tv', 'audio', 'laptop'] },
      hide: ['p1'],
    };
    expect(await stored()).to.deep.equal({ black_friday: campaign });
    await open();
    clicks++;
    await page
      .getByLabel('Aktion', { exact: true })
      .selectOption({ label: 'black_friday · 27.11.2031 – 30.11.2031 · tv, audio, laptop' });
    await page.getByText('Sie gilt für: tv, audio, laptop.').waitFor();
    await page.locator('#when', { hasText: '27.11.2031, 12:00 (Europe/Berlin)' }).waitFor();
    await first('Fernseher 0').waitFor();
    done();
    await fill('Letzter Tag', '2031-11-20');
    await page
      .getByText('Die Aktion gilt nie: Sie endet am 20.11.2031, beginnt aber am 27.11.2031.')
      .waitFor();
    await fill('Letzter Tag', '2031-12-01');
    await page.locator('#said', { hasText: 'gespeichert' }).waitFor();
  });

  it('previews an evening as another user', async () => {
    const campaigns = { abend: { from: '2031-11-28', on: { query: ['fernseher'] }, pin: { 1: 'p7' } } };
    await as('ben', 'curation/draft/put', { list: 'campaigns', draft: 'bens', campaigns });
    await open();
    await choose(page, 'Entwurf', 'bens');
    await fill('query', 'fernseher');
    await first('Fernseher 0').waitFor();
    await fill('Vorschau für', '2031-11-28T20:00');
    await first('Fernseher 7').waitFor();
    expect(await page.locator('#when').innerText()).to.contain('28.11.2031, 20:00 (Europe/Berlin)');
    await fill('user', 'u7');
    await page.locator('#page li:nth-child(2) h3', { hasText: 'Fernseher 0' }).waitFor();
    done();
    await fill('Vorschau für', '2031-11-27T23:59');
    await page.locator('#page li:nth-child(1) h3', { hasText: 'Fernseher 7' }).waitFor();
    await fill('user', '');
    await first('Fernseher 0').waitFor();
  });

  it('finds a recalled product by its EAN, and hides it everywhere', async () => {
    await fill('Id oder Wörter des Titels', '4000000000010');
    await click(button('Verbergen: Radio 10'));
    await page.locator('#said', { hasText: 'verborgen' }).waitFor();
    await page.getByText('Sie gilt auf jeder Seite.').waitFor();
    done();
    expect(await stored()).to.deep.equal({ aktion: { hide: ['p10'] } });
    await fill('query', 'radio');
    await first('Radio 9').waitFor();
    expect(await titles()).not.to.contain('Radio 10');
  });

  it('sends the link of a preview to a colleague without a key, and takes it back', async () => {
    const campaigns = { abend: { from: '2031-11-28', on: { query: ['fernseher'] }, pin: { 1: 'p7' } } };
    await as('ben', 'curation/draft/put', { list: 'campaigns', draft: 'bens', campaigns });
    await open();
    await choose(page, 'Entwurf', 'bens');
    await fill('query', 'fernseher');
    await fill('Vorschau für', '2031-11-28T20:00');
    await first('Fernseher 7').waitFor();
    expect(await page.locator('#page li').first().innerText()).to.contain('stock 5 (heute)');
    await click(button('Diese Vorschau senden'));
    const link = page.getByLabel('Link der Vorschau');
    await link.waitFor();
    done();
    const context = await browser.newContext({ locale: 'de-DE', viewport: { width: 1280, height: 900 } });
    const guest = await context.newPage();
    guest.setDefaultTimeout(5000);
    try {
      await guest.goto(await link.inputValue());
      await guest.locator('li:first-child h3', { hasText: 'Fernseher 7' }).waitFor();
      expect(await guest.locator('#about').innerText())
        .to.contain('Entwurf bens')
        .and.contain('Gesendet von anna')
        .and.contain('Regeln: Stand 28.11.2031, 20:00 (Europe/Berlin)')
        .and.contain('Bestand, Preise und andere Werte sind die von heute');
      expect(await guest.locator('li:first-child').innerText()).to.contain('(heute)');
      expect(await accessibilityFaults(guest)).to.deep.equal([]);
      await click(button(/^Widerrufen/));
      await page.getByText('Der Link öffnet nichts mehr.').waitFor();
      await guest.reload();
      await guest.getByText('Der Link wurde widerrufen.').waitFor();
      expect(await accessibilityFaults(guest)).to.deep.equal([]);
    } finally {
      await context.close();
    }
  });

  it('uploads the CSV of a German Excel: nothing with two wrong rows, all of it once they are corrected', async () => {
    const sheet = (...rows: readonly string[]): { name: string; mimeType: string; buffer: Buffer } => ({
      ...{ name: 'aktionen.csv', mimeType: 'text/csv' },
      buffer: Buffer.from(
        ['campaign;from;until;category;action;target;value;text;note', ...rows, ''].join('\r\n'),
        'latin1',
      ),
    });
    await click(page.getByText('Tabelle', { exact: true }));
    clicks++;
    const input = page.getByLabel('CSV-Datei hochladen');
    await input.setInputFiles(
      sheet(
        'friday;31.11.2026;30.11.2026;tv;pin;p5;1;;für alle',
        'friday;;;;sponsor;p20;3;Anzeige;',
        'radios;;;audio;boost;"product.brnad == ""Lumen""";1,5;;',
      ),
    );
    const rows = page.locator('#rows tbody tr');
    await rows.nth(1).waitFor();
    expect(await rows.nth(0).locator('td').allInnerTexts()).to.deep.equal([
      '2',
      'from (B2)',
      'Erwartet wird ein Tag oder eine Zeit, gefunden: „31.11.2026“.',
      'Schreiben Sie einen Tag wie 27.11.2026 oder eine Zeit wie 27.11.2026 20:00.',
    ]);
    expect(await rows.nth(1).innerText())
      .to.contain('target (F4)')
      .and.contain('Meinten Sie product.brand?');
    await page.getByText('Nichts wurde gespeichert: Die Datei hat 2 falsche Zellen.').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    const { drafts } = await as('ben', 'curation/draft/get', { list: 'campaigns' });
    expect(drafts).to.deep.equal([]);
    clicks++;
    await input.setInputFiles(
      sheet(
        'friday;27.11.2026;30.11.2026;tv;pin;p5;1;;für alle',
        'friday;;;;sponsor;p20;3;Anzeige;',
        'radios;;;audio;boost;"product.brand == ""Lumen""";1,5;;',
      ),
    );
    await page.locator('#said', { hasText: 'Der Entwurf entwurf ändert jetzt 2 Aktionen.' }).waitFor();
    done();
    expect(await stored()).to.deep.equal({
      friday: {
        ...{ from: '2026-11-27', until: '2026-11-30', on: { category: ['tv'] }, pin: { 1: 'p5' } },
        ...{ sponsor: { places: [3], product: 'p20', label: 'Anzeige' }, note: 'für alle' },
      },
      radios: {
        on: { category: ['audio'] },
        boost: { where: 'product.brand == "Lumen"', multiply: 1.5 },
      },
    });
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      click(button('Als CSV herunterladen')),
    ]);
    const text = await readFile(await download.path(), 'utf8');
    expect(text.split('\r\n')[1]).to.equal('friday;27.11.2026;30.11.2026;tv;;;;pin;p5;1;;;für alle');
    expect(text)
      .to.contain('1,5')
      .and.match(/^\uFEFF/);
  });

  it('says what changes, publishes, and undoes it after a colleague published', async () => {
    const campaigns = {
      annas: { on: { category: ['tv'] }, pin: { 1: 'p5', 2: 'p3' } },
    };
    await as('anna', 'curation/draft/put', { list: 'campaigns', draft: 'annas', campaigns });
    await open();
    await click(button('Was ändert sich?'));
    await page.locator('#moved').getByText('5 Produkte ändern ihren Platz; die Seite hat 7.').waitFor();
    expect(await page.locator('#moved tbody tr').first().locator('td').allInnerTexts()).to.deep.equal([
      'Fernseher 5',
      '5',
      '1',
    ]);
    const effect = page.locator('#effect');
    await effect.getByText('50 % der letzten 20 protokollierten Anfragen ändern sich').waitFor();
    expect(await effect.locator('table').first().locator('td').allInnerTexts()).to.deep.equal([
      ...['tv', '10', '10', '5'],
    ]);
    const rows = effect.locator('table').nth(1).locator('tbody tr');
    expect(await rows.nth(0).innerText())
      .to.contain('Fernseher 5 (p5)')
      .and.contain('100 % von 10');
    expect(await rows.nth(1).innerText())
      .to.contain('0 % von 10')
      .and.contain('Der Schritt in_stock entfernt es in 100 %.');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await click(button('Veröffentlichen'));
    await page.locator('#said', { hasText: 'Veröffentlicht: 1 Aktion.' }).waitFor();
    done();
    await publish('ben', 'bens', { bens: { on: { category: ['tv'] }, hide: ['p0'] } });
    await open();
    await click(button('Zeigen, was veröffentlicht wurde'));
    const annas = page.locator('#publishes li', { hasText: 'anna: annas veröffentlicht' }).first();
    await click(button(/^Rückgängig machen/, annas));
    await page.locator('#said', { hasText: 'Rückgängig gemacht.' }).waitFor();
    const { campaigns: left } = await as('ben', 'curation/get', { list: 'campaigns' });
    expect(Object.keys(left as object)).to.deep.equal(['bens']);
    done();
  });

  it('shows both sides of a conflict, and keeps mine', async () => {
    await publish('ben', 'base', { both: { on: { query: ['radio'] }, pin: { 2: 'p11' } } });
    const mine = { both: { on: { query: ['radio'] }, pin: { 2: 'p12' } } };
    await as('anna', 'curation/draft/put', { list: 'campaigns', draft: 'annas', campaigns: mine });
    await publish('ben', 'bens', { both: { on: { query: ['radio'] }, pin: { 2: 'p13' } } });
    await open();
    await page.locator('#draft', { hasText: 'Jemand hat seitdem' }).waitFor();
    await click(button('Veröffentlichen'));
    await page.getByText('Nicht veröffentlicht: Andere haben dieselben Aktionen').waitFor();
    expect(await page.locator('.conflict').innerText())
      .to.contain('ben hat both am')
      .and.contain('Sie gilt für: radio.')
      .and.contain('Platz 2: Radio 12 (p12)')
      .and.contain('p13');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await click(button('Meine behalten'));
    await page.locator('#said', { hasText: 'ersetzt jetzt die andere' }).waitFor();
    await click(button('Veröffentlichen'));
    await page.locator('#said', { hasText: 'Veröffentlicht' }).waitFor();
    const { campaigns } = await as('ben', 'curation/get', { list: 'campaigns' });
    expect(campaigns).to.deep.equal(mine);
  });

  it('can be reached by keyboard, and is accessible, empty and filled', async () => {
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.goto(`${url}/workbench`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Neue Aktion' }).waitFor();
    await fill('query', 'fernseher');
    await first('Fernseher 0').waitFor();
    await page.getByLabel('Platz von Fernseher 5').fill('1');
    await page.getByLabel('Platz von Fernseher 5').press('Enter');
    await first('Fernseher 5').waitFor();
    await fill('Id oder Wörter des Titels', 'nix');
    await page.getByText('Nichts gefunden.').waitFor();
    await fill('Produkt', 'p77', form('Bezahlter Platz'));
    await page.getByText('Nicht im Index: Stimmt die Id?').waitFor();
    await fill('Bild', 'https://other.example/1.webp', form('Banner'));
    await page.getByText('Bilder von other.example').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    const scripts = await page.evaluate(
      `Promise.all(['main.js', 'session.js', 'preview.js', 'style.css'].map((name) => fetch('/workbench/' + name)
        .then((answer) => new Response(answer.body.pipeThrough(new CompressionStream('gzip'))).arrayBuffer())
        .then((bytes) => bytes.byteLength))).then((sizes) => sizes.reduce((sum, one) => sum + one))`,
    );
    expect(scripts).to.be.at.most(200 * 1024);
  });

  it('asks what needs more than an explanation: a draft is shown to those who may preview', async () => {
    await as('ben', 'curation/draft/put', {
      list: 'campaigns',
      draft: 'bens',
      campaigns: { tv: { on: { category: ['tv'] }, pin: { 1: 'p3', 2: 'p20' } } },
    });
    const explain = (who: string, query: string): ReturnType<typeof post> =>
      post(
        `${url}/api/v1/shop/explain${query}`,
        { category: 'tv' },
        {
          authorization: `Bearer ${people[who] ?? ''}`,
        },
      );
    expect((await explain('cora', '')).status).to.equal(200);
    const refused = await explain('cora', '?draft=bens');
    expect([refused.status, refused.json?.code]).to.deep.equal([403, 'scope_missing']);
    const unknown = await explain('ben', '?draft=none');
    expect([unknown.status, unknown.json?.code]).to.deep.equal([404, 'unknown_draft']);
    const { why, page: shown } = (await explain('ben', '?draft=bens&why=p3')).json as unknown as {
      why: object;
      page: { candidate_id: string }[];
    };
    expect(shown[1]?.candidate_id).to.equal('p20');
    expect(why).to.deep.include({ candidate_id: 'p3', fate: 'removed', as: 'in_stock' });
    expect(why).to.have.nested.property('card.title', 'Fernseher 3');
    const list = await as('ben', 'curation/get', { list: 'campaigns' });
    expect(list).to.deep.include({
      time_zone: 'Europe/Berlin',
      locked: [
        { rule: 'campaigns:recall:1', line: 3, text: 'recall:\n    hide: [p8]\n    note: recalled' },
        {
          rule: 'campaigns:radio_week:1',
          line: 6,
          text: 'radio_week:\n    on: { query: [radio] }\n    pin: { 1: p9 }',
        },
      ],
    });
    const [use] = list['uses'] as { on: string[]; attributes: object[] }[];
    expect(use?.on).to.deep.equal(['query', 'category']);
    expect(use?.attributes)
      .to.deep.include({ name: 'product.brand', type: 'text' })
      .and.deep.include({ name: 'product.stock', type: 'number' })
      .and.deep.include({ name: 'product.ean', type: 'text' });
  });
});
