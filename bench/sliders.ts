import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { findChromium } from '../test/support/needs.js';
import { startProcess, type ServiceProcess } from '../test/support/service-process.js';
import { percentile, table } from './support/measure.js';

const CANDIDATES = 1_000;
/** The most that the 95th percentile may be, milliseconds. */
const MOST_MS = 100;
const FILES = {
  'millrace.yaml': 'project: sliders\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string, margin: float }\n',
  'schemas/entities/product.yaml': `entity: product
attributes: { title: string, brand: ref(brand), price: float, rating: float, popularity: float, stock: int }
display: { title: title, subtitle: brand.name, badges: [price, rating, stock] }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
params: { w_pop: { value: 0.5, min: 0, max: 2 }, w_margin: { value: 0.2, min: 0, max: 1 }, most: { value: 3, min: 0, max: 9 } }
request: { query: optional(string) }
define:
  relevance: 1 / (1 + abs(product.price - 40))
  value: product.rating / 5 + w_margin * product.brand.margin
components:
  - { use: linear, with: { weights: { relevance: 1, product.popularity: w_pop, value: 1 } } }
  - { use: diversify, with: { by: product.brand } }
  - { use: bury, with: { where: product.stock < most } }
page: { size: 24 }
`,
};

/**
 * Measures how soon a page of 24 over 1,000 candidates stands in its new order after a slider moved: in a browser, from the
 * input to the frame that shows the answer. The service runs on an embedded store, and the workbench reaches it by its address.
 */
export async function slidersBench(short: boolean): Promise<void> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.log('sliders: skipped, there is no chromium');
    return;
  }
  const root = await mkdtemp(join(tmpdir(), 'millrace-sliders-'));
  const started: ServiceProcess[] = [];
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    const env = { MILLRACE_PROJECT: root, PORT: '0', MILLRACE_STORE: 'embedded' };
    const service = await startProcess([], { ...env, MILLRACE_WORKBENCH: 'off' });
    started.push(service);
    await fill(service.url);
    const workbench = await startProcess(['--url', service.url], env, undefined, 'workbench');
    started.push(workbench);
    const page = await browser.newPage();
    await page.goto(`${workbench.url}/workbench`);
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator('.card').first().waitFor();
    await slide(page, 30);
    const found = await slide(page, short ? 60 : 300);
    const [ms, answers] = ['shown', 'answered'].map((name) =>
      found.map((one) => one[name as keyof Slid]).sort((a, b) => a - b),
    ) as [number[], number[]];
    const row = (name: string, all: readonly number[]): string[] => [
      name,
      ...[50, 95, 99, 100].map((p) => percentile(all, p).toFixed(1)),
    ];
    console.log(
      table(
        ['slider, ms', 'p50', 'p95', 'p99', 'most'],
        [row('the page is shown', ms), row('of it, the answer', answers)],
      ),
    );
    const p95 = percentile(ms, 95);
    if (p95 <= MOST_MS) return;
    console.error(`a slider takes ${p95.toFixed(0)} ms at the 95th percentile, and may take ${MOST_MS}`);
    process.exitCode = 1;
  } finally {
    await browser.close();
    for (const { child } of started) child.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  }
}

/** Writes the entities. */
async function fill(url: string): Promise<void> {
  const noise = (at: number): number => Math.abs(Math.sin(at * 12.9898) * 43758.5453) % 1;
  const upload = async (entity_type: string, entities: readonly object[]): Promise<void> => {
    const answer = await fetch(`${url}/api/v1/entities/upload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ entity_type, entities }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  await upload(
    'brand',
    Array.from({ length: 50 }, (_, at) => ({ brand_id: `b${at}`, name: `Brand ${at}`, margin: noise(at) })),
  );
  await upload(
    'product',
    Array.from({ length: CANDIDATES }, (_, at) => ({
      ...{ product_id: `p${at}`, title: `Product number ${at} in blue`, brand: `b${at % 50}` },
      ...{ price: Math.round(100 * noise(at + 1e4)), rating: 5 * noise(at + 2e4) },
      ...{ popularity: noise(at + 3e4), stock: at % 20 },
    })),
  );
}

interface Slid {
  readonly shown: number;
  readonly answered: number;
}

/** Runs in the page: moves the slider of w_pop, one move after the other. */
const SLIDE = `async (moves) => {
  const found = [];
  const input = document.querySelector('#params input');
  for (let move = 0; move < moves; move++) {
    const value = String(Number((0.31 + ((move * 0.37) % 1)).toFixed(2)));
    if (input.value === value || value === '0.5') continue;
    performance.clearResourceTimings();
    const start = performance.now();
    input.value = value;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => {
      const look = () => {
        const diff = document.querySelector('#diff')?.textContent ?? '';
        if (!diff.includes('w_pop: { value: ' + value + ',')) requestAnimationFrame(look);
        // The frame is painted when the next task runs.
        else setTimeout(resolve, 0);
      };
      requestAnimationFrame(look);
    });
    const shown = performance.now() - start;
    const asked = performance.getEntriesByType('resource').filter(({ name }) => name.includes('param='));
    found.push({ shown, answered: Math.max(...asked.map(({ duration }) => duration)) });
  }
  return found;
}`;

function slide(page: Page, moves: number): Promise<readonly Slid[]> {
  return page.evaluate(`(${SLIDE})(${moves})`);
}
