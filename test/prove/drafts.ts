import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { Random } from '../../runtime/ground/core/random.js';
import { ACT_NAMES, type ActName } from '../../runtime/project/config/curation/read-acts.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { MemoryStore } from '../support/memory-store.js';
import { pluginFiles, writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const REQUESTS = 10_000;
const SHORT_REQUESTS = 200;
const REQUESTS_PER_DRAFT = 20;
const EDITS = 200;
const SHORT_EDITS = 8;
const DAY = 86_400_000;
const NOW = Date.parse('2026-11-25T12:00:00Z');

/** An effect that counts how often it ran. */
const EFFECT = `globalThis.effectsOfDrafts ??= 0;
  return { run() { globalThis.effectsOfDrafts++; } };`;

const FILES = {
  ...pluginFiles('counting', 'effect', EFFECT),
  'millrace.yaml': 'project: shop\ntime_zone: Europe/Berlin\n',
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { brand: string, stock: int, price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, query: optional(query), category: optional(string) }
limits: { time: 30s }
components:
  - { use: filter, with: { keep: "coalesce(product.stock, 1) > 0" } }
  - { use: score, with: { value: "coalesce(product.found, 0)" } }
  - { use: pin, with: { positions: { 2: p3 } } }
  - { use: slot, with: { positions: [4], where: product.price > 50 } }
  - { use: curation, with: { list: campaigns } }
  - { use: explore, with: { top: 8, method: plackett_luce, temperature: 2 } }
  - { use: counting }
log: { candidates: all }
`,
  'curation/campaigns.yaml': `curation: campaigns
rules: [{ query: gift, match: contains, boost: { where: product.price > 20, multiply: 2 } }]
campaigns: { of_file: { on: { category: [tv] }, hide: [p1] } }
`,
};

const PRODUCTS = Array.from({ length: 40 }, (_, at) => `p${at}`);
const CATEGORIES = ['tv', 'audio', 'laptop'];
const QUERIES = ['gift', 'red shoe', 'gift card'];

/** One random value of each act. An act without one fails the compilation. */
const ACTS: { readonly [Name in ActName]: (random: Random) => unknown } = {
  pin: (random) => ({ [1 + below(random, 30)]: oneOf(random, PRODUCTS), [31 + below(random, 9)]: 'p0' }),
  hide: (random) => [oneOf(random, PRODUCTS), oneOf(random, PRODUCTS)],
  boost: (random) => ({ where: `product.price > ${below(random, 90)}`, multiply: 1 + below(random, 3) }),
  bury: (random) => ({ where: `product.brand == "b${below(random, 4)}"` }),
  sponsor: (random) => ({
    places: [1 + below(random, 6), 7 + below(random, 3)],
    product: `s${below(random, 20)}`,
    label: 'Anzeige',
  }),
  banner: (random) => ({ place: oneOf(random, ['top', 'side']), text: `text ${below(random, 9)}` }),
};

/** A whole number below another one. */
function below(random: Random, limit: number): number {
  return random.between(0, limit - 1);
}

function oneOf<T>(random: Random, values: readonly T[]): T {
  return values[below(random, values.length)] as T;
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function campaignOf(random: Random): object {
  const acts = ACT_NAMES.filter(() => below(random, 3) === 0);
  const from = NOW + (below(random, 6) - 3) * DAY;
  const on =
    below(random, 2) === 0
      ? { category: CATEGORIES.filter((_, at) => at === 0 || below(random, 2) === 0) }
      : { query: QUERIES.filter((_, at) => at === 0 || below(random, 2) === 0), match: 'contains' };
  return {
    ...(below(random, 2) === 0 ? { from: dayOf(from), until: dayOf(from + below(random, 4) * DAY) } : {}),
    ...(below(random, 6) === 0 ? {} : { on }),
    ...Object.fromEntries(
      [...new Set([...acts, oneOf(random, ACT_NAMES)])].map((name) => [name, ACTS[name](random)]),
    ),
  };
}

function requestOf(random: Random): object {
  const candidates = PRODUCTS.filter(() => below(random, 2) === 0).map((product_id) => ({
    product_id,
    found: below(random, 1000) / 10,
  }));
  return {
    request_id: `r${below(random, 1_000_000)}`,
    candidates: candidates.length === 0 ? [{ product_id: 'p0', found: 1 }] : candidates,
    ...(below(random, 2) === 0 ? { category: oneOf(random, CATEGORIES) } : {}),
    ...(below(random, 2) === 0 ? { query: { query: oneOf(random, QUERIES) } } : {}),
    ...(below(random, 4) === 0 ? { user_page: 1, user_page_size: 5 } : {}),
  };
}

interface Reply {
  readonly status: number;
  readonly text: string;
}

async function post(url: string, body: object): Promise<Reply> {
  const headers = { 'content-type': 'application/json' };
  for (;;) {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    // Other work on the machine may delay a request.
    if (!/"(?:overloaded|deadline_exceeded)"/.test(text)) return { status: response.status, text };
    await pause(50);
  }
}

interface Seen {
  drafts: number;
  refused: number;
  requests: number;
  changed: number;
  different: number;
  undoneWrong: number;
  recorded: number;
}

/** Random drafts: each request is previewed, served after publishing, and served after the undo. */
async function previews(requests: number): Promise<Seen> {
  const random = new Random(7);
  const seen: Seen = {
    drafts: 0,
    refused: 0,
    requests: 0,
    changed: 0,
    different: 0,
    undoneWrong: 0,
    recorded: 0,
  };
  const root = await writeProject(FILES);
  const clock = { now: NOW };
  const { ledger, bytes } = memoryLedger();
  const env = {
    LOG_LEVEL: 'silent',
    MILLRACE_EXPLORE_SALT: 'a secret of the proof',
    MILLRACE_QUEUE_MS: '30000',
  };
  const app = await createApp(loadSettings(env, { project: root }), {
    logger: pino({ level: 'silent' }),
    store: new MemoryStore(),
    clock: () => clock.now,
    ledger,
  });
  const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${server.port}`;
  const curation = (path: string, body: object): Promise<Reply> =>
    post(`${url}/api/v1/curation/${path}`, { list: 'campaigns', ...body });
  const serveAll = async (bodies: readonly object[], query = ''): Promise<string[]> => {
    const texts: string[] = [];
    for (const body of bodies) texts.push((await post(`${url}/api/v1/search${query}`, body)).text);
    return texts;
  };
  const served = async (): Promise<readonly number[]> => [await bytes(), effects()];
  try {
    const entities = [...PRODUCTS, ...Array.from({ length: 20 }, (_, at) => `s${at}`)].map(
      (product_id, at) => ({
        ...{ product_id, brand: `b${at % 4}`, price: (at * 13) % 97, stock: at % 11 },
      }),
    );
    await post(`${url}/api/v1/entities/upload`, { entity_type: 'product', entities });
    while (seen.requests < requests) {
      clock.now = NOW;
      const draft = `d${seen.drafts + seen.refused}`;
      const names = ['one', 'two', 'three', 'four'].filter(() => below(random, 2) === 0);
      const campaigns = Object.fromEntries(
        (names.length === 0 ? ['one'] : names).map((name) => [
          name,
          below(random, 5) === 0 ? null : campaignOf(random),
        ]),
      );
      const saved = await curation('draft/put', { draft, campaigns });
      const bodies = Array.from({ length: REQUESTS_PER_DRAFT }, () => requestOf(random));
      const at = NOW + below(random, 5 * DAY) - 2 * DAY;
      const before = (await curation('get', {})).text;
      const atFirst = await serveAll(bodies);
      const counted = await served();
      const query = `?draft=${draft}&at=${at}`;
      const previewed = saved.status === 200 ? await serveAll(bodies, query) : [];
      if (JSON.stringify(await served()) !== JSON.stringify(counted)) seen.recorded++;
      const published = await curation('publish', { draft });
      const { publish } = JSON.parse(published.text) as { publish?: string | null };
      if (published.status !== 200 || typeof publish !== 'string') {
        // Rules that contradict others, or that change nothing, are refused in a preview and in a publish alike.
        seen.refused++;
        // A list keeps a bounded number of drafts.
        await curation('draft/discard', { draft });
        continue;
      }
      seen.drafts++;
      if (seen.drafts % 50 === 0) console.log(`    ${seen.requests} requests of ${seen.drafts} drafts`);
      clock.now = at;
      const after = await serveAll(bodies);
      clock.now = NOW;
      await curation('undo', { publish });
      const undone = await serveAll(bodies);
      const restored = (await curation('get', {})).text;
      if (withoutVersion(restored) !== withoutVersion(before)) seen.undoneWrong++;
      for (const [index, text] of after.entries()) {
        seen.requests++;
        if (previewed[index] !== text) seen.different++;
        if (atFirst[index] !== text) seen.changed++;
        if (undone[index] !== atFirst[index]) seen.undoneWrong++;
      }
      // Every other draft stays, so that the next one meets it.
      if (below(random, 2) === 0 && seen.drafts % 8 !== 0) {
        await curation('draft/put', { draft, campaigns, rebase: true });
        await curation('publish', { draft });
      }
    }
    return seen;
  } finally {
    await server.close(0);
    await app.close();
  }
}

const effects = (): number => (globalThis as { effectsOfDrafts?: number }).effectsOfDrafts ?? 0;

const withoutVersion = (text: string): string => text.replace(/"version":"[^"]*"/, '');

interface Edited {
  published: number;
  torn: number;
  lost: number;
  reads: number;
  kills: number;
}

/** Two editors publish on two instances, while the store is killed and comes back. Each draft has two campaigns. */
async function editors(edits: number, kills: number): Promise<Edited> {
  const seen: Edited = { published: 0, torn: 0, lost: 0, reads: 0, kills: 0 };
  const redis = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
  const root = await writeProject(FILES);
  const env = {
    LOG_LEVEL: 'silent',
    REDIS_URL: redis.url,
    MILLRACE_STORE: 'redis',
    MILLRACE_PREFIX: `p${randomUUID().slice(0, 8)}`,
    MILLRACE_RELOAD_POLL_MS: '50',
    MILLRACE_EXPLORE_SALT: 'a secret of the proof',
  };
  const started = await Promise.all(
    [0, 1].map(async () => {
      const app = await createApp(loadSettings(env, { project: root }), {
        logger: pino({ level: 'silent' }),
      });
      return { app, server: await listen(app.http(), { host: '127.0.0.1', port: 0 }) };
    }),
  );
  const curation = (instance: number, path: string, body: object): Promise<Reply> =>
    post(`http://127.0.0.1:${started[instance]?.server.port ?? 0}/api/v1/curation/${path}`, {
      list: 'campaigns',
      ...body,
    });
  /** Sends it again until it is answered. */
  const insist = async (instance: number, path: string, body: object): Promise<Reply> => {
    for (;;) {
      const reply = await curation(instance, path, body);
      if (reply.status < 500 && reply.status !== 409) return reply;
      await pause(20);
    }
  };
  const running = { edits: 2, acknowledged: new Map<string, number>() };
  const edit = async (instance: number): Promise<void> => {
    for (let number = 1; number <= edits; number++) {
      const names = ['x', 'y'].map((half) => `${half}${instance}_${number % 5}`);
      const campaigns = Object.fromEntries(
        names.map((name) => [name, { note: String(number), hide: [`n${number}`] }]),
      );
      const draft = `d${instance}`;
      await insist(instance, 'draft/put', { draft, campaigns });
      const { status } = await insist(instance, 'publish', { draft });
      // 404: a publish whose answer was lost had removed the draft.
      if (status === 200 || status === 404) {
        seen.published++;
        for (const name of names) running.acknowledged.set(name, number);
      }
    }
    running.edits--;
  };
  const read = async (): Promise<Record<string, { note: string }> | undefined> => {
    const { status, text } = await curation(seen.reads % 2, 'get', {});
    return status === 200
      ? (JSON.parse(text) as { campaigns: Record<string, { note: string }> }).campaigns
      : undefined;
  };
  const watch = async (): Promise<void> => {
    while (running.edits > 0) {
      const campaigns = await read();
      if (campaigns !== undefined) {
        seen.reads++;
        for (const [name, { note }] of Object.entries(campaigns))
          if (campaigns[name.replace(/^x/, 'y')]?.note !== note && name.startsWith('x')) seen.torn++;
      }
      await pause(2);
    }
  };
  const kill = async (): Promise<void> => {
    while (running.edits > 0 && seen.kills < kills) {
      await pause(600);
      await redis.stop();
      seen.kills++;
      await pause(100);
      await redis.start();
    }
  };
  try {
    await Promise.all([edit(0), edit(1), watch(), kill()]);
    let campaigns = await read();
    while (campaigns === undefined) {
      await pause(50);
      campaigns = await read();
    }
    for (const [name, number] of running.acknowledged)
      if (campaigns[name]?.note !== String(number)) seen.lost++;
    return seen;
  } finally {
    for (const { app, server } of started) {
      await server.close(0);
      await app.close();
    }
    await redis.remove();
  }
}

export const drafts: Proof = {
  name: 'drafts',
  page: 'campaigns.md',
  summary:
    'previews of drafts against what is served after publishing, undo, two editors, a store that is killed',
  async run({ short }: ProofOptions): Promise<ProofResult> {
    const seen = await previews(short ? SHORT_REQUESTS : REQUESTS);
    const edited = await (short ? editors(SHORT_EDITS, 2) : editors(EDITS, 40));
    const rows = [
      ['random requests, previewed and served after publishing', seen.requests],
      ['random drafts, published and undone', seen.drafts],
      ['drafts that were refused, or changed nothing', seen.refused],
      ['requests of which the draft changes the answer', seen.changed],
      ['previews that differ from what is served, in any byte', seen.different],
      ['requests and lists that differ after the undo', seen.undoneWrong],
      ['drafts whose previews left a record or ran an effect', seen.recorded],
      ['publishes by two editors on two instances', edited.published],
      ['times that the store was killed meanwhile', edited.kills],
      ['reads of the list meanwhile', edited.reads],
      ['publishes of which a read saw a half', edited.torn],
      ['campaigns of acknowledged publishes that are lost', edited.lost],
    ] as const;
    const missed: string[] = [];
    for (const row of rows.slice(4, 7).concat(rows.slice(10)))
      if (row[1] > 0) missed.push(`${row[0]}: 0, found ${row[1]}`);
    for (const row of [rows[1], rows[3], rows[7], rows[8], rows[9]])
      if (row[1] === 0) missed.push(`${row[0]}: above 0, found 0`);
    const lines = rows.map(([what, count]) => `| ${what} | ${count.toLocaleString('en-US')} |`);
    return { markdown: ['| what was done | times |', '| --- | --: |', ...lines].join('\n'), missed };
  },
};
