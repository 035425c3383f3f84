import { strict as assert } from 'node:assert';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from 'undici';
import type { OnlineAnswer } from '../runtime/index/online-answer.js';
import { feastValue, materialise } from '../test/support/feast-writer.js';
import { writeProject } from '../test/support/project.js';
import { startRedisServer } from '../test/support/redis-server.js';
import type { Usage } from './service/serve.js';
import { median, ms, percentile, table } from './support/measure.js';

const VIEWS = 5;
const FEATURES_OF_A_VIEW = 10;
const MOST = 1000;
/** The maximum ratio between the CPU time of a read and the CPU time of a ranking over the same values. */
const GOAL = 4;
/** The number of candidates of the ranking that runs concurrently. */
const BESIDE = 24;

const views = (kind: string): string[] => Array.from({ length: VIEWS }, (_, v) => `${kind}_${v}`);
const FEATURES = Array.from({ length: FEATURES_OF_A_VIEW }, (_, f) => `f${f}`);
const idOf = (row: number): string => `product-${row}`;
const valueOf = (row: number, v: number, f: number): number => row + v / 10 + f / 128;

/** One kind of request, compared with a ranking. */
interface Case {
  readonly name: string;
  readonly path: string;
  readonly body: Buffer;
  /** The ranking over the same values. */
  readonly ranking: { readonly path: string; readonly body: Buffer };
  /** True if the goal applies to it. */
  readonly held?: true;
}

interface Round {
  readonly cpuMs: number;
  readonly stallMs: number;
  /** Milliseconds of the requests themselves, and of the small concurrent ranking. */
  readonly took: readonly number[];
  readonly beside: readonly number[];
}

/**
 * Measures reads, explanations and events of 100 and of 1,000 entities with 50 values each, and compares them with a
 * ranking over the same values. It reports the CPU time of the server's process per request, its ratio, the longest
 * stall of the event loop, and the latency of a small concurrent ranking. The server and Redis are separate
 * processes.
 */
