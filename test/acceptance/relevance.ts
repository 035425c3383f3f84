/**
 * Ranks real products for real queries over HTTP and compares the order with people's judgments:
 *
 *   node dist/test/acceptance/relevance.js --data FOLDER [--store embedded|redis]… [--url URL]
 *
 * FOLDER contains products.jsonl.gz (one product per line, key `id`) and Broad_Query_Set_rated.csv (query, docid,
 * rating). Without --url the script starts a service of this build for each store; without --store it uses both
 * stores. It fails if the mean NDCG@10 is below the threshold, if two stores rank differently, or if
 * `millrace evaluate` computes another mean from the same judgments. Then it lets `words` find candidates in the whole
 * catalogue, where a product without a grade counts as irrelevant, and fails if their order falls below its floor, or is better
 * than that of the default pipeline behind them. With `--jars FOLDER`, as for test/acceptance/front.ts, it does only this, and
 * compares OpenSearch alone and OpenSearch before the default pipeline in the same run.
 */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { millrace } from '../support/command-line.js';
import { ndcg } from '../support/ndcg.js';
import { repositoryPath } from '../support/repository.js';
import { shuffled } from '../../runtime/ground/core/shuffle.js';
import { readBatches, readJudgedQueries, type JudgedQuery } from './judged-queries.js';
import { startOpenSearch } from './opensearch/start.js';
import { startPrivateService, type Engine } from './private-service.js';

const BAR = 0.8336;
/** The floor of `words` alone from the whole catalogue, below what was measured: .7487. */
const LEAST_ALONE = 0.74;
const SHUFFLES = 20;
const DEPTH = 10;
const PAGE = 100;
const BATCH = 1000;
/** The number of concurrent requests. */
const CLIENTS = 8;

interface RankedCandidate {
  readonly candidate_id: string;
  readonly ranked_score: number;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      data: { type: 'string' },
      store: { type: 'string', multiple: true },
      url: { type: 'string' },
      jars: { type: 'string' },
    },
  });
  const { data, url } = values;
  if (data === undefined) throw new Error('--data is missing: the folder with the products and judgments');
  const queries = readJudgedQueries(join(data, 'Broad_Query_Set_rated.csv'));
  if (values.jars !== undefined) {
    const engine = await startOpenSearch(values.jars);
    try {
      return await retrieved(data, queries, engine.url);
    } finally {
      await engine.stop();
    }
  }
  console.log(`${queries.length} queries, ${SHUFFLES} shuffles, NDCG@${DEPTH}: mean, minimum, maximum`);
  report(
    'as shuffled',
    shufflesOf(queries).map(({ judged, ids }) => graded(judged, ids)),
  );

  const rankings = new Map<string, readonly string[]>();
  const means: number[] = [];
  let good = true;
  for (const target of targets(url, values.store ?? ['embedded', 'redis'])) {
    const service = await target.start();
    try {
      await upload(service.url, join(data, 'products.jsonl.gz'));
      const ranked = await rankAll(service.url, queries);
      const mean = report(
        target.name,
        shufflesOf(queries).map(({ judged }, i) =>
          graded(judged, ranked[i]?.map((one) => one.candidate_id) ?? []),
        ),
      );
      means.push(mean);
      if (!(mean >= BAR)) {
        console.error(`${target.name}: ${mean.toFixed(4)} is below ${BAR}`);
        good = false;
      }
      rankings.set(
        target.name,
        ranked.map((candidates) => JSON.stringify(candidates)),
      );
    } finally {
      await service.stop();
    }
  }
  if (url === undefined) {
    const mean = await byCommand(data, queries);
    console.log(`${'by command'.padEnd(12)} ${mean.toFixed(4)}`);
    good = means.every((one) => Math.abs(one - mean) < 1e-9) && good;
    good = (await retrieved(data, queries)) && good;
  }
  return sameRankings(rankings) && good;
}

