import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import type { ForgetAnswer } from '../../runtime/state/privacy/forget.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const USERS = 1000;
const BRANDS = 20;
const SALT = 'the salt of this proof';

const FILES = {
  'schemas/entities/user.yaml':
    'entity: user\nattributes: { email: { type: string, private: true }, city: string }\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand), maker: ref(user) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/features/user_stats.yaml':
    'view: user_stats\nof: [user]\nttl: 30d\nfeatures: { orders: int, note: string }\n',
  'schemas/features/user_brand.yaml':
    'view: user_brand\nof: [user, brand]\nfeatures: { clicks: int, note: string }\n',
  'schemas/features/brand_user.yaml':
    'view: brand_user\nof: [brand, user]\nfeatures: { clicks: int, note: string }\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { candidates: {}, user: user }
features: [user_stats, "user_brand(user, product.brand)"]
components:
  - use: interaction
    as: brands
    with: { of: user, with: product.brand, outputs: { clicks: { event: click, window: 30d } } }
  - use: interaction
    as: makers
    with: { of: user, with: product.maker, outputs: { clicks: { event: click, window: 30d } } }
  - use: filter
    with: { keep: user.email != "x" and user.city != "x" and user_stats:note != "x" and user_brand:note != "x" }
  - use: score
    with: { value: brands:clicks + makers:clicks + user_stats:orders + user_brand:clicks }
`,
};

/** A user, with a text of its own for each place where the user's data can be. */
interface Person {
  readonly id: string;
  readonly value: string;
}

/** Random texts do not share prefixes, so neither LevelDB nor a compression splits the part that is searched for. */
const random = (): string =>
  randomBytes(24)
    .toString('base64')
    .replace(/[^A-Za-z0-9]/g, 'x');
const searched = (text: string): Buffer => Buffer.from(text.slice(12));

/** Forgets users with data everywhere, and searches everything for their bytes. */
export const forget: Proof = {
  name: 'forget',
  summary: 'no byte of 1,000 forgotten users is left in the store, its files or the logs',
  page: 'privacy.md',
  run: prove,
};

async function prove(options: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const engine of ['redis', 'embedded'] as const)
    for (const row of await measure(engine, options, missed)) rows.push(row);
  return {
    markdown: [
      `${USERS.toLocaleString('en')} users with attributes, rows of views of one and of two entities, feedback histories, and`,
      'their ids in the histories of others. Each has one canary as its id and one as its values.',
      '',
      '| place | canaries before | after | of users who stay |',
      '| ----- | --------------- | ----- | ----------------- |',
      ...rows,
    ].join('\n'),
    missed,
  };
}

async function measure(
  engine: 'redis' | 'embedded',
  { short }: ProofOptions,
  missed: string[],
): Promise<string[]> {
  const root = await writeProject(FILES);
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-forget-'));
  // Nothing else than the service and this proof may hide the bytes, so the file is not compressed.
  const redis =
    engine === 'redis' ? await startRedisServer(['--dir', dataDir, '--rdbcompression', 'no']) : undefined;
  const env = {
    ...{ LOG_LEVEL: 'debug', MILLRACE_HASH_IDS: 'user', MILLRACE_ID_SALT: SALT, MILLRACE_LAME_DUCK_MS: '0' },
    ...{ MILLRACE_STORE: engine, MILLRACE_DATA_DIR: dataDir, ...(redis ? { REDIS_URL: redis.url } : {}) },
  };
  const service = await startProcess(['--project', root, '--port', '0'], env);
  try {
    const people = Array.from({ length: USERS }, (): Person => ({ id: random(), value: random() }));
    const others = Array.from({ length: short ? 200 : 2000 }, (): Person => ({
      id: random(),
      value: random(),
    }));
    const events = await fill(service, [...people, ...others]);
    const places = placesOf(engine, redis?.url, dataDir, service, events);
    const canaries = people.flatMap(({ id, value }) => [id, value]).map(searched);
    const kept = others.flatMap(({ id, value }) => [id, value]).map(searched);
    const before = new Map<string, number>();
    for (const { name, bytes } of places) before.set(name, countFound(await bytes(), canaries));
    const began = performance.now();
    const removed = await forgetAll(service, people);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${engine}: forgotten in ${seconds} s: ${JSON.stringify(removed)}`);
    const rows: string[] = [];
    for (const { name, bytes, isEmpty } of places) {
      const content = await bytes();
      const after = countFound(content, canaries);
      const stays = countFound(content, kept);
      const had = before.get(name) ?? 0;
      rows.push(`| ${engine}: ${name} | ${had} | ${after} | ${stays} of ${kept.length} |`);
      if (after > 0) missed.push(`${engine}, ${name}: bound 0 canaries, was ${after}`);
      if (isEmpty === true) continue;
      if (had < canaries.length * 0.99) missed.push(`${engine}, ${name}: only ${had} canaries before`);
      if (stays < kept.length * 0.99) missed.push(`${engine}, ${name}: only ${stays} of those who stay`);
    }
    return rows;
  } finally {
    service.child.kill('SIGTERM');
    await service.ended;
    await redis?.remove();
    for (const folder of [root, dataDir]) await rm(folder, { recursive: true, force: true });
  }
}

interface Place {
  readonly name: string;
  readonly bytes: () => Promise<Buffer[]>;
  /** True if it never has ids or values of users. */
  readonly isEmpty?: true;
}

