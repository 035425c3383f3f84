import type { Locator, Page } from 'playwright-core';
import type { ServedShop } from './served-shop.js';

/** A page of a browser, at a shop. */
export interface Stage {
  readonly page: Page;
  readonly shop: ServedShop;
  /** The address of the workbench that the state is of. */
  readonly url: string;
  /** Answers to paths that match do not come before the picture is taken. */
  hold(path: RegExp): Promise<void>;
}

/** What each screen is shown in. */
export const KINDS = ['empty', 'loading', 'filled', 'error', 'long', 'many'] as const;
export type Kind = (typeof KINDS)[number];

/** A state of a screen. */
export interface State {
  /** For the table of pictures; without it, the state is checked, and no picture is kept. */
  readonly says?: string;
  readonly width: 360 | 1280 | 2560;
  readonly isDark?: true;
  readonly locale?: 'en-GB';
  /** The store without data; or a browser without a session. */
  readonly at?: 'empty' | 'nobody';
  readonly show: (stage: Stage) => Promise<void>;
}

/** The states of a screen by kind, or why there is none of that kind; and further ones. */
export interface Screen {
  readonly title: string;
  readonly states: Readonly<Record<Kind, State | string>>;
  readonly more?: Readonly<Record<string, State>>;
}

const button = (page: Page, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const open = async ({ page, url }: Stage, path: string): Promise<void> => {
  await page.goto(`${url}${path}`);
};
const fill = async ({ page }: Stage, label: string, value: string): Promise<void> => {
  await page.getByLabel(label, { exact: true }).fill(value);
  await page.getByLabel(label, { exact: true }).press('Enter');
};

async function ranked(stage: Stage, query = 'fernseher'): Promise<void> {
  await open(stage, `/workbench?pipeline=shop&q=${encodeURIComponent(query)}#rank`);
  await stage.page.locator('#answer .card').first().waitFor();
}

const RANK: Screen = {
  title: 'Rank',
  states: {
    empty: {
      says: 'Nothing was searched for yet.',
      width: 1280,
      async show(stage) {
        await open(stage, '/workbench#rank');
        await stage.page.getByText('POST /api/v1/shop').first().waitFor();
      },
    },
    loading: {
      says: 'The answer is on its way.',
      width: 360,
      async show(stage) {
        await stage.hold(/\/explain/);
        await open(stage, '/workbench?pipeline=shop&q=fernseher#rank');
        await stage.page.locator('#answer[aria-busy=true]').waitFor();
      },
    },
    filled: {
      says: 'A search, with the page as cards and a slider for each param.',
      width: 1280,
      show: ranked,
    },
    error: {
      says: 'A request that the service refuses: the old answer is gone.',
      width: 360,
      isDark: true,
      async show(stage) {
        await ranked(stage);
        await stage.page.getByText('Die Anfrage als JSON').click();
        await stage.page.locator('#body').fill('{"query": {"query": "fernseher"}, "candidates": 7}');
        await stage.page.locator('#body').press('Control+Enter');
        await stage.page.locator('#refused', { hasText: 'candidates' }).waitFor();
      },
    },
    long: {
      says: 'A card with a title of 150 characters.',
      width: 360,
      async show(stage) {
        await ranked(stage, 'trekkingrucksack');
      },
    },
    many: {
      says: 'A page of 1,000 candidates.',
      width: 2560,
      async show(stage) {
        await ranked(stage);
        await stage.page.getByText('Die Anfrage als JSON').click();
        const body = { candidates: { from: 'index', where: 'true' }, user_page_size: 1000 };
        await stage.page.locator('#body').fill(JSON.stringify(body));
        await stage.page.locator('#body').press('Control+Enter');
        await stage.page.locator('#answer .card').nth(999).waitFor();
        await stage.page.getByText('Die Anfrage als JSON').click();
      },
    },
  },
  more: {
    why: {
      says: 'Why a product is ninth: what its score is made of, compared with the product at the top.',
      width: 1280,
      isDark: true,
      async show(stage) {
        await ranked(stage);
        await button(stage.page, /auf Platz 9 steht/).click();
        const dialog = stage.page.getByRole('dialog');
        await dialog.getByLabel('Vergleichen mit').selectOption({ index: 1 });
        await dialog.locator('#pair table').waitFor();
      },
    },
    params: {
      says: 'A param is moved: ▲ and ▼ show what that changes, and the change of the file can be copied.',
      width: 1280,
      async show(stage) {
        await ranked(stage);
        await stage.page.getByLabel('w_lumen').fill('150');
        await stage.page.getByText('Die Änderung der Datei').waitFor();
        await stage.page.getByText('Die Änderung der Datei').click();
        await stage.page.getByLabel('Nur Karten mit').fill('lumen');
        await stage.page.locator('#answer .card .up').first().waitFor();
      },
    },
    logged: {
      says: 'A logged request, in English.',
      width: 1280,
      locale: 'en-GB',
      async show(stage) {
        await open(stage, '/workbench#rank');
        await stage.page.getByLabel('Open a logged request').fill('asked-by-u1');
        await button(stage.page, 'Open').click();
        await stage.page.locator('#answer .card').first().waitFor();
      },
    },
  },
};

const EVENING = {
  evening: {
    ...{ from: '2026-11-27', until: '2026-11-30', on: { category: ['tv', 'audio', 'laptop'] } },
    ...{
      pin: { 1: 'p17', 2: 'p2' },
      hide: ['p9'],
      sponsor: { places: [3], product: 'p7', label: 'Anzeige' },
    },
    ...{ boost: { where: 'product.brand == "Lumen"', multiply: 1.5 } },
    banner: { place: 'top', text: 'Black Friday: vier Tage, alle Fernseher', link: '/black-friday' },
  },
};
const LIST = { list: 'campaigns' };
const draft = ({ shop }: Stage, who: 'anna' | 'ben', name: string, campaigns: object): Promise<unknown> =>
  shop.as(who, 'curation/draft/put', { ...LIST, draft: name, campaigns });

/** Removes all drafts and campaigns but those of the file, so that each state begins with none. */
async function noCampaigns({ shop }: Stage): Promise<void> {
  const { drafts } = (await shop.as('ben', 'curation/draft/get', LIST)) as { drafts: { draft: string }[] };
  for (const { draft: name } of drafts)
    await shop.as('ben', 'curation/draft/discard', { ...LIST, draft: name });
  const { campaigns: all } = (await shop.as('ben', 'curation/get', LIST)) as { campaigns: object };
  const gone = Object.fromEntries(Object.keys(all).map((name) => [name, null]));
  if (Object.keys(gone).length === 0) return;
  await shop.as('ben', 'curation/draft/put', { ...LIST, draft: 'gone', campaigns: gone });
  await shop.as('ben', 'curation/publish', { ...LIST, draft: 'gone' });
}

async function campaigns(stage: Stage, chosen = ''): Promise<void> {
  await open(stage, `/workbench#campaigns?pipeline=shop${chosen}`);
  await stage.page.locator('.editor h2').first().waitFor();
}

const CAMPAIGNS: Screen = {
  title: 'Campaigns',
  states: {
    empty: {
      says: 'A new campaign, before a page is chosen.',
      width: 1280,
      show: (stage) => campaigns(stage),
    },
    loading: {
      width: 360,
      async show(stage) {
        await stage.hold(/curation\/get/);
        await open(stage, '/workbench#campaigns');
        await stage.page.getByText('Die Liste wird gelesen').waitFor();
      },
    },
    filled: {
      says: 'A campaign for three categories: pins, a sponsored place, a boost and a banner, on the page as customers see it.',
      width: 1280,
      async show(stage) {
        await noCampaigns(stage);
        await draft(stage, 'anna', 'black_friday', EVENING);
        await campaigns(stage, '&draft=black_friday&campaign=evening');
        await stage.page.locator('#page .card').nth(5).waitFor();
      },
    },
    error: {
      says: 'A colleague changed the same campaign: both versions, and a choice.',
      width: 1280,
      isDark: true,
      async show(stage) {
        await noCampaigns(stage);
        const pinned = (id: string): object => ({ radio: { on: { category: ['audio'] }, pin: { 2: id } } });
        const other = async (id: string): Promise<void> => {
          await draft(stage, 'ben', 'bens', pinned(id));
          await stage.shop.as('ben', 'curation/publish', { ...LIST, draft: 'bens' });
        };
        await other('p211');
        await draft(stage, 'anna', 'annas', pinned('p212'));
        await other('p213');
        await campaigns(stage, '&draft=annas&campaign=radio');
        await button(stage.page, 'Veröffentlichen').click();
        await stage.page.locator('.conflict').waitFor();
        await stage.page.locator('.conflict').scrollIntoViewIfNeeded();
      },
    },
    long: {
      says: 'The page of a phone, with a long title, and the buttons of each card.',
      width: 360,
      async show(stage) {
        await noCampaigns(stage);
        await campaigns(stage);
        await fill(stage, 'query', 'trekkingrucksack');
        await stage.page.locator('#page .card').first().waitFor();
        await stage.page.locator('#page').scrollIntoViewIfNeeded();
      },
    },
    many: {
      says: 'A page of products on a wide screen.',
      width: 2560,
      async show(stage) {
        await noCampaigns(stage);
        await campaigns(stage);
        await fill(stage, 'query', 'fernseher');
        await stage.page.locator('#page .card').nth(20).waitFor();
      },
    },
  },
  more: {
    changes: {
      says: 'What a draft changes: the products that move, and how many of the logged requests.',
      width: 1280,
      async show(stage) {
        await noCampaigns(stage);
        await draft(stage, 'anna', 'black_friday', EVENING);
        await campaigns(stage, '&draft=black_friday&campaign=evening');
        await button(stage.page, 'Was ändert sich?').click();
        await stage.page.locator('#effect table').first().waitFor({ timeout: 60_000 });
        await stage.page.locator('#moved').scrollIntoViewIfNeeded();
      },
    },
    refused: {
      says: 'What is wrong stands below the field.',
      width: 360,
      isDark: true,
      async show(stage) {
        await noCampaigns(stage);
        await campaigns(stage);
        await fill(stage, 'query', 'fernseher');
        const banner = stage.page.getByRole('form', { name: 'Banner', exact: true });
        await banner.getByLabel('Bild').fill('https://other.example/1.webp');
        await banner.getByLabel('Bild').press('Enter');
        await banner.getByText('Bilder von other.example sind nicht erlaubt.').waitFor();
        await banner.scrollIntoViewIfNeeded();
      },
    },
  },
};

async function compared(stage: Stage): Promise<void> {
  await open(stage, '/workbench#compare');
  await button(stage.page, 'Vergleichen').click();
  await stage.page.locator('#found[aria-busy="false"] .gates').waitFor({ timeout: 60_000 });
}

const COMPARE: Screen = {
  title: 'Compare',
  states: {
    empty: {
      width: 1280,
      at: 'empty',
      async show(stage) {
        await open(stage, '/workbench#compare');
        await stage.page.getByText('Wählen Sie, was verglichen wird.').waitFor();
      },
    },
    loading: {
      width: 360,
      async show(stage) {
        await stage.hold(/comparisons\/get/);
        await open(stage, '/workbench#compare');
        await button(stage.page, 'Vergleichen').click();
        await stage.page.getByText('Wird gelesen').waitFor();
      },
    },
    filled: {
      says: 'Two pipelines on judgments: the gate, the difference with its interval, and slices by language.',
      width: 1280,
      async show(stage) {
        await open(stage, '/workbench#compare');
        await stage.page.getByLabel('Aufteilen nach').fill('language');
        await button(stage.page, 'Vergleichen').click();
        await stage.page.locator('#found[aria-busy="false"] .gates').waitFor({ timeout: 60_000 });
      },
    },
    error: {
      says: 'A file of judgments that lacks a column.',
      width: 360,
      isDark: true,
      async show(stage) {
        await open(stage, '/workbench#compare');
        await stage.page.getByLabel('Anhand von').selectOption('judgments:broken.csv');
        await button(stage.page, 'Vergleichen').click();
        await stage.page.getByRole('alert').waitFor();
      },
    },
    long: {
      says: 'Both pages of the query that loses most, on a phone.',
      width: 360,
      async show(stage) {
        await compared(stage);
        const lost = stage.page.locator('details.sided').first();
        await lost.locator('summary').click();
        await lost.scrollIntoViewIfNeeded();
      },
    },
    many: 'a report shows ten queries, whatever their number',
  },
  more: {
    pages: {
      says: 'Both pages of the query that loses most, with the grades of their products.',
      width: 2560,
      isDark: true,
      async show(stage) {
        await compared(stage);
        const lost = stage.page.locator('details.sided').first();
        await lost.locator('summary').click();
      },
    },
    experiment: {
      says: 'An experiment: the raw and the adjusted effect, the guards, and the test of the ratio.',
      width: 1280,
      async show(stage) {
        await open(stage, '/workbench#compare');
        await stage.page.getByLabel('Anhand von').selectOption('experiment:popularity');
        await button(stage.page, 'Bericht lesen').click();
        await stage.page.locator('#found[aria-busy="false"] table').first().waitFor({ timeout: 60_000 });
      },
    },
  },
};

const QUERIES = ['fernseher lumen', 'rucksack nord', 'zelt', 'kopfhörer', 'laptop pro'];
async function round(
  { shop }: Stage,
  name: string,
  queries: readonly string[],
  depth: number,
): Promise<void> {
  const { rounds } = (await shop.as('ben', 'judging/list', {}).catch(() => ({ rounds: [] }))) as {
    rounds: { round: string }[];
  };
  if (rounds.some((one) => one.round === name)) return;
  const arms = [{ pipeline: 'shop' }, { pipeline: 'shop_new' }];
  await shop.as('ben', 'judging/start', { round: name, queries, depth, arms }).catch((error: unknown) => {
    if (!String(error).includes('exists')) throw error;
  });
}

const JUDGE: Screen = {
  title: 'Judge',
  states: {
    empty: {
      says: 'No round of judging was started yet.',
      width: 1280,
      at: 'empty',
      async show(stage) {
        await open(stage, '/workbench#judge');
        await stage.page.getByText('Es gibt noch keine Runde.').waitFor();
      },
    },
    loading: {
      width: 360,
      async show(stage) {
        await stage.hold(/\/judging$/);
        await open(stage, '/workbench#judge');
        await stage.page.getByText('Wird gelesen').waitFor();
      },
    },
    filled: {
      says: 'The cards of a query, some of them graded by the keyboard.',
      width: 1280,
      async show(stage) {
        await round(stage, 'autumn', QUERIES, 8);
        await open(stage, '/workbench#judge?round=autumn');
        await stage.page.locator('.judged [data-card]').first().focus();
        for (const grade of ['3', '2', '0']) await stage.page.keyboard.press(grade);
        await stage.page.locator('.judged button[aria-pressed=true]').nth(2).waitFor();
      },
    },
    error: {
      width: 360,
      isDark: true,
      at: 'empty',
      async show(stage) {
        await open(stage, '/workbench#judge');
        await stage.page.getByLabel('Name der Runde').fill('Herbst 2026');
        await stage.page.getByLabel('Suchen, eine je Zeile').fill('zelt');
        await button(stage.page, 'Runde starten').click();
        await stage.page.getByRole('alert').waitFor();
        await stage.page.getByRole('alert').scrollIntoViewIfNeeded();
      },
    },
    long: {
      says: 'A long title on a phone, with the buttons that grade it.',
      width: 360,
      async show(stage) {
        await round(stage, 'long', ['trekkingrucksack'], 10);
        await open(stage, '/workbench#judge?round=long');
        await stage.page.locator('.judged [data-card]').first().waitFor();
        await stage.page.locator('.judged').scrollIntoViewIfNeeded();
      },
    },
    many: {
      width: 2560,
      async show(stage) {
        await round(stage, 'many', ['fernseher'], 20);
        await open(stage, '/workbench#judge?round=many');
        await stage.page.locator('.judged [data-card]').nth(20).waitFor();
      },
    },
  },
  more: {
    result: {
      width: 1280,
      async show(stage) {
        await round(stage, 'autumn', QUERIES, 8);
        await open(stage, '/workbench#judge?round=autumn');
        await button(stage.page, 'Ergebnis von autumn').click();
        await stage.page.locator('#result table').first().waitFor();
      },
    },
  },
};

const LIVE: Screen = {
  title: 'Live',
  states: {
    empty: {
      says: 'No instance reports.',
      width: 360,
      at: 'empty',
      async show(stage) {
        await open(stage, '/workbench#live');
        await stage.page.getByText('Keine Instanz meldet sich.').waitFor();
      },
    },
    loading: {
      width: 360,
      async show(stage) {
        await stage.hold(/\/instances/);
        await open(stage, '/workbench#live');
        await stage.page.getByText('Die Instanzen werden geladen').waitFor();
      },
    },
    filled: {
      says: 'The instances, one of them stale, their pipelines, and the effects of an experiment.',
      width: 1280,
      async show(stage) {
        await stage.shop.addInstances(1);
        await stage.shop.traffic();
        await open(stage, '/workbench#live');
        await button(stage.page, 'Effekte von popularity').click();
        await stage.page.getByText('Urteil').waitFor({ timeout: 60_000 });
      },
    },
    error: {
      width: 1280,
      at: 'nobody',
      async show(stage) {
        await open(stage, '/workbench#live');
        await stage.page.getByRole('alert').waitFor();
      },
    },
    long: 'instances and pipelines have short names',
    many: {
      width: 2560,
      isDark: true,
      async show(stage) {
        await stage.shop.addInstances(40);
        await open(stage, '/workbench#live');
        await stage.page.getByText('shop-40.example').first().waitFor();
      },
    },
  },
};

const SESSION: Screen = {
  title: 'Sign-in',
  states: {
    empty: {
      width: 360,
      at: 'nobody',
      async show(stage) {
        await open(stage, '/session');
        await stage.page.getByText('Nicht angemeldet.').waitFor();
      },
    },
    loading: {
      width: 360,
      at: 'nobody',
      async show(stage) {
        await stage.hold(/\/api\/v1\/session$/);
        await open(stage, '/session');
        await stage.page.locator('#said').waitFor();
      },
    },
    filled: {
      says: 'The link of an invitation.',
      width: 360,
      isDark: true,
      at: 'nobody',
      async show(stage) {
        await open(stage, `/session#${await stage.shop.invite('cora')}`);
        await button(stage.page, 'Anmelden').waitFor();
      },
    },
    error: {
      says: 'An invitation that was used already.',
      width: 360,
      at: 'nobody',
      async show(stage) {
        await open(stage, '/session#mr_0123456789abcdef0123456789abcdef');
        await button(stage.page, 'Anmelden').click();
        await stage.page.locator('#said:not(:has-text("Sie haben eine Einladung"))').waitFor();
      },
    },
    long: 'it has no titles',
    many: 'it has no candidates',
  },
};

async function link({ shop }: Stage): Promise<{ link: string; id: string }> {
  const made = await shop.as('anna', 'previews/share', {
    ...{ draft: 'black_friday', pipeline: 'shop', at: '2026-11-28T20:00:00+01:00' },
    request: { category: 'tv' },
  });
  return { link: String(made['link']), id: String(made['id']) };
}

const PREVIEW: Screen = {
  title: 'Preview link',
  states: {
    empty: {
      width: 360,
      at: 'nobody',
      async show(stage) {
        await open(stage, '/workbench/preview');
        await stage.page.getByRole('alert').waitFor();
      },
    },
    loading: {
      width: 360,
      at: 'nobody',
      async show(stage) {
        await stage.hold(/previews\/open/);
        await open(stage, '/workbench/preview#x');
        await stage.page.getByText('Die Liste wird gelesen').waitFor();
      },
    },
    filled: {
      says: 'What a colleague sees who opens the link of a preview.',
      width: 1280,
      at: 'nobody',
      async show(stage) {
        await noCampaigns(stage);
        await draft(stage, 'anna', 'black_friday', EVENING);
        await open(stage, `/workbench/preview#${(await link(stage)).link}`);
        await stage.page.locator('.card').nth(5).waitFor();
      },
    },
    error: {
      says: 'The link was revoked.',
      width: 360,
      isDark: true,
      at: 'nobody',
      async show(stage) {
        await noCampaigns(stage);
        await draft(stage, 'anna', 'black_friday', EVENING);
        const { link: text } = await link(stage);
        const { links } = (await stage.shop.as('anna', 'previews/links', {})) as { links: { id: string }[] };
        for (const { id } of links) await stage.shop.as('anna', 'previews/revoke', { link: id });
        await open(stage, `/workbench/preview#${text}`);
        await stage.page.getByText('Der Link wurde widerrufen.').waitFor();
      },
    },
    long: 'its cards are those of Campaigns',
    many: 'its page is that of Campaigns',
  },
};

/** By the address of a screen after `#`, and by the file of any other page. */
export const SCREENS: Readonly<Record<string, Screen>> = {
  rank: RANK,
  campaigns: CAMPAIGNS,
  compare: COMPARE,
  judge: JUDGE,
  live: LIVE,
  session: SESSION,
  preview: PREVIEW,
};