/** Loads the products and evaluates the queries with commands, from the same orders. Returns the mean NDCG. */
async function byCommand(data: string, queries: readonly JudgedQuery[]): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-relevance-'));
  const store = ['--project', repositoryPath(), '--store', 'embedded', '--data-dir', join(folder, 'store')];
  const run = async (...argv: string[]): Promise<string> => {
    const { code, stdout, stderr } = await millrace([...argv, ...store]);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  try {
    await run('entities', 'load', 'product', join(data, 'products.jsonl.gz'), '--key', 'id');
    const judgments = join(folder, 'judgments.jsonl');
    const rows = queries.flatMap(({ query, grades }) =>
      Array.from(grades, ([id, grade]) => `${JSON.stringify({ query, id, grade })}\n`),
    );
    await writeFile(judgments, rows.join(''));
    const metrics = ['--metrics', `ndcg@${DEPTH}`, '--shuffles', String(SHUFFLES), '--json'];
    const report = JSON.parse(await run('evaluate', 'ranking', '--judgments', judgments, ...metrics)) as {
      readonly metrics: readonly { readonly mean: number }[];
    };
    return report.metrics[0]?.mean ?? NaN;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Finds candidates by the same texts for both pipelines. */
const RETRIEVE = `retrieve:
  - use: words
    as: found
    with:
      query: query.query
      fields: { product.title: 3, product.description: 1, product.short_description: 1 }
`;
const WORDS_ALONE = `pipeline: words
rank: product
request: { candidates: {}, query: optional(query) }
limits: { candidates: 1000, time: 5s }
${RETRIEVE}components:
  - { use: score, with: { value: found:score } }
page: { max_size: 100 }
`;

/** The same texts and weights, asked of OpenSearch. */
const engineQuery = (query: unknown): object => ({
  query: {
    multi_match: { query, fields: ['title^3', 'description', 'short_description'], type: 'most_fields' },
  },
});
const retrieveFrom = (engine: string): string => `retrieve:
  - use: opensearch
    as: found
    timeout: 3s
    with: { url: "${engine}", index: products, body: ${JSON.stringify(engineQuery({ expr: 'query.query' }))} }
`;

/**
 * Prints how well `words` alone, and `words` before the default pipeline, answer the queries from the whole catalogue.
 * @param engine the address of an OpenSearch that is compared
 */
async function retrieved(data: string, queries: readonly JudgedQuery[], engine?: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-retrieval-'));
  const products = join(data, 'products.jsonl.gz');
  try {
    await writeRetrieval(folder, engine);
    if (engine !== undefined) {
      process.env.MILLRACE_MODEL_HOSTS = new URL(engine).host;
      await index(engine, products);
    }
    const service = await startPrivateService('embedded', folder);
    try {
      await upload(service.url, products);
      const asked = (pipeline: string) => (query: string) => askPipeline(service.url, pipeline, query);
      console.log(`\nfrom the whole catalogue   NDCG@${DEPTH}  recall@${PAGE}  p50 ms`);
      const alone = await searchAll('words alone', queries, asked('words'));
      const ranked = await searchAll('words, then ranking', queries, asked('ranking'));
      if (engine === undefined) return alone >= LEAST_ALONE && ranked >= alone;
      const directly = await searchAll('OpenSearch alone', queries, (query) => askEngine(engine, query));
      const behind = await searchAll('OpenSearch, then ranking', queries, asked('found'));
      return alone >= LEAST_ALONE && ranked >= alone && behind >= directly;
    } finally {
      await service.stop();
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes a project whose pipelines find candidates in the whole catalogue. */
async function writeRetrieval(folder: string, engine: string | undefined): Promise<void> {
  await cp(repositoryPath('schemas'), join(folder, 'schemas'), { recursive: true });
  await mkdir(join(folder, 'pipelines'));
  const standard = await readFile(repositoryPath('pipelines', 'ranking.yaml'), 'utf8');
  const finding = (retrieve: string): string =>
    standard
      .replace(/^limits:.*$/m, `limits: { candidates: 1000, time: 5s }\n\n${retrieve}`)
      .replace('max(product.search_score, 0)', 'found:score');
  await writeFile(join(folder, 'pipelines', 'ranking.yaml'), finding(RETRIEVE));
  await writeFile(join(folder, 'pipelines', 'words.yaml'), WORDS_ALONE);
  if (engine === undefined) return;
  const found = finding(retrieveFrom(engine)).replace('pipeline: ranking', 'pipeline: found');
  await writeFile(join(folder, 'pipelines', 'found.yaml'), found.replace('/api/v1/ranking', '/api/v1/found'));
}

/** Puts the catalogue into OpenSearch, with the stems of English. */
async function index(engine: string, products: string): Promise<void> {
  const send = async (path: string, method: string, body: string): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(engine + path, { method, headers, body });
    const text = await answer.text();
    if (!answer.ok || text.includes('"errors":true')) throw new Error(`${path}: ${text.slice(0, 500)}`);
  };
  const english = { type: 'text', analyzer: 'english' };
  const properties = { title: english, description: english, short_description: english };
  await send('/products', 'PUT', JSON.stringify({ mappings: { dynamic: false, properties } }));
  for await (const lines of readBatches(products, BATCH)) {
    const actions = lines.map((line) => {
      const { id } = JSON.parse(line) as { id: string };
      return `{"index":{"_id":${JSON.stringify(id)}}}\n${line}\n`;
    });
    await send('/products/_bulk?refresh=true', 'POST', actions.join(''));
  }
}

async function askPipeline(url: string, pipeline: string, query: string): Promise<readonly string[]> {
  const body = JSON.stringify({ query: { query }, user_page_size: PAGE });
  const answer = await post(`${url}/api/v1/${pipeline}`, body);
  return (answer as { ranked_candidates: RankedCandidate[] }).ranked_candidates.map(
    (one) => one.candidate_id,
  );
}

async function askEngine(engine: string, query: string): Promise<readonly string[]> {
  const body = JSON.stringify({ ...engineQuery(query), size: PAGE, _source: false });
  const answer = await post(`${engine}/products/_search`, body);
  return (answer as { hits: { hits: { _id: string }[] } }).hits.hits.map(({ _id }) => _id);
}

/** Searches for each query, one after the other, and prints the means. Returns that of NDCG. */
async function searchAll(
  name: string,
  queries: readonly JudgedQuery[],
  ask: (query: string) => Promise<readonly string[]>,
): Promise<number> {
  const [gains, recalls, times]: [number[], number[], number[]] = [[], [], []];
  for (const isMeasured of [false, true])
    for (const { query, grades } of queries) {
      const begin = performance.now();
      const page = await ask(query);
      if (!isMeasured) continue;
      times.push(performance.now() - begin);
      const found = page.map((id) => grades.get(id) ?? 0);
      // What was not found follows the page, so that the best order has it.
      const ids = new Set(page);
      const lost = [...grades].flatMap(([id, grade]) => (ids.has(id) ? [] : [grade]));
      const padding = Array.from({ length: Math.max(0, DEPTH - found.length) }, () => 0);
      gains.push(ndcg([...found, ...padding, ...lost], DEPTH));
      const relevant = [...grades.values()].filter((grade) => grade > 0).length;
      recalls.push(found.filter((grade) => grade > 0).length / relevant);
    }
  const p50 = [...times].sort((a, b) => a - b)[times.length >> 1] ?? NaN;
  const figures = [average(gains).toFixed(4).padStart(8), average(recalls).toFixed(4).padStart(10)];
  console.log(`${name.padEnd(26)} ${figures.join('  ')}  ${p50.toFixed(1).padStart(6)}`);
  return average(gains);
}

/** Returns each query's products in each shuffle, grouped by shuffle. */
function shufflesOf(
  queries: readonly JudgedQuery[],
): { readonly judged: JudgedQuery; readonly ids: string[] }[] {
  return Array.from({ length: SHUFFLES }, (_, shuffle) =>
    queries.map((judged, i) => ({
      judged,
      ids: shuffled([...judged.grades.keys()], shuffle * queries.length + i),
    })),
  ).flat();
}

function graded({ grades }: JudgedQuery, ids: readonly string[]): number {
  return ndcg(
    ids.map((id) => grades.get(id) ?? 0),
    DEPTH,
  );
}

/** Prints the mean over the queries for each shuffle: its mean, minimum and maximum. Returns the mean. */
function report(name: string, figures: readonly number[]): number {
  const size = figures.length / SHUFFLES;
  const means = Array.from({ length: SHUFFLES }, (_, i) => average(figures.slice(i * size, (i + 1) * size)));
  const mean = average(means);
  const shown = [mean, Math.min(...means), Math.max(...means)].map((figure) => figure.toFixed(4));
  console.log(`${name.padEnd(12)} ${shown.join('  ')}`);
  return mean;
}

function average(figures: readonly number[]): number {
  return figures.reduce((sum, figure) => sum + figure, 0) / figures.length;
}

interface Target {
  readonly name: string;
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>;
}

function targets(url: string | undefined, stores: readonly string[]): Target[] {
  if (url !== undefined) {
    return [{ name: url, start: () => Promise.resolve({ url, stop: () => Promise.resolve() }) }];
  }
  return stores.map((store) => {
    if (!isEngine(store)) throw new Error(`--store ${store}: expected embedded or redis`);
    return { name: store, start: () => startPrivateService(store) };
  });
}

function isEngine(store: string): store is Engine {
  return store === 'embedded' || store === 'redis';
}

async function upload(url: string, path: string): Promise<void> {
  for await (const lines of readBatches(path, BATCH)) {
    const body = `{"entity_type":"product","entity_key":"id","entities":[${lines.join(',')}]}`;
    await post(`${url}/api/v1/entities/upload`, body);
  }
}

/** Returns the whole ranking of every query in every shuffle, in the order of `shufflesOf`. */
async function rankAll(url: string, queries: readonly JudgedQuery[]): Promise<RankedCandidate[][]> {
  const work = shufflesOf(queries);
  const ranked: RankedCandidate[][] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    for (let i = next++; i < work.length; i = next++) {
      const { judged, ids } = work[i] ?? { judged: undefined, ids: [] };
      if (judged !== undefined) ranked[i] = await rank(url, judged.query, ids);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return ranked;
}

async function rank(url: string, query: string, ids: readonly string[]): Promise<RankedCandidate[]> {
  const ranked: RankedCandidate[] = [];
  for (let page = 0; page * PAGE < ids.length; page++) {
    const answer = await post(
      `${url}/api/v1/ranking`,
      JSON.stringify({
        query: { query },
        candidates: ids.map((id) => ({ product_id: id })),
        user_page: page,
        user_page_size: PAGE,
      }),
    );
    ranked.push(...(answer as { ranked_candidates: RankedCandidate[] }).ranked_candidates);
  }
  if (ranked.length !== ids.length) {
    throw new Error(
      `${ids.length} candidates for ${JSON.stringify(query)}, but ${ranked.length} in the answer`,
    );
  }
  return ranked;
}

/** Attempts of a request that the service refuses for now, as a client that follows Retry-After makes them. */
const ATTEMPTS = 5;

async function post(url: string, body: string): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.ok) return JSON.parse(text);
    const wait = Number(answer.headers.get('retry-after') ?? NaN);
    if (answer.status !== 503 || Number.isNaN(wait) || attempt === ATTEMPTS)
      throw new Error(`${url} answered ${answer.status}: ${text.slice(0, 2000)}`);
    await pause(1000 * wait);
  }
}

function sameRankings(rankings: ReadonlyMap<string, readonly string[]>): boolean {
  const [first, ...others] = rankings;
  if (first === undefined) return false;
  for (const [name, ranked] of others) {
    const different = ranked.filter((ranking, i) => ranking !== first[1][i]).length;
    console.log(`${first[0]} and ${name}: ${different} of ${ranked.length} rankings differ`);
    if (different > 0) return false;
  }
  return true;
}

process.exitCode = (await main()) ? 0 : 1;