export async function onlineBench(short: boolean): Promise<void> {
  const redis = await startRedisServer();
  const root = await writeProject(projectFiles(redis.url));
  const path = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const env = { MILLRACE_PROJECT: root, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' };
  const child = fork(path, { env: { ...process.env, ...env, MILLRACE_RESIDENT: 'off' }, stdio: 'inherit' });
  try {
    const [url] = (await once(child, 'message')) as [string];
    await load(url, redis.url);
    await check(url);
    for (const count of short ? [1000] : [100, 1000]) await compare(child, url, count, short);
  } finally {
    child.kill('SIGKILL');
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
}

async function compare(child: ChildProcess, url: string, count: number, short: boolean): Promise<void> {
  const rounds = short ? 3 : 9;
  const requests = short ? 4 : Math.max(8, Math.ceil(1600 / count));
  const rows: string[][] = [];
  const missed: string[] = [];
  for (const one of casesOf(count)) {
    const found: Round[] = [];
    const baseline: number[] = [];
    // The first rounds are warm-up.
    for (let round = -2; round < rounds; round++) {
      const ranked = await run(child, url, one.ranking, requests);
      const done = await run(child, url, one, requests);
      if (round < 0) continue;
      baseline.push(ranked.cpuMs);
      found.push(done);
    }
    const cost = medianOf(found.map(({ cpuMs }) => cpuMs));
    const base = medianOf(baseline);
    const beside = await runBeside(child, url, one, short ? 4 : 20);
    if (one.held === true && cost > GOAL * base) missed.push(one.name);
    rows.push([
      one.name,
      ms(cost),
      ms(base),
      (cost / base).toFixed(1),
      ms(medianOf(found.flatMap(({ took }) => took))),
      ms(medianOf(found.map(({ stallMs }) => stallMs))),
      ms(beside.stallMs),
      ms(percentile(beside.beside, 50)),
      ms(percentile(beside.beside, 99)),
    ]);
  }
  const [usual] = casesOf(BESIDE);
  const quiet = usual && (await run(child, url, usual.ranking, 100));
  console.log(
    `\n${count} rows × ${VIEWS * FEATURES_OF_A_VIEW} values, ${rounds} rounds of ${requests} requests\n`,
  );
  console.log(table(['', 'CPU ms', 'ranking', '×', 'p50 ms', 'stall', 'most', 'beside p50', 'p99'], rows));
  console.log(
    `\nCPU of the server's process per request, of a ranking over the same values, and their ratio; stall: the longest of a\n` +
      `round, median; most: over the rounds with a concurrent ranking of ${BESIDE}; latency: of that ranking, alone p50 ${ms(medianOf(quiet?.took ?? []))} ms\n`,
  );
  console.log(
    `get-online-features costs at most ${GOAL} times a ranking: ${missed.length === 0 ? 'met' : `missed by ${missed.join(', ')}`}`,
  );
}

const medianOf = (values: readonly number[]): number => median([...values].sort((a, b) => a - b));

/** Sends requests one after another. */
async function run(
  child: ChildProcess,
  url: string,
  { path, body }: { readonly path: string; readonly body: Buffer },
  requests: number,
): Promise<Round> {
  const client = new Client(url);
  await post(client, path, body);
  const before = await usage(child);
  const took: number[] = [];
  for (let i = 0; i < requests; i++) took.push(await post(client, path, body));
  const after = await usage(child);
  await client.close();
  return { cpuMs: (after.cpuMs - before.cpuMs) / requests, stallMs: after.stallMs, took, beside: [] };
}

/** Sends the same requests while small rankings run one after another on a separate connection. */
async function runBeside(child: ChildProcess, url: string, one: Case, requests: number): Promise<Round> {
  const [small] = casesOf(BESIDE);
  if (small === undefined) throw new Error('expected at least one case');
  const client = new Client(url);
  const beside: number[] = [];
  const isOver = { now: false };
  await post(client, small.ranking.path, small.ranking.body);
  const others = (async () => {
    while (!isOver.now) beside.push(await post(client, small.ranking.path, small.ranking.body));
  })();
  const round = await run(child, url, one, requests);
  isOver.now = true;
  await others;
  await client.close();
  return { ...round, beside: beside.sort((a, b) => a - b) };
}

/** @returns milliseconds until the answer arrived */
async function post(client: Client, path: string, body: Buffer): Promise<number> {
  const asked = performance.now();
  const response = await client.request({
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (response.statusCode === 200) await response.body.dump({ limit: Infinity });
  else assert.fail(await response.body.text());
  return performance.now() - asked;
}

async function usage(child: ChildProcess): Promise<Usage> {
  child.send('usage');
  const [answer] = (await once(child, 'message')) as [Usage];
  return answer;
}

function casesOf(count: number): Case[] {
  const ids = Array.from({ length: count }, (_, row) => idOf(row));
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const candidates = ids.map((product_id) => ({ product_id }));
  const ranking = (kind: string): Case['ranking'] => ({
    path: `/api/v1/${kind}`,
    body: json({ request_id: 'r', candidates, user_page_size: 10 }),
  });
  const read = (kind: string, name: string): Case => ({
    name,
    path: '/feature/get-online-features',
    body: json({
      features: views(kind).flatMap((view) => FEATURES.map((feature) => `${view}:${feature}`)),
      entities: { product_id: ids },
      full_feature_names: true,
    }),
    ranking: ranking(kind),
    held: true,
  });
  return [
    read('own', 'get-online-features'),
    read('feast', "the same, Feast's layout"),
    {
      name: 'entities/get',
      path: '/api/v1/entities/get',
      body: json({ entity_type: 'product', entity_ids: ids }),
      ranking: ranking('attributes'),
    },
    {
      name: 'entities/upload',
      path: '/api/v1/entities/upload',
      body: json({ entity_type: 'product', entities: ids.map((_, row) => entityOf(row)) }),
      ranking: ranking('attributes'),
    },
    {
      name: 'explain, page of all',
      path: '/api/v1/own/explain',
      body: json({ request_id: 'r', candidates, user_page_size: count }),
      ranking: ranking('own'),
    },
    {
      name: 'include_events',
      path: '/api/v1/own',
      body: json({ request_id: 'r', candidates, user_page_size: 10, include_events: true }),
      ranking: ranking('own'),
    },
  ];
}

/** Creates 50 attributes: numbers, strings, lists of strings, and some that the type does not declare. */
function entityOf(row: number): Record<string, unknown> {
  return {
    product_id: idOf(row),
    ...Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`n${i}`, valueOf(row, i, 1)])),
    ...Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`t${i}`, `text ${i} of product ${row}, ü`])),
    ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`l${i}`, ['red', 'blue', `of ${row}`]])),
    ...Object.fromEntries(Array.from({ length: 5 }, (_, i) => [`u${i}`, { at: i, of: [row, null, true] }])),
  };
}

