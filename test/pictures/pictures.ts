/**
 * Takes the pictures of docs/workbench-pictures.md, and writes that page: `npm run pictures`. A real service on a private
 * Redis has a shop with products, logged requests and an experiment. Each state of each screen is opened in Chromium, and
 * checked by axe. A screen of the workbench that the table of states lacks is an error.
 *
 *   --only=PATTERN  the states whose names match; the page is not written
 *   --look=DIR      also writes PNGs of the whole pages, at full size, to be looked at
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { format } from 'prettier';
import { accessibilityFaults } from '../support/accessibility.js';
import { findChromium } from '../support/needs.js';
import { imageOf, IMAGE_HOST } from './shop.js';
import { serveShop, type ServedShop } from './served-shop.js';
import { KINDS, SCREENS, type Stage, type State } from './states.js';

const ROOT = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
const FOLDER = 'docs/images/workbench';
const PAGE = 'docs/workbench-pictures.md';
/** What the pictures may take, in bytes, and how many there may be. */
const MOST_BYTES = 60_000;
const MOST_IN_ALL = 1_500_000;
const MOST_PICTURES = 30;
/** The height of the part of the page that a picture shows, by the width of the screen, and its scale. */
const SHAPES = {
  360: { height: 780, scale: 1 },
  1280: { height: 900, scale: 0.8 },
  2560: { height: 1300, scale: 0.5 },
} as const;

interface Named extends State {
  readonly name: string;
  readonly screen: string;
}

/** All states of all screens; those without a picture are checked as well. */
function allStates(): readonly Named[] {
  return Object.entries(SCREENS).flatMap(([screen, { states, more = {} }]) =>
    [...KINDS.map((kind) => [kind, states[kind]] as const), ...Object.entries(more)].flatMap(
      ([name, state]) => (typeof state === 'string' ? [] : [{ ...state, name: `${screen}-${name}`, screen }]),
    ),
  );
}

/** The screens that the workbench links to, and its other pages. */
async function ownScreens(page: Page, url: string): Promise<readonly string[]> {
  await page.goto(`${url}/workbench`);
  await page.locator('nav a').first().waitFor();
  const links = await page.evaluate<readonly string[]>(
    "[...document.querySelectorAll('nav a')].map(({ hash }) => hash.slice(1))",
  );
  const pages = readdirSync(join(ROOT, 'clients/workbench')).filter((name) => name.endsWith('.html'));
  return [...links, ...pages.map((name) => name.replace('.html', '')).filter((name) => name !== 'index')];
}

async function newContext(browser: Browser, shop: ServedShop, state?: State): Promise<BrowserContext> {
  const { width = 1280, isDark, locale = 'de-DE', at } = state ?? {};
  const context = await browser.newContext({
    ...{ locale, timezoneId: 'Europe/Berlin', colorScheme: isDark === true ? 'dark' : 'light' },
    viewport: { width, height: SHAPES[width].height },
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const url = at === 'empty' ? shop.emptyUrl : shop.url;
  const [name = '', value = ''] = (at === 'empty' ? shop.emptySession : shop.session).split('=');
  if (at !== 'nobody') await context.addCookies([{ name, value, url }]);
  await context.route(`https://${IMAGE_HOST}/**`, (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: imageOf(new URL(route.request().url()).pathname) }),
  );
  return context;
}

/** What is wrong with a page beside what axe finds: it is wider than the screen, or a script complains. */
async function widthFaults(page: Page): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const width of [360, 768, 1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const needed = Number(await page.evaluate('document.documentElement.scrollWidth'));
    if (needed !== width) faults.push(`the page is ${needed} pixels wide on a screen of ${width}`);
  }
  return faults;
}

/** Takes the part of the page that is on the screen, at the best quality whose file is small enough. */
async function webp(page: Page, width: State['width']): Promise<Buffer> {
  const { height, scale } = SHAPES[width];
  const cdp = await page.context().newCDPSession(page);
  const top = Number(await page.evaluate('scrollY'));
  for (let quality = 80; ; quality -= 10) {
    const { data } = await cdp.send('Page.captureScreenshot', {
      ...{ format: 'webp', quality, optimizeForSpeed: false },
      clip: { x: 0, y: top, width, height, scale },
    });
    const bytes = Buffer.from(data, 'base64');
    if (bytes.length < MOST_BYTES) return bytes;
    if (quality === 10) throw new Error(`a picture takes ${bytes.length} bytes`);
  }
}

interface Taken {
  readonly faults: readonly string[];
  readonly picture?: Buffer;
}

