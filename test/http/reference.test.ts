import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../support/browser.js';
import { describeWith } from '../support/needs.js';
import { call, start, type Running } from './harness.js';

describe('the reference', () => {
  let app: Running;
  before(async () => (app = await start({ pipelines: [{}, { name: 'orders', route: '/api/v2/orders' }] })));
  after(() => app.close());

  it('names nothing that lies elsewhere', async () => {
    const page = await call(`${app.url}/redoc`);
    expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
    expect(page.text).not.to.match(/https?:|src="\/\/|url\(/);
    for (const [, source = ''] of page.text.matchAll(/src="([^"]*)"/g)) {
      expect((await call(app.url + source)).status, source).to.equal(200);
    }
  });

  it('has a policy under which its own script runs and nothing from elsewhere does', async () => {
    const page = await call(`${app.url}/redoc`);
    const policy = page.headers.get('content-security-policy') ?? '';
    const inline = /<script>([^]*?)<\/script>/.exec(page.text)?.[1] ?? '';
    expect(inline).to.contain('Redoc.init');
    expect(policy).to.contain(`'sha256-${createHash('sha256').update(inline).digest('base64')}'`);
    expect(policy).to.contain("default-src 'none'");
    expect(policy).not.to.match(/https?:|\*|unsafe-eval|script-src[^;]*unsafe-inline/);
  });

  it('cannot be framed, and sends no referrer', async () => {
    const { headers } = await call(`${app.url}/redoc`);
    expect(headers.get('content-security-policy')).to.contain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).to.equal('DENY');
    expect(headers.get('cross-origin-opener-policy')).to.equal('same-origin');
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
  });

  it('lets browsers keep its script', async () => {
    const first = await call(`${app.url}/redoc/redoc.standalone.js`);
    expect(first.headers.get('content-type')).to.equal('text/javascript; charset=utf-8');
    expect(first.headers.get('cache-control')).to.equal('public, max-age=86400');
    const tag = first.headers.get('etag') ?? '';
    expect(tag).not.to.equal('');
    const again = await call(`${app.url}/redoc/redoc.standalone.js`, {
      headers: { 'if-none-match': tag, 'cache-control': 'max-age=0' },
    });
    expect([again.status, again.text]).to.deep.equal([304, '']);
  });

  describeWith('chromium', 'in a browser', () => {
    let browser: Browser;
    before(async function () {
      browser = await startBrowser(this);
    });
    // Undefined where no browser was found.
    after(() => browser.close());

    it('renders every operation, each at its anchor, with the network cut off', async function () {
      this.timeout(30_000);
      const { page, requests, complaints } = await openOffline(browser, app.url);
      await page.goto(`${app.url}/redoc#tag/Ranking/operation/rank_ranking`);
      await page.getByRole('heading', { name: 'Rank with the pipeline ranking' }).waitFor();

      const { paths } = (await call(`${app.url}/openapi.json`)).json as {
        paths: Record<string, Record<string, { tags: string[]; operationId: string; summary: string }>>;
      };
      for (const { tags, operationId, summary } of Object.values(paths).flatMap((methods) =>
        Object.values(methods),
      )) {
        const section = page.locator(`[id="tag/${tags[0] ?? ''}/operation/${operationId}"]`);
        expect(await section.innerText(), operationId).to.contain(summary);
      }
      expect(await page.locator('text=product_id').count()).to.be.above(0);
      const screenshots = join(dirname(fileURLToPath(import.meta.url)), 'screenshots');
      mkdirSync(screenshots, { recursive: true });
      await page.screenshot({ path: join(screenshots, 'redoc.png') });

      expect(complaints).to.deep.equal([]);
      expect(requests.filter((url) => !url.startsWith(app.url))).to.deep.equal([]);
      expect(requests).to.include(`${app.url}/openapi.json`);
    });

    it('jumps to an operation by its short anchor', async function () {
      this.timeout(30_000);
      const { page } = await openOffline(browser, app.url);
      await page.goto(`${app.url}/redoc#operation/rank_orders`);
      const heading = page.getByRole('heading', { name: 'Rank with the pipeline orders' });
      const top = async (): Promise<number> => (await heading.boundingBox())?.y ?? Infinity;
      // The operation before it is longer than the window, so that it comes into view by the jump alone.
      while (Math.abs(await top()) > 100) await page.waitForTimeout(50);
    });

    it('searches', async function () {
      this.timeout(30_000);
      const { page, complaints } = await openOffline(browser, app.url);
      await page.goto(`${app.url}/redoc`);
      await page.getByPlaceholder('Search...').fill('delete');
      await page.locator('[data-role="search:results"]').getByText('Delete entities').first().waitFor();
      expect(complaints).to.deep.equal([]);
    });
  });
});

/** A page that may talk to nobody but the app, and remembers what it asked for and what the browser said to it. */
async function openOffline(
  browser: Browser,
  origin: string,
): Promise<{ page: Page; requests: string[]; complaints: string[] }> {
  const requests: string[] = [];
  const complaints: string[] = [];
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  await page.route('**/*', (route) => {
    const url = route.request().url();
    requests.push(url);
    return url.startsWith(origin) ? route.continue() : route.abort();
  });
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  return { page, requests, complaints };
}
