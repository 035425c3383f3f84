/**
 * Replays searches through a front and directly against a real OpenSearch, and compares the answers byte by byte; measures
 * the CPU of the front; stops the store behind the ranking under load. Compares what the retriever `opensearch` finds with
 * the engine's answers, and stops the engine:
 * `node dist/test/acceptance/front.js --jars FOLDER [--bodies 1000]`. The folder has the jars of
 * test/acceptance/opensearch/pom.xml; needs Java 17 and redis-server.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { JsonBytes } from '../../runtime/ground/core/json-bytes.js';
import { engineOf } from '../../runtime/serve/fronts/engines.js';
import { FoundHits, seenOrder } from '../../runtime/serve/fronts/found-hits.js';
import { widenSearch } from '../../runtime/serve/fronts/widen-search.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import { checkDeadEngine, checkRetriever, retrieverFiles } from './opensearch/retriever.js';
import { startOpenSearch } from './opensearch/start.js';

const WINDOW = 300;
const PRODUCTS = 800;
/** Searches of the retriever that are compared. */
const RETRIEVALS = 40;
const WORDS =
  'road trail running shoe jacket rain light warm blue red schuh regenjacke über-leicht kinder sport'.split(
    ' ',
  );
const BRANDS = ['lumen', 'acme', 'nord', 'alp'];
/** Searches over which CPU is measured. */
const SEARCHES = 1000;
/** What a front does for a search of 300 hits, beyond what parsing the engine's answer takes; milliseconds of CPU. */
const MOST_CPU_MS = 0.5;

const { values: flags } = parseArgs({
  options: {
    jars: { type: 'string' },
    bodies: { type: 'string', default: '1000' },
  },
});
if (flags.jars === undefined) throw new Error('--jars is missing: the folder with the jars of OpenSearch');

/** The same numbers in each run. */
let state = 31;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T;
const someWords = (count: number): string => Array.from({ length: count }, () => pick(WORDS)).join(' ');

const id = (at: number): string => `p${at}`;
/** What the pipeline ranks by: it is in the store, and not in OpenSearch. */
const marginOf = (at: number): number => (at * 7919) % 1009;

const document = (at: number): string =>
  `{ "title": ${JSON.stringify(`${someWords(4)} ${at}`)}, "description": ${JSON.stringify(someWords(20))}, "brand": "${pick(BRANDS)}",` +
  ` "price": ${random(200)}.0, "big": 12345678901234567890, "tiny": 1.10E-2, "stock": ${random(9)}, "popularity": ${1 + random(99)},` +
  ` "variants": [ { "sku": "a\\"]}${at}", "sizes": [] } ] }`;

