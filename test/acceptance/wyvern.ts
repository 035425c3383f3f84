/**
 * Sends the same requests to a service of the library wyvern-ai and to Millrace, strict and lax, and compares the answers with the
 * table of differences in docs/from-wyvern.md, both ways:
 *
 *   node dist/test/acceptance/wyvern.js --python PATH
 *
 * PATH is a Python with wyvern-ai 0.0.30; wyvern_service.py is its service. A probe that names a row must differ, every
 * other probe must not, and every row must have a probe that differs. Of a lax project, the rows that say so must not differ.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';

import { freePort, startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';
import { GONE_IF_LAX, products, PROJECT, request, ROWS } from '../support/wyvern-project.js';

interface Probe {
  /** What the probe tries, or the row whose difference it finds. */
  readonly title: string;
  readonly path: string;
  /** A text is sent as it is; undefined for GET. */
  readonly body?: object | string;
  /** What is compared of an answer, if not all of it. */
  readonly of?: (json: Answer) => unknown;
}

type Answer = Readonly<Record<string, unknown>> & { readonly events?: readonly Event[] };
type Event = Readonly<Record<string, unknown>> & {
  readonly event_type: string;
  readonly event_data: Readonly<Record<string, unknown>>;
};

/** Rows that need a Feast store behind the library's service, and clients of its feature server. */
const NOT_PROBED: ReadonlySet<string> = new Set([
  'product `1` and brand `1` with features of one name',
  '`include_events`: features that are 0, "" or []',
  'features of a missing row',
  'a feature name that does not exist',
]);

const rank = (title: string, body: object | string, pipeline = 'ranking', of?: Probe['of']): Probe => ({
  title,
  path: `/api/v1/${pipeline}`,
  body,
  ...(of === undefined ? {} : { of }),
});
const upload = (
  title: string,
  entity_type: string,
  entities: readonly object[],
  more: object = {},
): Probe => ({
  title,
  path: '/api/v1/entities/upload',
  body: { entity_type, entities, ...more },
});
const get = (title: string, entity_type: string, ...entity_ids: readonly unknown[]): Probe => ({
  title,
  path: '/api/v1/entities/get',
  body: { entity_type, entity_ids },
});
const withEvents = (
  title: string,
  body: object,
  pipeline: string,
  of: (events: readonly Event[]) => unknown,
): Probe => rank(title, { ...body, include_events: true }, pipeline, ({ events = [] }) => of(events));

/** The fields of the events of one type. */
const fieldsOf =
  (type: string) =>
  (events: readonly Event[]): unknown =>
    events
      .filter((one) => one.event_type === type)
      .map((one) => [Object.keys(one).sort(), Object.keys(one.event_data).sort()]);

const dataOf =
  (type: string, field: string) =>
  (events: readonly Event[]): unknown =>
    events.filter((one) => one.event_type === type).map((one) => one.event_data[field]);

const priced = (...prices: readonly number[]): readonly object[] =>
  prices.map((price, i) => ({ product_id: `p${i + 1}`, price }));
const scoresOf = ({ ranked_candidates: ranked }: Answer): unknown =>
  (ranked as readonly { candidate_id: string; ranked_score: number }[] | undefined)
    ?.map((one) => [one.candidate_id, one.ranked_score])
    .sort();
const idsOf = ({ ranked_candidates: ranked }: Answer): unknown =>
  (ranked as readonly { candidate_id: string }[] | undefined)?.map((one) => one.candidate_id);

/** Two candidates that no probe uploads. */
const unstored = [2, 1].map((price) => ({ product_id: `u${price}`, price }));