async function take(browser: Browser, shop: ServedShop, state: Named, look?: string): Promise<Taken> {
  const context = await newContext(browser, shop, state);
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/status of 4/.test(message.text())) faults.push(message.text());
  });
  try {
    const stage: Stage = {
      ...{ page, shop, url: state.at === 'empty' ? shop.emptyUrl : shop.url },
      hold: async (path) => {
        await page.route(path, () => undefined);
      },
    };
    await state.show(stage);
    await page.waitForFunction('[...document.images].every((one) => one.complete || one.loading === "lazy")');
    await page.waitForTimeout(300); // lazy images of the part that is shown
    if (look !== undefined) await page.screenshot({ path: join(look, `${state.name}.png`), fullPage: true });
    const picture = state.says === undefined ? {} : { picture: await webp(page, state.width) };
    faults.push(...(await widthFaults(page)), ...(await accessibilityFaults(page)));
    return { faults, ...picture };
  } catch (error) {
    if (look !== undefined) await page.screenshot({ path: join(look, `${state.name}-failed.png`) });
    return { faults: [...faults, String(error)] };
  } finally {
    await context.close();
  }
}

/** The page that shows the pictures. */
function markdown(states: readonly Named[]): string {
  const parts = Object.entries(SCREENS).map(([screen, { title }]) => {
    const own = states.filter((one) => one.screen === screen && one.says !== undefined);
    const pictures = own.map(({ name, says, width, isDark, locale }) => {
      const how = [`${width} pixels wide`, isDark && 'dark', locale && 'English'].filter(Boolean).join(', ');
      return `${says} (${how})\n\n![${title}: ${says}](images/workbench/${name}.webp)`;
    });
    return `## ${title}\n\n${pictures.join('\n\n')}`;
  });
  return `# Pictures of the workbench

\`npm run pictures\` takes these pictures of the [workbench](workbench.md) and writes this page. The browser is German where nothing else is
said. Each state is also checked by axe, in light and dark, and at 360, 768, 1280 and 2560 pixels no page scrolls sideways.

${parts.join('\n\n')}
`;
}

/** Replaces the pictures and the page. */
async function save(states: readonly Named[], pictures: ReadonlyMap<string, Buffer>): Promise<void> {
  const folder = join(ROOT, FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, bytes] of pictures) writeFileSync(join(folder, `${name}.webp`), bytes);
  writeFileSync(join(ROOT, PAGE), await format(markdown(states), { parser: 'markdown', printWidth: 110 }));
}

async function main(args: readonly string[]): Promise<void> {
  const valueOf = (name: string): string | undefined =>
    args.find((one) => one.startsWith(`--${name}=`))?.slice(name.length + 3);
  const only = valueOf('only');
  const look = valueOf('look');
  if (look !== undefined) mkdirSync(look, { recursive: true });
  const executablePath = findChromium();
  if (executablePath === undefined)
    throw new Error('there is no Chromium; install it, or set CHROMIUM to its path');
  const shop = await serveShop();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  const pictures = new Map<string, Buffer>();
  const problems: string[] = [];
  const states = allStates().filter(({ name }) => only === undefined || new RegExp(only).test(name));
  try {
    const context = await newContext(browser, shop);
    const known = Object.keys(SCREENS);
    for (const screen of await ownScreens(await context.newPage(), shop.url))
      if (!known.includes(screen))
        problems.push(`the screen ${screen} has no states in test/pictures/states.ts`);
    await context.close();
    for (const state of states) {
      const { faults, picture } = await take(browser, shop, state, look);
      if (picture !== undefined) pictures.set(state.name, picture);
      problems.push(...faults.map((fault) => `${state.name}: ${fault}`));
      for (const fault of faults) process.stderr.write(`${state.name}: ${fault}\n`);
      process.stdout.write(`${state.name}: ${picture?.length ?? 'no'} bytes, ${faults.length} faults\n`);
    }
  } finally {
    await browser.close();
    await shop.close();
  }
  const total = [...pictures.values()].reduce((sum, { length }) => sum + length, 0);
  if (pictures.size > MOST_PICTURES) problems.push(`${pictures.size} pictures, of at most ${MOST_PICTURES}`);
  if (total > MOST_IN_ALL) problems.push(`${total} bytes, of at most ${MOST_IN_ALL}`);
  process.stdout.write(`${states.length} states, ${pictures.size} pictures, ${total} bytes\n`);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  if (only === undefined) await save(states, pictures);
}

await main(process.argv.slice(2));
