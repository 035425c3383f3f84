/**
 * Opens the website of docs/ in Chromium, and searches it: `npm run site` builds it first.
 * usage: node dist/test/acceptance/site.js
 */
import { strict as assert } from 'node:assert';
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, normalize } from 'node:path';
import { chromium, type Locator } from 'playwright-core';
import { repositoryPath } from '../support/repository.js';

const ROOT = repositoryPath('.build', 'site');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
};
/** Screens whose width no page exceeds, in pixels. */
const WIDTHS = [380, 1280];
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
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  await page.goto(url);
  const links = await targetsOf(page.locator('.VPSidebar a'));
  assert(links.length > 30, 'the sidebar lists the pages');
  for (const link of links) {
    const answer = await page.goto(url + link);
    assert.equal(answer?.status(), 200, link);
    assert.notEqual(await page.locator('h1').first().innerText(), '', link);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      const content = await page.evaluate('document.documentElement.scrollWidth');
      assert.equal(content, width, `${link} is wider than a screen of ${width} pixels`);
    }
  }
  await page.goto(`${url}/rules`);
  await page.locator('.vp-doc a', { hasText: /^limit$/ }).click();
  await page.waitForURL('**/plugins/limit');
  // The address changes before the page is drawn.
  await page.locator('h1', { hasText: /^limit/ }).waitFor();
  for (const [words, wanted] of SEARCHES) {
    await page.goto(url);
    await page.locator('.VPNavBarSearch button').first().click();
    await page.locator('.search-input').fill(words);
    const results = page.locator('.results .result');
    await results.first().waitFor();
    const found = (await targetsOf(results)).slice(0, 3);
    assert(
      found.some((href) => href.startsWith(wanted)),
      `${words}: ${found.join(' ')}`,
    );
    console.log(`"${words}": ${found[0] ?? ''}`);
  }
  assert.deepEqual(faults, []);
  console.log(`${links.length} pages opened in Chromium, ${SEARCHES.length} searches found their page`);
} finally {
  await browser.close();
  server.close();
}

async function targetsOf(links: Locator): Promise<string[]> {
  return Promise.all((await links.all()).map(async (link) => (await link.getAttribute('href')) ?? ''));
}
