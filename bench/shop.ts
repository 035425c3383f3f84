import { strict as assert } from 'node:assert';
import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { startContestant, type Contestant } from './service/contestants.js';
import type { Usage } from './service/serve.js';
import { filmQueries, FILMS, filmUploads, writeFilms } from './shop/films.js';
import { mixQueries, mixUploads, PRODUCTS, writeMix } from './shop/mix.js';
import { markdownTable, writeBlocks } from './support/blocks.js';
import { writeCostPlot } from './support/cost-plot.js';
import { random } from './support/catalogue.js';
import { median, table } from './support/measure.js';
import { pairHead, summaryOf, type Pair } from './support/pairs.js';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
const ROUTE = '/api/v1/search';
const BODIES = 16;
/** Exponents of growth are between the last two. */
const COUNTS = [24, 100, 1000, 10_000];

interface ShopOptions {
  /** A checkout to compare with. */
  readonly against: string | undefined;
  /** By default this checkout. */
  readonly after: string | undefined;
  readonly pairs: number;
  /** The name of a shop, and a number of candidates; by default all. */
  readonly only: string | undefined;
  readonly candidates: number | undefined;
  /** Puts a table and a plot of each shop into docs/performance.md, which must have a block for it. */
  readonly write: boolean;
}

/** What requests can ask for. */
interface Stock {
  readonly ids: readonly string[];
  readonly queries: readonly string[];
}

type Side = 'before' | 'after';

/** Makes a project and its data in a folder, with the programs of a checkout. */
const SHOPS: Readonly<Record<string, (folder: string, checkout: string, side: Side) => Promise<Stock>>> = {
  init: stockInit,
  'log page': (folder, checkout, side) => stockLogged(folder, checkout, side, 'page'),
  'log all': (folder, checkout, side) => stockLogged(folder, checkout, side, 'all'),
  /** Metarank's example for films. */
  async films(folder, checkout) {
    await writeFilms(folder);
    await upload(folder, checkout, filmUploads());
    return { ids: idsOf(FILMS), queries: filmQueries() };
  },
  mix: (folder, checkout) => stockMix(folder, checkout, false),
  /** The mix with `top: 50` at the model and at what the user did. */
  phases: (folder, checkout) => stockMix(folder, checkout, true),
};

/** The project that `millrace init` writes, as it is, with its example shop. */
async function stockInit(folder: string, checkout: string): Promise<Stock> {
  const { bin } = JSON.parse(await readFile(join(checkout, 'package.json'), 'utf8')) as {
    readonly bin: { readonly millrace: string };
  };
  await promisify(execFile)(process.execPath, [join(checkout, bin.millrace), 'init', folder, '--no-git']);
  // Earlier checkouts write `data/`.
  const rowsFolder = existsSync(join(folder, 'rows')) ? 'rows' : 'data';
  const lines = (await readFile(join(folder, rowsFolder, 'product.jsonl'), 'utf8')).trim().split('\n');
  const rows = lines.map((line) => JSON.parse(line) as { product_id: string; title: string });
  const queries = rows.slice(0, BODIES).map(({ title }) => title.split(' ').slice(0, 3).join(' '));
  return { ids: rows.map(({ product_id }) => product_id), queries };
}

/** The same project without `log:` and with it: of the page, or of all candidates with all that the steps read. */
async function stockLogged(
  folder: string,
  checkout: string,
  side: Side,
  candidates: 'page' | 'all',
): Promise<Stock> {
  const stock = await stockInit(folder, checkout);
  const file = join(folder, 'pipelines', 'search.yaml');
  const log = `log: { unit: user, candidates: ${candidates}, features: ${candidates === 'all' ? 'all' : 'models'} }`;
  await writeFile(file, (await readFile(file, 'utf8')).replace(/^log:.*$/m, side === 'after' ? log : ''));
  return stock;
}

async function stockMix(folder: string, checkout: string, isPhased: boolean): Promise<Stock> {
  await writeMix(folder, isPhased);
  await upload(folder, checkout, mixUploads());
  return { ids: idsOf(PRODUCTS), queries: mixQueries() };
}