/** Sent in this order. */
const PROBES: readonly Probe[] = [
  { title: 'GET /healthcheck', path: '/healthcheck' },
  rank('no candidates', request([])),
  rank('candidates that carry their attributes', request(products(5))),
  rank(
    'equal scores',
    request([
      { product_id: 'b', price: 1 },
      { product_id: 'a', price: 1 },
    ]),
  ),
  rank('the second page', request(products(4), { user_page: 1, user_page_size: 2 })),
  rank('a query without a text', request(products(2), { query: { query: '' } })),
  rank('a field that nothing declares', request([{ product_id: 'p1', colour: 'red' }], { foo: 1 })),
  upload('an upload', 'product', [{ product_id: 'p1', price: 50, on_sale: true, label: 'x' }]),
  upload('an upload of nothing', 'product', []),
  get('an id that the index does not have, in `entities/get`', 'product', 'p1', 'nobody'),
  rank('an id alone', request([{ product_id: 'p1' }])),
  get('entities', 'product', 'p1'),
  upload('an upload of a nested object', 'product', [{ product_id: 'z1', anything: { nested: [1, 'a'] } }]),
  get('a nested object', 'product', 'z1'),
  upload('an upload of a brand', 'brand', [{ brand_id: 'b1', name: 'stored', fame: 4 }]),
  rank('an id of a nested entity', request([{ product_id: 'p9', brand_id: 'b1' }]), 'by_brand'),
  upload('an upload of too many', 'product', products(1001)),
  get('a read of too many', 'product', ...products(1001).map(({ product_id: id }) => id)),
  { title: 'a body without its list', path: '/api/v1/entities/upload', body: { entity_type: 'product' } },
  rank('an absent id in a candidate', request([{ price: 1 }])),
  rank('null as an id', request([{ product_id: null, price: 1 }])),
  rank('a query that is a text', request(products(2), { query: 'x' })),
  rank('a path that nothing serves', {}, 'nothing'),
  rank('ids that are whole numbers', request([{ product_id: 7, price: 1 }])),

  rank(
    'a body that breaks the schema',
    request([{ product_id: 'p1', price: 'x' }]),
    'ranking',
    (json) => json,
  ),
  rank('`user_page_size: 0`', request(products(2), { user_page_size: 0 })),
  rank('a page after the end', request(products(3), { user_page: 5, user_page_size: 2 })),
  rank(
    'page sizes that do not divide',
    request(products(8), { user_page_size: 3, user_page: 2, candidate_page: 1 }),
  ),
  rank('a page that lies before the candidate page', request(products(4), { candidate_page: 2 })),
  rank('a page or a size out of range', request(products(4), { user_page: -1 })),
  rank('more than 1,000 candidates', request(products(1001))),
  rank('a page or a size out of range', request(products(200), { user_page_size: 101 })),
  rank('a page or a size out of range', request(products(2), { user_page_size: 3 })),
  rank('no `query`, no sizes, no `request_id`', { candidates: products(2) }),
  rank('a candidate twice', request([...products(2), ...products(1)])),
  rank('a number sent as a text', request([{ product_id: 'p5', price: '4.5' }])),
  rank('a number sent as a text', request([{ product_id: 'p5', price: ' -10.5e1 ' }])),
  rank('a number that is a text of none', request([{ product_id: 'p5', price: 'dear' }])),
  rank('a number or a page sent as true or false', request([{ product_id: 'p5', price: true }])),
  rank('a number or a page sent as true or false', request(unstored, { user_page: false })),
  rank('a text sent as a number', request([{ product_id: 'p5', price: 2, label: 123 }])),
  rank('a text sent as true or false', request([{ product_id: 'p5', price: 2, label: true }])),
  ...['yes', 'OFF', '1', 0, 1].map((on_sale) =>
    rank(
      'a flag sent as a text or a number',
      request([{ product_id: 'p5', price: 2, label: 'y', on_sale }]),
      'by_label',
    ),
  ),
  rank('a flag that is a text of none', request([{ product_id: 'p5', on_sale: 'perhaps' }])),
  rank('a page that is a text', request(unstored, { user_page: '0' })),
  rank('a page that is a text', request(unstored, { user_page_size: ' 2 ', candidate_page: '0' })),
  rank('a page that is a text of none', request(products(2), { user_page: 'first' })),
  rank('a page that is a fraction', request(products(2), { user_page: 0.5 })),
  rank('a body that is not JSON', '{"a"'),
  {
    title: 'NaN or Infinity in a body',
    path: '/api/v1/entities/upload',
    body: '{"entity_type":"product","entities":[{"product_id":"n1","price":NaN}]}',
  },
  rank(
    'an attribute as 0, false or ""',
    request([{ product_id: 'p1', price: 0, on_sale: false, label: '' }]),
    'by_label',
  ),
  rank(
    'a nested object in a candidate',
    request([{ product_id: 'p9', brand_id: 'b1', brand: { brand_id: 'b1', name: 'sent' } }]),
    'by_brand',
  ),
  upload('a nested object in an upload', 'product', [
    { product_id: 'n2', brand: { brand_id: 'b1', name: 'stored' } },
  ]),
  get('an uploaded nested object, read again', 'product', 'n2'),
  upload('an indexed attribute of a wrong type', 'product', [{ product_id: 'p7', price: 'dear' }]),
  rank('pin to 1', request(priced(5, 1, 3)), 'pinned', idsOf),
  rank('the score of a pinned candidate', request(priced(5, 1, 3)), 'pinned', scoresOf),
  rank('boost of a negative score', request([{ product_id: 'a', price: -2, label: 'x' }]), 'raised'),
  rank('a missing model output', request([{ product_id: 'a', price: 3 }]), 'modelled'),
  withEvents('`include_events`: CANDIDATE', request(products(3)), 'ranking', fieldsOf('CANDIDATE')),
  withEvents(
    '`include_events`: `impression_order` on page 2',
    request(products(4), { user_page: 1, user_page_size: 2 }),
    'ranking',
    dataOf('IMPRESSION', 'impression_order'),
  ),
  withEvents(
    'impressions of the first page',
    request(priced(4, 3, 2, 1), { user_page_size: 2 }),
    'ranking',
    (events) =>
      ['entity_identifier', 'entity_identifier_type', 'impression_score', 'impression_order'].map((field) =>
        dataOf('IMPRESSION', field)(events),
      ),
  ),
  withEvents('fields of an IMPRESSION', request(products(1)), 'ranking', fieldsOf('IMPRESSION')),
  withEvents('`include_events`: `event_timestamp`', request(products(1)), 'ranking', ([one]) =>
    /Z$/.test(String(one?.['event_timestamp'])),
  ),
  withEvents(
    '`include_events`: `run_id` without a header',
    request(products(1)),
    'ranking',
    ([one]) => one?.['run_id'],
  ),
  withEvents(
    '`include_events`: BUSINESS_LOGIC',
    request([{ product_id: 'a', price: 2, label: 'x' }]),
    'raised',
    dataOf('BUSINESS_LOGIC', 'business_logic_name'),
  ),
  withEvents(
    'fields of the last BUSINESS_LOGIC',
    request([{ product_id: 'a', price: 2, label: 'x' }]),
    'raised',
    (events) => (fieldsOf('BUSINESS_LOGIC')(events) as unknown[]).at(-1),
  ),
  upload('an upload with an id twice', 'product', [
    { product_id: 'q1', price: 1 },
    { product_id: 'q1', price: 2 },
  ]),
  upload('an upload of an id as a number', 'product', [{ product_id: 8, price: 1 }]),
  get('an entity whose id was a number', 'product', '8'),
  upload('an upload without an id', 'product', [{ price: 1 }]),
  upload('an empty id', 'product', [{ product_id: '', price: 1 }]),
  rank('an empty id', request([{ product_id: '', price: 1 }])),
  upload('an upload with `entity_key`', 'product', [{ sku: 's1', price: 1 }], { entity_key: 'sku' }),
  get('an entity uploaded with `entity_key`', 'product', 's1'),
  upload('an unknown entity type', 'prodct', [{ prodct_id: '1' }]),
  {
    title: 'a deletion',
    path: '/api/v1/entities/delete',
    body: { entity_type: 'product', entity_ids: ['p1', 'nobody'] },
  },
  {
    title: 'POST /api/entity/v1/entities/delete',
    path: '/api/entity/v1/entities/delete',
    body: { entity_type: 'product', entity_ids: ['p1'] },
  },
  { title: 'GET /healthcheck while Redis is down', path: '/readyz' },
];

