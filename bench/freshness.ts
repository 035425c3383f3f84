import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { writeProject } from '../test/support/project.js';
import { forkService } from '../test/prove/support/service.js';
import { until } from '../test/support/until.js';
import { median, ms, percentile } from './support/measure.js';

interface Product {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

const PER_BODY = 100;
/** 1,000 updates a second. */
const BODY_EVERY_MS = 100;
const RANKING_EVERY_MS = 50;
const POLL_MS = 5;

const PROJECT = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, description: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query) }
limits: { candidates: 300, time: 5s }
retrieve:
  - { use: words, with: { query: query.query, fields: { product.title: 3, product.description: 1 } } }
components:
  - { use: score, with: { value: words:score } }
`,
};

/**
 * Measures a service that searches by words: rankings for two words, alone and beside 1,000 updates a second, and how long after
 * the answer to a write a search finds the new word.
 * @returns the cells of a row: p50 and p99 of rankings alone, the same beside updates, updates a second, median and
 * p99 until found, requests that were refused for load and sent again
 */
export async function freshness(
  products: readonly Product[],
  queries: readonly string[],
  seconds: number,
): Promise<string[]> {
  const root = await writeProject(PROJECT);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const service = await forkService({
    ...{ MILLRACE_PROJECT: root, MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: folder, LOG_LEVEL: 'silent' },
  });
  const pool = new Pool(`http://127.0.0.1:${service.port}`, { connections: 8 });
  let refused = 0;
  /** A refusal for load counts, and is sent again: the time goes on. */
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    for (;;) {
      const answer = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(body) });
      const text = await answer.body.text();
      if (answer.statusCode === 200) return text;
      assert.equal(answer.statusCode, 503, text);
      refused++;
      await pause(POLL_MS);
    }
  };
  const upload = (some: readonly Product[]): Promise<string> =>
    post('/api/v1/entities/upload', {
      entity_type: 'product',
      entities: some.map(({ id, ...texts }) => ({ product_id: id, ...texts })),
    });
  const search = (query: string): Promise<string> =>
    post('/api/v1/search', { query: { query }, user_page: 0, user_page_size: 1 });
  const finds = async (query: string, id: string): Promise<boolean> =>
    (await search(query)).includes(`"${id}"`);
  try {
    for (let from = 0; from < products.length; from += 1000) await upload(products.slice(from, from + 1000));
    await upload([{ id: 'last', title: 'loadedall', description: '' }]);
    // Rankings slow down the build of the index, so there are few.
    const isLoaded = async (): Promise<boolean> => {
      await pause(500);
      return finds('loadedall', 'last');
    };
    await until('the catalogue', isLoaded, 120_000);
    const end = (): number => performance.now() + 1000 * seconds;
    const rank = async (over: number): Promise<number[]> => {
      const times: number[] = [];
      for (let i = 0; performance.now() < over; i++) {
        const began = performance.now();
        await search(queries[i % queries.length] ?? '');
        times.push(performance.now() - began);
        await pause(Math.max(0, RANKING_EVERY_MS - (performance.now() - began)));
      }
      return times.sort((a, b) => a - b);
    };
    await rank(performance.now() + 2000);
    const alone = await rank(end());
    let written = 0;
    const write = async (over: number): Promise<void> => {
      const began = performance.now();
      for (let body = 0; performance.now() < over; body++) {
        const some = Array.from({ length: PER_BODY }, (_, i): Product => {
          const { id, description } = products[(body * PER_BODY + i) % products.length] as Product;
          return { id, description, title: `written ${body} ${i}` };
        });
        await upload(some);
        written += some.length;
        await pause(Math.max(0, began + (body + 1) * BODY_EVERY_MS - performance.now()));
      }
    };
    const watch = async (over: number): Promise<number[]> => {
      const times: number[] = [];
      for (let i = 0; performance.now() < over; i++) {
        await upload([{ id: 'fresh', title: `fresh${i}word`, description: '' }]);
        const answered = performance.now();
        while (!(await finds(`fresh${i}word`, 'fresh'))) await pause(POLL_MS);
        times.push(performance.now() - answered);
      }
      return times.sort((a, b) => a - b);
    };
    refused = 0;
    const over = end();
    const [beside, found] = await Promise.all([rank(over), watch(over), write(over)]);
    return [
      ...[median(alone), percentile(alone, 99), median(beside), percentile(beside, 99)].map(ms),
      (written / seconds).toFixed(0),
      ...[median(found), percentile(found, 99)].map(ms),
      String(refused),
    ];
  } finally {
    await pool.close();
    service.process.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
    await rm(root, { recursive: true, force: true });
  }
}