const idsOf = (count: number): string[] => Array.from({ length: count }, (_, i) => `p${i}`);

async function upload(
  folder: string,
  checkout: string,
  uploads: ReturnType<typeof mixUploads>,
): Promise<void> {
  const { url, process: child } = await start(checkout, folder);
  for (const [path, body] of uploads) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 200, await answer.text());
  }
  child.disconnect(); // The server closes its store and ends.
  await once(child, 'exit');
}

/**
 * CPU per request over HTTP of the shops in `SHOPS`. With `against`, two checkouts are compared in pairs of new processes, which
 * take turns and must give equal answers; without, this one with itself. The shops of logs compare this checkout without `log:`
 * and with it. All use the embedded store.
 */
export async function shopBench(short: boolean, options: ShopOptions): Promise<void> {
  const { against = HERE, after = HERE, only, candidates } = options;
  for (const [name, make] of Object.entries(SHOPS)) {
    if (only !== undefined && name !== only) continue;
    const checkouts = [resolve(name.startsWith('log ') ? after : against), resolve(after)];
    const folders: string[] = [];
    try {
      let stock: Stock = { ids: [], queries: [] };
      for (const [i, checkout] of checkouts.entries()) {
        const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
        folders.push(folder);
        stock = await make(folder, checkout, i === 0 ? 'before' : 'after');
      }
      const counts =
        candidates === undefined ? COUNTS.filter((count) => count <= stock.ids.length) : [candidates];
      const bodies = counts.map((count) => bodiesOf(stock, count));
      const found = counts.map((): Pair[] => []);
      const firsts: Pair[] = [];
      for (let i = 0; i < (short ? 2 : options.pairs); i++) {
        const { first, pairs } = await measureSides(checkouts, folders, stock, bodies, i);
        firsts.push(first);
        for (const [c, pair] of pairs.entries()) found[c]?.push(pair);
      }
      console.log(`\n${name}: milliseconds of CPU per request, over HTTP, one client`);
      const rows = counts.map((count, c) => summaryOf(count, found[c] ?? []));
      console.log(table(pairHead('before', 'after'), rows));
      const firstMs = (['before', 'after'] as const).map((side) =>
        median(firsts.map((pair) => pair[side]).sort((a, b) => a - b)).toFixed(0),
      );
      console.log(`the first request of a process takes ${firstMs.join(' and ')} ms`);
      const [small = NaN, large = NaN] = found
        .slice(-2)
        .map((pairs) => meanOf(pairs.map((pair) => pair.after)));
      const [from = NaN, to = NaN] = counts.slice(-2);
      const exponent = Math.log(large / small) / Math.log(to / from);
      if (options.write) await writeShop(name, rows, counts, found, short);
      if (from >= 1000) console.log(`exponent in candidates from ${from} to ${to}: ${exponent.toFixed(2)}`);
    } finally {
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    }
  }
}

async function writeShop(
  name: string,
  rows: readonly string[][],
  counts: readonly number[],
  found: readonly Pair[][],
  short: boolean,
): Promise<void> {
  const block = markdownTable(pairHead('before', 'after'), rows);
  await writeBlocks('docs/performance.md', { [`shop ${name}`]: block }, short);
  const lines = (['before', 'after'] as const).map((side) => ({
    name: side,
    points: counts.map((candidates, c) => ({
      candidates,
      ms: meanOf((found[c] ?? []).map((pair) => pair[side])),
    })),
  }));
  await writeCostPlot(
    `shop-${name}`,
    `CPU milliseconds of a request by its number of candidates: ${name}`,
    lines,
  );
}

function bodiesOf({ ids, queries }: Stock, count: number): Buffer[] {
  const next = random(count);
  return Array.from({ length: BODIES }, (_, i) => {
    const picked = new Set<string>();
    while (picked.size < count) picked.add(ids[Math.floor(next() * ids.length)] ?? '');
    const body = {
      request_id: `r${i}`,
      query: { query: queries[i] },
      user: { user_id: `u${i}` },
      candidates: Array.from(picked, (product_id) => ({ product_id })),
      user_page_size: 24,
    };
    return Buffer.from(JSON.stringify(body));
  });
}