/** Checks that both layouts return every value with its status and time. */
async function check(url: string): Promise<void> {
  for (const one of casesOf(MOST).filter(({ held }) => held)) {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url + one.path, { method: 'POST', headers, body: one.body });
    const { results } = (await response.json()) as OnlineAnswer;
    assert.equal(results.length, 1 + VIEWS * FEATURES_OF_A_VIEW);
    for (const [i, { values, statuses, event_timestamps: times }] of results.slice(1).entries()) {
      const [v, f] = [Math.floor(i / FEATURES_OF_A_VIEW), i % FEATURES_OF_A_VIEW];
      assert.deepEqual(
        values,
        values.map((_, row) => valueOf(row, v, f)),
        one.name,
      );
      assert.equal(values.length, MOST);
      assert.ok(statuses.every((status) => status === 'PRESENT'));
      assert.equal(new Set(times).size, 50);
    }
  }
}

/** Writes the same values in both layouts, and entities with many attributes. */
async function load(url: string, redisUrl: string): Promise<void> {
  const client = new Client(url);
  const now = Date.now();
  const rows = Array.from({ length: MOST }, (_, row) => row);
  const valuesOf = (row: number, v: number): Record<string, number> =>
    Object.fromEntries(FEATURES.map((feature, f) => [feature, valueOf(row, v, f)]));
  for (const [v, view] of views('own').entries()) {
    const sent = rows.map((row) => ({
      product_id: idOf(row),
      // Event times spread over a few minutes, because rows are rarely written in one instant.
      event_time: now - 60_000 * (row % 50) - v,
      ...valuesOf(row, v),
    }));
    await post(client, '/api/v1/features/push', Buffer.from(JSON.stringify({ view, rows: sent })));
    await materialise(
      redisUrl,
      rows.map((row) => ({
        keys: [['product_id', 'string', idOf(row)]],
        view: `feast_${v}`,
        time: now - 60_000 * (row % 50) - v,
        features: Object.fromEntries(
          FEATURES.map((feature, f) => [feature, feastValue('double_val', valueOf(row, v, f))]),
        ),
      })),
    );
  }
  const entities = rows.map(entityOf);
  const body = Buffer.from(JSON.stringify({ entity_type: 'product', entities }));
  await post(client, '/api/v1/entities/upload', body);
  await client.close();
}

/** Creates one pipeline per layout, and one for attributes. Each uses all values, so all are read. */
function projectFiles(url: string): Record<string, string> {
  const view = (name: string, source: string): [string, string] => [
    `schemas/features/${name}.yaml`,
    `view: ${name}\nof: [product]\n${source}features: { ${FEATURES.map((feature) => `${feature}: float`).join(', ')} }\n`,
  ];
  const pipeline = (name: string, required: readonly string[], values: readonly string[]): string =>
    `pipeline: ${name}
rank: product
${required.length === 0 ? '' : `features: [${required.join(', ')}]\n`}limits: { time: 30s, candidates: 1000 }
components:
  - use: linear
    with:
      missing: 0
      weights: { ${values.map((value) => `"${value}": 1`).join(', ')} }
  - use: score
    with: { value: linear:score }
page: { size: 10, max_size: 1000 }
`;
  const features = (kind: string): string[] =>
    views(kind).flatMap((name) => FEATURES.map((feature) => `${name}:${feature}`));
  const numbers = Array.from({ length: 30 }, (_, i) => `n${i}`);
  const texts = Array.from({ length: 10 }, (_, i) => `t${i}`);
  const lists = Array.from({ length: 5 }, (_, i) => `l${i}`);
  return {
    'schemas/entities/product.yaml': [
      'entity: product',
      'extends: ProductEntity',
      'attributes:',
      ...numbers.map((name) => `  ${name}: float`),
      ...texts.map((name) => `  ${name}: string`),
      ...lists.map((name) => `  ${name}: list(string)`),
      '',
    ].join('\n'),
    ...Object.fromEntries(views('own').map((name) => view(name, ''))),
    ...Object.fromEntries(
      views('feast').map((name) =>
        view(name, `source: { feast: { project: shop, url: "${url}", key_version: 3 } }\n`),
      ),
    ),
    'pipelines/own.yaml': pipeline('own', views('own'), features('own')),
    'pipelines/feast.yaml': pipeline('feast', views('feast'), features('feast')),
    'pipelines/attributes.yaml': pipeline(
      'attributes',
      [],
      [...numbers.map((name) => `product.${name}`), ...lists.map((name) => `count(product.${name})`)],
    ),
  };
}