function placesOf(
  engine: 'redis' | 'embedded',
  url: string | undefined,
  dataDir: string,
  service: ServiceProcess,
  events: string,
): Place[] {
  const files = async (): Promise<Buffer[]> => {
    const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
    return Promise.all(
      entries.filter((entry) => entry.isFile()).map((entry) => readFile(join(entry.parentPath, entry.name))),
    );
  };
  const log = (): Promise<Buffer[]> =>
    Promise.resolve([Buffer.from(JSON.stringify(service.lines) + service.stderr())]);
  const stores: Place[] =
    engine === 'embedded'
      ? [{ name: 'the data folder', bytes: files }]
      : [
          { name: 'keys, values and DUMP', bytes: () => withRedis(url, dumpOf) },
          {
            name: 'the file of SAVE',
            bytes: async () => {
              await withRedis(url, (client) => client.save());
              return files();
            },
          },
        ];
  return [
    ...stores,
    { name: 'the log at debug', bytes: log, isEmpty: true },
    { name: 'events with hashed ids', bytes: () => Promise.resolve([Buffer.from(events)]), isEmpty: true },
  ];
}

async function withRedis<T>(url: string | undefined, use: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url ?? '');
  try {
    return await use(client);
  } finally {
    client.disconnect();
  }
}

async function dumpOf(client: Redis): Promise<Buffer[]> {
  const keys = await client.keys('*');
  const found = await Promise.all(
    keys.map(async (key) => [await client.getBuffer(key), await client.dumpBuffer(key)]),
  );
  return [...keys.map((key) => Buffer.from(key)), ...found.flat().filter((bytes) => bytes !== null)];
}

/** How many of the canaries occur in the bytes. One pass looks up the first four bytes at each offset. */
function countFound(content: readonly Buffer[], canaries: readonly Buffer[]): number {
  const byStart = new Map<number, Buffer[]>();
  for (const canary of canaries) {
    const start = canary.readInt32LE(0);
    byStart.set(start, [...(byStart.get(start) ?? []), canary]);
  }
  const found = new Set<Buffer>();
  for (const bytes of content)
    for (let at = 0; at + 4 <= bytes.length; at++)
      for (const canary of byStart.get(bytes.readInt32LE(at)) ?? [])
        if (bytes.compare(canary, 0, canary.length, at, Math.min(at + canary.length, bytes.length)) === 0)
          found.add(canary);
  return found.size;
}

async function post(service: ServiceProcess, path: string, body: object): Promise<unknown> {
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (response.status === 503) {
    await pause(100); // the service sheds load on a busy machine
    return post(service, path, body);
  }
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${text}`);
  return JSON.parse(text) as unknown;
}

/** Writes data of all people everywhere, and ranks for each. @returns the events of the rankings */
async function fill(service: ServiceProcess, people: readonly Person[]): Promise<string> {
  const brand = (i: number): string => `b${i % BRANDS}`;
  const parts = Array.from({ length: Math.ceil(people.length / 500) }, (_, i) =>
    people.slice(500 * i, 500 * (i + 1)),
  );
  for (const part of parts) {
    const upload = (entity_type: string, entities: readonly object[]): Promise<unknown> =>
      post(service, '/api/v1/entities/upload', { entity_type, entities });
    await upload(
      'user',
      part.map(({ id, value }) => ({ user_id: id, email: `${value}@example.org`, city: 'c' })),
    );
    await upload(
      'product',
      part.map(({ id }, i) => ({ product_id: `p${i}`, brand: brand(i), maker: id })),
    );
    for (const view of ['user_stats', 'user_brand', 'brand_user']) {
      const rows = part.map(({ id, value }, i) => ({
        ...{ user_id: id, note: value },
        ...(view === 'user_stats' ? { orders: 1 } : { brand_id: brand(i), clicks: 1 }),
      }));
      await post(service, '/api/v1/features/push', { view, rows });
    }
    await inEights(part, async ({ id }, i) => {
      const events = [{ type: 'click', product: { product_id: `p${i}` } }];
      await post(service, '/api/v1/feedback', { request_id: `r${i}`, user: { user_id: id }, events });
      await post(service, '/api/v1/feedback', { request_id: `r${i}`, user: { user_id: `fan${i}` }, events });
    });
    // The products stay, but they are not the makers' data any more.
    await upload(
      'product',
      part.map((_, i) => ({ product_id: `p${i}`, brand: brand(i) })),
    );
  }
  const events: string[] = [];
  await inEights(people, async ({ id }, i) => {
    const body = {
      request_id: `r${i}`,
      user: { user_id: id },
      candidates: [{ product_id: 'p1' }],
      include_events: true,
    };
    // Views are public here, so only the values of the private attribute are searched for in the events.
    const answer = (await post(service, '/api/v1/ranking', body)) as { readonly events: readonly object[] };
    events.push(
      JSON.stringify(answer.events).replace(
        /"feature_name":"user_(?:stats|brand):note","feature_value":"[^"]*"/g,
        '',
      ),
    );
    if (i % 10 === 0)
      await post(service, '/api/v1/ranking', { ...body, candidates: 7 }).catch(() => undefined);
  });
  return events.join('\n');
}

async function inEights<T>(list: readonly T[], work: (one: T, i: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < list.length; from += 8)
    await Promise.all(list.slice(from, from + 8).map((one, i) => work(one, from + i)));
}

async function forgetAll(
  service: ServiceProcess,
  people: readonly Person[],
): Promise<Readonly<Record<string, number>>> {
  const total: Record<string, number> = {};
  let cursor: string | null = null;
  do {
    const body = { entity_type: 'user', entity_ids: people.map(({ id }) => id), cursor };
    const answer = (await post(service, '/api/v1/privacy/forget', body)) as ForgetAnswer;
    for (const [name, count] of Object.entries(answer.removed)) total[name] = (total[name] ?? 0) + count;
    ({ cursor } = answer);
  } while (cursor !== null);
  return total;
}