function start(checkout: string, folder: string): Promise<Contestant> {
  const server = join(checkout, 'dist', 'bench', 'service', 'millrace.js');
  const store = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(folder, '.millrace') };
  const env = { ...store, MILLRACE_PROJECT: folder, LOG_LEVEL: 'warn', PORT: '0' };
  return startContestant(checkout, server, [], env);
}

/** The first request of two new processes, and one ABBA sequence for each number of candidates. See `measurePair`. */
async function measureSides(
  checkouts: readonly string[],
  folders: readonly string[],
  stock: Stock,
  bodies: readonly Buffer[][],
  index: number,
): Promise<{ readonly first: Pair; readonly pairs: Pair[] }> {
  const order = index % 2 === 0 ? [0, 1] : [1, 0];
  const running: Contestant[] = [];
  try {
    for (const side of order) running[side] = await start(checkouts[side] ?? '', folders[side] ?? '');
    const clients = running.map(({ url }) => new Client(url));
    const send = async (side: number, body: Buffer): Promise<unknown> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await clients[side]?.request({ path: ROUTE, method: 'POST', headers, body });
      const text = (await answer?.body.text()) ?? '';
      assert.equal(answer?.statusCode, 200, text);
      return text;
    };
    const firstMs: number[] = [];
    for (const side of order) {
      const start = performance.now();
      await send(side, bodies[0]?.[0] ?? Buffer.alloc(0));
      firstMs[side] = performance.now() - start;
    }
    const [before = NaN, after = NaN] = firstMs;
    const first = { before, after };
    // The tables hold all products, and both sides have answered as many requests, before anything is measured.
    for (let from = 0; from < stock.ids.length; from += 1000) {
      const [body] = bodiesOf(
        { ...stock, ids: stock.ids.slice(from, from + 1000) },
        Math.min(1000, stock.ids.length - from),
      );
      for (const side of order) await send(side, body ?? Buffer.alloc(0));
    }
    const pairs: Pair[] = [];
    for (const list of bodies) {
      for (const body of list) {
        const [before, after] = [await send(0, body), await send(1, body)];
        assert.deepEqual(JSON.parse(String(after)), JSON.parse(String(before)), 'both give the same answer');
      }
      const bytes = list[0]?.length ?? 1;
      const cost = async (
        side: number,
        requests = BODIES * within(2, 40, 200_000 / bytes),
      ): Promise<number> => {
        const before = await cpuOf(running[side]);
        for (let i = 0; i < requests; i++) await send(side, list[i % list.length] ?? Buffer.alloc(0));
        return ((await cpuOf(running[side])) - before) / requests;
      };
      // Until V8 has compiled the code: about 3,000 small requests.
      for (const side of order) await cost(side, BODIES * within(4, 190, 600_000 / bytes));
      const costs: number[][] = [[], []];
      for (const side of [...order, ...order.toReversed()]) costs[side]?.push(await cost(side));
      const [before = [], after = []] = costs;
      pairs.push({ before: meanOf(before), after: meanOf(after) });
    }
    for (const client of clients) await client.close();
    return { first, pairs };
  } finally {
    for (const { process: child } of running) child.kill('SIGKILL');
  }
}

const within = (least: number, most: number, value: number): number =>
  Math.max(least, Math.min(most, Math.round(value)));

async function cpuOf(contestant: Contestant | undefined): Promise<number> {
  contestant?.process.send('usage');
  const [{ cpuMs }] = (await once(contestant?.process as ChildProcess, 'message')) as [Usage];
  return cpuMs;
}

/** The geometric mean. */
function meanOf(costs: readonly number[]): number {
  return Math.exp(costs.reduce((sum, cost) => sum + Math.log(cost), 0) / costs.length);
}