const PROJECT = (url: string): Record<string, string> => ({
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { margin: float, title: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { engine_score: float }, query: query }
limits: { candidates: ${WINDOW}, time: 500ms }
components:
  - { use: score, with: { value: product.margin + 0 * coalesce(product.engine_score, 0) } }
log: { candidates: page }
`.replace(
    'product.margin + 0 * coalesce(product.engine_score, 0)',
    "'product.margin + 0 * coalesce(product.engine_score, 0)'",
  ),
  'fronts/shop.yaml': `front: shop
use: opensearch
pipeline: search
window: ${WINDOW}
path: /
map:
  query:
    - body.query.multi_match.query
    - body.query.match.title.query
    - body.query.match.title
    - body.query.bool.must.0.match.title.query
    - body.query.function_score.query.match.title.query
  candidates: { engine_score: hit._score }
with: { url: "${url}" }
`,
  ...retrieverFiles(url),
});

type Body = Record<string, unknown>;

const QUERIES: readonly (() => Body)[] = [
  () => ({ multi_match: { query: someWords(2), fields: ['title^2', 'description'] } }),
  () => ({ match: { title: { query: someWords(1), fuzziness: 1 } } }),
  () => ({ match: { title: someWords(2) } }),
  () => ({
    bool: {
      must: [{ match: { title: { query: someWords(2) } } }],
      filter: [
        { range: { price: { gte: random(100) } } },
        { terms: { brand: [pick(BRANDS), pick(BRANDS)] } },
      ],
    },
  }),
  () => ({
    function_score: {
      query: { match: { title: { query: someWords(1) } } },
      field_value_factor: { field: 'popularity', modifier: 'log1p' },
    },
  }),
];

/** What bodies have besides a query. */
const PARTS: readonly (() => Body)[] = [
  () => ({}),
  () => ({ aggs: { brands: { terms: { field: 'brand' } }, price: { stats: { field: 'price' } } } }),
  () => ({ highlight: { fields: { title: {}, description: { fragment_size: 40 } } } }),
  () => ({ _source: ['title', 'variants.*'], fields: ['brand', 'price'] }),
  () => ({ _source: false, track_total_hits: true }),
  () => ({ sort: ['_score'], min_score: 0.5 }),
  () => ({ explain: true, version: true }),
  () => ({
    rescore: { window_size: 20, query: { rescore_query: { match: { description: someWords(2) } } } },
  }),
  () => ({ sort: [{ price: 'asc' }, '_score'] }),
  () => ({ sort: [{ popularity: { order: 'desc' } }], search_after: [50] }),
  () => ({ collapse: { field: 'brand' } }),
  () => ({ size: 0, aggs: { brands: { terms: { field: 'brand' } } } }),
];

const PAGES: readonly (() => Body)[] = [
  () => ({}),
  () => ({ size: 24 }),
  () => ({ from: 24 * random(12), size: 24 }),
  () => ({ from: random(40), size: 1 + random(40) }),
  () => ({ from: WINDOW - random(20), size: 30 }),
];

const bodyOf = (): Body => {
  const part = pick(PARTS)();
  return { query: pick(QUERIES)(), ...('search_after' in part ? {} : pick(PAGES)()), ...part };
};

interface Answer {
  readonly status: number;
  readonly front: string | null;
  readonly bytes: Buffer;
}

async function ask(url: string, path: string, text: string, type = 'application/json'): Promise<Answer> {
  const answer = await fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body: text });
  const bytes = Buffer.from(await answer.arrayBuffer());
  return { status: answer.status, front: answer.headers.get('millrace-front'), bytes };
}

async function expectOk(
  url: string,
  path: string,
  text: string,
  method: string,
  type?: string,
): Promise<void> {
  const headers = { 'content-type': type ?? 'application/json' };
  const answer = await fetch(url + path, { method, headers, body: text });
  const said = await answer.text();
  if (!answer.ok || said.includes('"errors":true'))
    throw new Error(`${method} ${path}: ${answer.status} ${said.slice(0, 300)}`);
}

/** An answer as its hits, and as the text around them without `took`. */
function partsOf(
  bytes: Buffer,
  start = 0,
  end = bytes.length,
): { readonly around: string; readonly hits: readonly string[] } {
  const json = new JsonBytes(bytes);
  const list = json.find(['hits', 'hits'], start);
  if (list === undefined)
    throw new Error(`no hits: ${bytes.toString('utf8', start, Math.min(end, start + 300))}`);
  const ends = json.items(list);
  const hits = Array.from({ length: ends.length / 2 }, (_, at) =>
    bytes.toString('utf8', ends[2 * at], ends[2 * at + 1]),
  );
  const around = bytes.toString('utf8', start, list.start) + bytes.toString('utf8', list.end, end);
  return { around: around.replaceAll(/"took":\d+/g, ''), hits };
}

const idOf = (hit: string): number => Number(/"_id":"p(\d+)"/.exec(hit)?.[1]);

/** What the front must answer, made of what the engine answers. */
async function expectedOf(
  url: string,
  body: Body,
): Promise<{ around: string; hits: readonly string[]; isRanked: boolean }> {
  const direct = partsOf((await ask(url, '/products/_search', JSON.stringify(body))).bytes);
  const { from = 0, size = 10, sort } = body as { from?: number; size?: number; sort?: unknown[] };
  const isRanked =
    size > 0 && from < WINDOW && !('collapse' in body) && (sort === undefined || sort[0] === '_score');
  if (!isRanked) return { ...direct, isRanked };
  const wide = { ...body, from: 0, size: Math.max(WINDOW, from + size) };
  const all = partsOf((await ask(url, '/products/_search', JSON.stringify(wide))).bytes).hits;
  const best = all.slice(0, WINDOW).sort((a, b) => marginOf(idOf(b)) - marginOf(idOf(a)));
  return { around: direct.around, hits: [...best, ...all.slice(WINDOW)].slice(from, from + size), isRanked };
}

function compare(
  found: ReturnType<typeof partsOf>,
  expected: ReturnType<typeof partsOf>,
  what: string,
): void {
  if (found.around !== expected.around)
    throw new Error(`${what}: differs outside the hits:\n${found.around}\n${expected.around}`);
  if (found.hits.join() !== expected.hits.join())
    throw new Error(
      `${what}: differs in the hits: ${found.hits.map(idOf).join()} and not ${expected.hits.map(idOf).join()}`,
    );
}

async function replay(front: string, engine: string, count: number): Promise<void> {
  let [ranked, passed, several] = [0, 0, 0];
  for (let done = 0; done < count;) {
    const bodies = random(10) === 0 ? [bodyOf(), bodyOf(), bodyOf()] : [bodyOf()];
    const expected = [];
    for (const body of bodies) expected.push(await expectedOf(engine, body));
    if (bodies.length === 1) {
      const [body, [one]] = [JSON.stringify(bodies[0]), expected];
      const answer = await ask(front, '/products/_search', body);
      const outcome = one?.isRanked === true ? 'ranked=' : 'passed=';
      if (one === undefined || answer.status !== 200 || answer.front?.startsWith(outcome) !== true)
        throw new Error(`${body}: ${answer.status} ${answer.front}, not ${outcome}`);
      compare(partsOf(answer.bytes), one, body);
    } else {
      several++;
      const lines = bodies
        .flatMap((body) => ['{"index":"products"}\n', `${JSON.stringify(body)}\n`])
        .join('');
      const answer = await ask(front, '/_msearch', lines, 'application/x-ndjson');
      const json = new JsonBytes(answer.bytes);
      const list = json.find(['responses']);
      if (list === undefined) throw new Error(`${lines}: ${answer.status} ${answer.bytes.toString()}`);
      const ends = json.items(list);
      for (const [at, one] of expected.entries()) {
        const found = partsOf(answer.bytes, ends[2 * at], ends[2 * at + 1]);
        compare(
          { ...found, around: found.around.replace(/,"status":200\}$/, '}') },
          one,
          JSON.stringify(bodies[at]),
        );
      }
    }
    for (const { isRanked } of expected)
      if (isRanked) ranked++;
      else passed++;
    done += bodies.length;
  }
  console.log(
    `${ranked + passed} bodies: ${ranked} ranked, ${passed} passed on, in ${several} multi-searches 3 each; 0 differ`,
  );
}

async function pagesOf(front: string): Promise<void> {
  const query = { match: { title: 'road trail running shoe jacket rain light warm blue red' } };
  const { hits } = JSON.parse(
    (await ask(front, '/products/_search', JSON.stringify({ query, size: 1 }))).bytes.toString(),
  ) as { hits: { total: { value: number } } };
  const seen: number[] = [];
  for (let from = 0; from < hits.total.value; from += 37)
    seen.push(
      ...partsOf(
        (await ask(front, '/products/_search', JSON.stringify({ query, from, size: 37 }))).bytes,
      ).hits.map(idOf),
    );
  if (seen.length !== hits.total.value || new Set(seen).size !== seen.length)
    throw new Error(`the pages have ${new Set(seen).size} of ${hits.total.value} hits`);
  console.log(`all pages of a search: ${seen.length} hits, each once, over the end of the window`);
}

/** Stops the store behind the ranking while searches run. */
async function killed(front: string, redis: PrivateRedis): Promise<void> {
  const counts = new Map<string, number>();
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      const text = JSON.stringify({ query: pick(QUERIES)(), size: 24 });
      const { status, front: told } = await ask(front, '/products/_search', text);
      const what = status === 200 ? (told ?? 'none').replace(/=\d+$/, '') : `status ${status}`;
      counts.set(what, (counts.get(what) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: 8 }, client);
  await pause(1500);
  process.kill(redis.pid(), 'SIGSTOP');
  await pause(3000);
  process.kill(redis.pid(), 'SIGCONT');
  await pause(1500);
  await redis.stop();
  await pause(3000);
  isOver = true;
  await Promise.all(clients);
  const told = [...counts].map(([what, count]) => `${what} ${count}`).join(', ');
  console.log(`store stopped, then killed, under load: ${told}`);
  const failed = [...counts].some(([what]) => what.startsWith('status'));
  if (failed || !counts.has('ranked') || ![...counts.keys()].some((what) => what.startsWith('degraded')))
    throw new Error('searches failed, or none was ranked, or none degraded');
}

/** CPU of the service for each search, in milliseconds. */
async function cpuOf(
  front: string,
  text: string,
  count: number,
  path = '/products/_search',
): Promise<number> {
  const cpu = async (): Promise<number> =>
    Number(
      /^process_cpu_seconds_total ([\d.e-]+)$/m.exec(await (await fetch(`${front}/metrics`)).text())?.[1],
    );
  for (let turn = 0; turn < 100; turn++) await ask(front, path, text);
  const before = await cpu();
  for (let turn = 0; turn < count; turn++) await ask(front, path, text);
  return ((await cpu()) - before) * (1000 / count);
}

/** What a front does for one search, on the engine's answer, in milliseconds of CPU. */
function ownCpu(bytes: Buffer): { readonly parsing: number; readonly own: number } {
  const engine = engineOf();
  const sent = { bytes: Buffer.from(JSON.stringify({ query: pick(QUERIES)(), size: 24 })), query: '' };
  const carried = new Map([['engine_score', { path: ['_score'] }]]);
  const time = (work: () => unknown): number => {
    for (let turn = 0; turn < 300; turn++) work();
    const started = process.cpuUsage();
    for (let turn = 0; turn < 1000; turn++) work();
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1_000_000;
  };
  const own = time(() => {
    const wide = widenSearch(engine, sent, WINDOW);
    const hits = FoundHits.of(new JsonBytes(bytes), engine);
    const found = hits?.candidates(engine, 'product_id', carried, WINDOW);
    if (typeof wide === 'string' || hits === undefined || found === undefined)
      throw new Error('it cannot be ranked');
    return hits.cut(
      seenOrder(found.ids, [...found.ids].reverse(), hits.count).slice(wide.from, wide.from + wide.size),
    );
  });
  return { parsing: time(() => JSON.parse(bytes.toString('utf8'))), own };
}

async function cpu(front: string, engine: string): Promise<void> {
  const query = { match: { title: 'road trail running shoe jacket rain light warm blue red' } };
  const forwarded = JSON.stringify({ query, size: WINDOW, sort: ['_score', 'price'] });
  const ranked = JSON.stringify({ query, size: WINDOW });
  const { bytes } = await ask(engine, '/products/_search', ranked);
  const { parsing, own } = ownCpu(bytes);
  // The ranking of the same hits, as a client sends it.
  const { hits } = JSON.parse(bytes.toString('utf8')) as {
    hits: { hits: { _id: string; _score: number }[] };
  };
  const candidates = hits.hits.map(({ _id, _score }) => ({ product_id: _id, engine_score: _score }));
  const alone = JSON.stringify({ query: { query: query.match.title }, candidates });
  const passing = await cpuOf(front, forwarded, SEARCHES);
  const searching = await cpuOf(front, ranked, SEARCHES);
  const ranking = await cpuOf(front, alone, SEARCHES, '/api/v1/search');
  const added = searching - passing - ranking - parsing;
  console.log(
    `CPU at ${WINDOW} hits (${Math.round(bytes.length / 1024)} kB): parsing ${parsing.toFixed(2)} ms, the front ${own.toFixed(2)} ms, ` +
      `beyond parsing ${(own - parsing).toFixed(2)} ms (bound ${MOST_CPU_MS}); the service: forwarding ${passing.toFixed(2)} ms, ` +
      `a search ${searching.toFixed(2)} ms, of which the ranking ${ranking.toFixed(2)} ms, and ${added.toFixed(2)} ms beyond forwarding, ranking and parsing`,
  );
  if (own - parsing > MOST_CPU_MS) throw new Error('a search costs more CPU than the bound');
}

const cleanUp: (() => Promise<void>)[] = [];
try {
  const engine = await startOpenSearch(flags.jars);
  cleanUp.push(() => engine.stop());
  await expectOk(
    engine.url,
    '/products',
    JSON.stringify({
      settings: { number_of_shards: 1, number_of_replicas: 0 },
      mappings: {
        properties: {
          title: { type: 'text' },
          description: { type: 'text' },
          brand: { type: 'keyword' },
          price: { type: 'float' },
          popularity: { type: 'float' },
          big: { type: 'object', enabled: false },
          tiny: { type: 'object', enabled: false },
          variants: { type: 'object', enabled: false },
        },
      },
    }),
    'PUT',
  );
  const lines = Array.from(
    { length: PRODUCTS },
    (_, at) => `{"index":{"_id":"${id(at)}"}}\n${document(at)}\n`,
  );
  await expectOk(engine.url, '/products/_bulk?refresh=true', lines.join(''), 'POST', 'application/x-ndjson');
  const redis = await startRedisServer();
  cleanUp.push(() => redis.remove());
  const root = await writeProject(PROJECT(engine.url));
  cleanUp.push(() => rm(root, { recursive: true, force: true }));
  const service = await startProcess(
    ['--project', root, '--store', 'redis', '--port', '0', '--host', '127.0.0.1'],
    {
      REDIS_URL: redis.url,
      MILLRACE_MODEL_HOSTS: new URL(engine.url).host,
      MILLRACE_QUEUE_MS: '30000',
      MILLRACE_LEDGER_DIR: root,
    },
  );
  cleanUp.push(async () => {
    service.child.kill('SIGTERM');
    await service.ended;
  });
  const entities = Array.from({ length: PRODUCTS }, (_, at) => ({
    product_id: id(at),
    margin: marginOf(at),
    title: `${WORDS[at % WORDS.length] ?? ''} ${at}`,
  }));
  const body = JSON.stringify({ entity_type: 'product', entities });
  const upload = (): Promise<void> => expectOk(service.url, '/api/v1/entities/upload', body, 'POST');
  await upload();
  const root200 = await fetch(service.url);
  console.log(
    `GET /: ${root200.status} ${((await root200.json()) as { version: { number: string } }).version.number}`,
  );
  await replay(service.url, engine.url, Number(flags.bodies));
  await pagesOf(service.url);
  await checkRetriever(
    service.url,
    engine.url,
    Array.from({ length: RETRIEVALS }, () => someWords(2)),
  );
  await cpu(service.url, engine.url);
  await killed(service.url, redis);
  await redis.start();
  const isUploaded = (): Promise<boolean> =>
    upload().then(
      () => true,
      () => false,
    );
  await until('the store to answer again', isUploaded, 30_000);
  await engine.stop();
  await checkDeadEngine(service.url, 'road');
} finally {
  for (const step of cleanUp.reverse()) await step();
}