async function answerOf(url: string, { path, body, of }: Probe): Promise<{ status: number; json?: unknown }> {
  const response = await fetch(url + path, {
    ...(body === undefined
      ? {}
      : { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { 'content-type': 'application/json' },
  });
  const { status } = response;
  const text = await response.text();
  // The bodies of errors are a row of their own.
  if (of === undefined && status >= 400) return { status };
  const json = JSON.parse(text) as Answer;
  return { status, json: of === undefined ? json : of(json) };
}

async function ready(url: string, hasEnded: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !hasEnded(); tries++) {
    const isUp = await fetch(`${url}/healthcheck`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error('wyvern_service.py did not start');
}

/**
 * Returns the mistakes of the page.
 * @param millrace the addresses of a strict and of a lax project
 */
async function compare(
  wyvern: string,
  millrace: Readonly<Record<'strict' | 'lax', string>>,
): Promise<readonly string[]> {
  const mistakes: string[] = [];
  const found = new Set<string>();
  let differing = 0;
  for (const probe of PROBES) {
    const theirs = await answerOf(wyvern, probe);
    for (const mode of ['strict', 'lax'] as const) {
      const ours = await answerOf(millrace[mode], probe);
      const isSame = isDeepStrictEqual(theirs, ours);
      const isRow = ROWS.includes(probe.title) && !(mode === 'lax' && GONE_IF_LAX.includes(probe.title));
      if (isRow && !isSame && mode === 'strict') found.add(probe.title);
      if (mode === 'lax' && !isSame) differing++;
      if (isRow !== isSame) continue;
      const what = isRow ? 'a row, but there is no difference' : 'a difference that the page lacks';
      mistakes.push(
        `${probe.title}, ${mode}: ${what}\n  Wyvern   ${JSON.stringify(theirs)}\n  Millrace ${JSON.stringify(ours)}`,
      );
    }
  }
  for (const row of ROWS)
    if (found.has(row) === NOT_PROBED.has(row))
      mistakes.push(
        `${row}: ${found.has(row) ? 'found, so it is not NOT_PROBED' : 'no probe finds this row'}`,
      );
  console.log(
    `${PROBES.length} probes, ${found.size} of ${ROWS.length} rows found, ${NOT_PROBED.size} need a Feast store; ` +
      `${GONE_IF_LAX.length} rows are gone with accept: lax, and ${differing} probes still differ`,
  );
  return mistakes;
}

async function serving<T>(root: string, accept: string, use: (url: string) => Promise<T>): Promise<T> {
  const settings = loadSettings({ LOG_LEVEL: 'silent', MILLRACE_ACCEPT: accept }, { project: root });
  const app = await createApp(settings, { store: new MemoryStore() });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  try {
    return await use(`http://127.0.0.1:${server.port}`);
  } finally {
    await server.close(0);
    await app.close();
  }
}

async function main(python: string): Promise<boolean> {
  const redis = await startRedisServer();
  const port = await freePort();
  const child = spawn(python, [repositoryPath('test/acceptance/wyvern_service.py'), String(port)], {
    stdio: 'ignore',
    env: {
      ...process.env,
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(redis.port),
      FEATURE_STORE_ENABLED: 'false',
      EVENT_LOGGING_ENABLED: 'false',
      DD_TRACE_ENABLED: 'false',
      FEAST_USAGE: 'False',
    },
  });
  const ended = once(child, 'exit');
  try {
    return await withFiles(PROJECT, async (root) => {
      const wyvern = `http://127.0.0.1:${port}`;
      await ready(wyvern, () => child.exitCode !== null);
      const mistakes = await serving(root, 'strict', (strict) =>
        serving(root, 'lax', (lax) => compare(wyvern, { strict, lax })),
      );
      for (const mistake of mistakes) console.error(mistake);
      return mistakes.length === 0;
    });
  } finally {
    child.kill();
    await ended;
    await redis.remove();
  }
}

const { values: flags } = parseArgs({ options: { python: { type: 'string' } } });
if (flags.python === undefined) throw new Error('--python PATH is missing');
process.exitCode = (await main(flags.python)) ? 0 : 1;
