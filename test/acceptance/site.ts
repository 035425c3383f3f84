/**
 * Opens the website of docs/ and the pages of a service in Chromium, checks them for WCAG 2.2 AA in light and dark on a
 * small and a wide screen, and searches the site. `npm run site` builds it first.
 * usage: node dist/test/acceptance/site.js [PATH…], where the paths are pages of the site, by default all
 */
import { strict as assert } from 'node:assert';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { chromium, type Locator, type Page } from 'playwright-core';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { accessibilityFaults } from '../support/accessibility.js';
import { repositoryPath } from '../support/repository.js';
import { startPrivateService } from './private-service.js';

/** Routes that this service answers with a page of a problem. */
const REFUSED: Readonly<Record<string, number>> = { '/api/v1/comparisons': 409 }; // a service that ranks compares nothing

const ROOT = repositoryPath('.build', 'site');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};
/** What a reader types, and the page that must be among the first three results. */
const SEARCHES = [
  ['forget user', '/privacy'],
  ['absent operand score', '/concepts'],
  ['rolling restart', '/operate'],
] as const;

if (!existsSync(ROOT)) throw new Error('the site is not built; run `npm run site`');
const server = createServer((req, res) => {
  const path = normalize(new URL(req.url ?? '/', 'http://site').pathname);
  const file = [path, `${path}.html`, join(path, 'index.html')]
    .map((name) => join(ROOT, name))
    .find((name) => extname(name) !== '' && existsSync(name));
  res.writeHead(file === undefined ? 404 : 200, {
    'content-type': TYPES[extname(file ?? '')] ?? 'font/woff2',
  });
  if (file === undefined) res.end();
  else createReadStream(file).pipe(res);
}).listen(0, '127.0.0.1');
const url = await new Promise<string>((resolve) =>
  server.once('listening', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
);
const broken: string[] = [];
let checked = 0;
const wanted = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
try {
  const faults: string[] = [];
  const page = await openTab(faults);
  await page.goto(url);
  const links = await targetsOf(page.locator('.VPSidebar a'));
  assert(links.length > 30, 'the sidebar lists the pages');
  const paths = (readdirSync(ROOT, { recursive: true }) as string[])
    .filter((name) => name.endsWith('.html'))
    .map((name) => `/${name.replace(/(?<=^|\/)index\.html$|\.html$/, '')}`);
  for (const link of links) assert(paths.includes(link), `the sidebar leads to ${link}, which is no page`);
  // Each tab takes the next page; a tab keeps one core busy.
  const next = (wanted.length === 0 ? paths : wanted).values();
  await Promise.all([page, await openTab(faults)].map((tab) => checkPages(tab, next)));
  if (wanted.length === 0) await checkService(await browser.newPage());
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${url}/rules`);
  await page.locator('.vp-doc a', { hasText: /^limit$/ }).click();
  await page.waitForURL('**/plugins/limit');
  // The address changes before the page is drawn.
  await page.locator('h1', { hasText: /^limit/ }).waitFor();
  for (const [words, target] of SEARCHES) {
    await page.goto(url);
    await page.locator('.VPNavBarSearch button').first().click();
    await page.locator('.search-input').fill(words);
    const results = page.locator('.results .result');
    await results.first().waitFor();
    const found = (await targetsOf(results)).slice(0, 3);
    assert(
      found.some((href) => href.startsWith(target)),
      `${words}: ${found.join(' ')}`,
    );
    console.log(`"${words}": ${found[0] ?? ''}`);
  }
  assert.deepEqual([...faults, ...broken], []);
  console.log(
    `${checked} pages checked in Chromium, ${links.length} of them in the sidebar; ${SEARCHES.length} searches found their page`,
  );
} finally {
  await browser.close();
  server.close();
}

/** Opens a tab that adds the errors of its pages to a list. */
async function openTab(faults: string[]): Promise<Page> {
  const tab = await browser.newPage();
  tab.on('pageerror', (error) => faults.push(error.message));
  tab.on(
    'console',
    (message) => message.type() === 'error' && faults.push(`${tab.url()}: ${message.text()}`),
  );
  return tab;
}

/** Checks pages of the site until none is left. */
async function checkPages(tab: Page, paths: Iterable<string>): Promise<void> {
  for (const path of paths) {
    const place = placeOf(path);
    if (place === undefined) await check(tab, url + path);
    else {
      await tab.goto(url + path, { waitUntil: 'commit' });
      await tab.waitForURL(`${url}/${place}`);
    }
  }
}

/** Where a page that moved leads to; undefined for all other pages. */
function placeOf(path: string): string | undefined {
  const file = join(ROOT, path.endsWith('/') ? `${path}index.html` : `${path}.html`);
  return /<meta http-equiv="refresh" content="0; url=([^"]+)"/.exec(readFileSync(file, 'utf8'))?.[1];
}

/**
 * Fails if a page has no heading or a fault of accessibility.
 * @param complete what a reader does before the page is whole
 */
async function check(
  page: Page,
  address: string,
  status = 200,
  complete = (): Promise<void> => Promise.resolve(),
): Promise<void> {
  const answer = await page.goto(address);
  assert.equal(answer?.status(), status, address);
  assert.notEqual(await page.locator('h1').first().innerText(), '', address);
  await complete();
  const found = await accessibilityFaults(page);
  if (found.length > 0) broken.push(`${address}\n  ${found.join('\n  ')}`);
  checked++;
}

/** Gives the page /workbench an answer. */
async function explain(page: Page): Promise<void> {
  await page.getByText('The request as JSON').click();
  await page.getByRole('button', { name: 'ids alone' }).click();
  await page.getByRole('button', { name: 'Search' }).click();
  await page.locator('#answer .card').first().waitFor();
}

/** Checks what a running service shows to a browser: whatever the table of routes has, `/`, and an unknown path. */
async function checkService(page: Page): Promise<void> {
  const service = await startPrivateService('embedded');
  try {
    await check(page, `${service.url}/`);
    await check(page, `${service.url}/no-such-page`, 404);
    for (const { method, path } of SERVICE_ROUTES) {
      if (method !== 'GET') continue;
      const { headers } = await fetch(service.url + path, { headers: { accept: 'text/html' } });
      if (headers.get('content-type')?.startsWith('text/html') === true)
        await check(
          page,
          service.url + path,
          REFUSED[path] ?? 200,
          path === '/workbench' ? () => explain(page) : undefined,
        );
    }
  } finally {
    await service.stop();
  }
}

async function targetsOf(links: Locator): Promise<string[]> {
  return Promise.all((await links.all()).map(async (link) => (await link.getAttribute('href')) ?? ''));
}
