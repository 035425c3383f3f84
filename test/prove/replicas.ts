import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import type { ApiKey } from '../../runtime/serve/access/api-key.js';
import { SCOPE_NAMES } from '../../runtime/serve/access/scopes.js';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { newTally, postBytes, runClient } from '../support/counting-client.js';
import { writeProject } from '../support/project.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof, ProofResult } from './proof.js';
import { redisSource, segmentCall, ShopStream } from './sources/shop.js';
import { causesText } from './support/small-service.js';

const INSTANCES = 3;
const CLIENTS = 2;
const ITEMS = 30;
/** The bound for each change until all instances follow it. */
const MOST_MS = 2000;
/** The bound until the messages that a dead instance had read are counted by others: `claim_idle`, and its timeout. */
const MOST_CLAIM_MS = 15_000;

const FILES = {
  'millrace.yaml': 'project: replicas\n',
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float }\n',
  'schemas/counters/item_live.yaml':
    'counter: item_live\nof: [item]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
  'pipelines/ranked.yaml': `pipeline: ranked
rank: item
request: { user: optional(user) }
features: [item_live]
params: { sign: 1 }
components:
  - { use: score, with: { value: 'sign * item.price + 1000 * coalesce(item_live:clicks, 0)' } }
  - { use: curation, with: { list: campaigns } }
log: { share: 100% }
page: { size: ${ITEMS}, max_size: ${ITEMS} }
`,
  'experiments/turned.yaml': `experiment: turned
pipeline: ranked
unit: user
arms: { control: { weight: 1 }, turned: { weight: 1, params: { sign: -1 } } }
`,
};

const items = Array.from({ length: ITEMS }, (_, n) => ({ item_id: `i${n}`, price: n }));
const candidates = items.map(({ item_id }) => ({ item_id }));

/** What instances share, and how each of them shows that it follows a change. */
interface Shared {
  readonly what: string;
  /** Makes the change of a round at one instance. */
  readonly change: (fleet: Fleet, round: number) => Promise<void>;
  readonly isFollowed: (fleet: Fleet, instance: number, round: number) => Promise<boolean>;
}

const SHARED: readonly Shared[] = [
  {
    what: 'an entity that was uploaded',
    change: (fleet, round) =>
      fleet.post(0, '/api/v1/entities/upload', {
        entity_type: 'item',
        entities: [{ item_id: 'i3', price: 500 + round }],
      }),
    isFollowed: async (fleet, at, round) => (await fleet.scoreOf(at, 'i3')) === 500 + round,
  },
  {
    what: 'a rule of curation',
    change: (fleet, round) =>
      fleet.post(1, '/api/v1/curation/put', { list: 'campaigns', rules: [{ pin: { 1: `i${10 + round}` } }] }),
    isFollowed: async (fleet, at, round) => (await fleet.rank(at))[0]?.candidate_id === `i${10 + round}`,
  },
  {
    what: 'a click in a counter',
    change: (fleet, round) =>
      fleet.post(2, '/api/v1/feedback', {
        request_id: `click-${round}`,
        user: null,
        events: [{ type: 'click', item: { item_id: 'i5' } }],
      }),
    isFollowed: async (fleet, at, round) => (await fleet.scoreOf(at, 'i5')) === 5 + 1000 * (round + 1),
  },
  {
    what: 'an experiment that was stopped, or resumed',
    change: (fleet, round) =>
      fleet.post(1, `/api/v1/experiments/${round % 2 === 0 ? 'stop' : 'resume'}`, { experiment: 'turned' }),
    isFollowed: async (fleet, at, round) =>
      (await fleet.answer(at, { user: { user_id: 'u1' } })).headers.has('millrace-experiment') ===
      (round % 2 !== 0),
  },
  {
    what: 'a key that was revoked',
    change: (fleet, round) => fleet.writeKeys(round),
    isFollowed: async (fleet, at, round) =>
      (await fleet.answer(at, {}, fleet.guest(round).text)).status === 401,
  },
];

/** Tries what docs/replicas.md says of three instances on a Redis Cluster. */
export const replicas: Proof = {
  name: 'replicas',
  page: 'replicas.md',
  summary:
    'three processes on a Redis Cluster under load: what each sees of the others, and kill -9 of each in turn',
  run: async ({ short }) => {
    const fleet = await Fleet.open();
    try {
      return await proveIn(fleet, short ? 1 : INSTANCES);
    } finally {
      await fleet.close();
    }
  },
};

async function proveIn(fleet: Fleet, rounds: number): Promise<ProofResult> {
  const times = new Map<string, number>();
  const missed: string[] = [];
  let sent = 0;
  for (let round = 0; round < rounds; round++) {
    for (const { what, change, isFollowed } of SHARED) {
      await change(fleet, round);
      const began = performance.now();
      await Promise.all(fleet.each((at) => until(`${what} at ${at}`, () => isFollowed(fleet, at, round))));
      longest(times, what, performance.now() - began);
    }
    // A consumer dies while it has messages that it did not acknowledge.
    sent += await fleet.addMessages(2000);
    await fleet.kill(round);
    const began = performance.now();
    await until('all messages, counted once', async () => {
      const found = await fleet.scoreOf((round + 1) % INSTANCES, 'i7');
      return found === 7 + 1000 * sent;
    });
    longest(times, CLAIMED, performance.now() - began);
    await fleet.start(round);
    for (const { what, isFollowed } of SHARED)
      if (!(await isFollowed(fleet, round, round)))
        missed.push(`${what}: the instance that was started again does not follow it`);
  }
  for (const [what, ms] of times) {
    const most = what === CLAIMED ? MOST_CLAIM_MS : MOST_MS;
    if (ms > most) missed.push(`${what}: ${most} ms, found ${Math.round(ms)}`);
  }
  return await resultOf(fleet, rounds, times, missed);
}

const CLAIMED = 'messages that a killed instance had read, counted by the others, each once';

function longest(times: Map<string, number>, what: string, ms: number): void {
  times.set(what, Math.max(ms, times.get(what) ?? 0));
}

async function resultOf(
  fleet: Fleet,
  rounds: number,
  times: ReadonlyMap<string, number>,
  missed: string[],
): Promise<ProofResult> {
  const { answered, failed, lost, causes } = await fleet.stopLoad();
  const { logged, instances } = await fleet.readLedger();
  // A killed process loses what it was answering: at most one request of each client.
  const mostLost = rounds * CLIENTS;
  if (failed > 0) missed.push(`answers other than 200: 0, found ${failed}`);
  if (lost > mostLost) missed.push(`lost requests: ${mostLost}, found ${lost} (${causesText(causes)})`);
  if (instances !== INSTANCES + rounds)
    missed.push(`writers in the ledger: ${INSTANCES + rounds}, found ${instances}`);
  const markdown = [
    `${INSTANCES} processes on a Redis Cluster of 3 masters, ${CLIENTS} clients each, ${rounds} rounds; each round kills another`,
    'instance with SIGKILL. The longest time until all instances that run follow a change:',
    '',
    '| change | seconds |',
    '| --- | ---: |',
    ...Array.from(times, ([what, ms]) => `| ${what} | ${(ms / 1000).toFixed(2)} |`),
    '',
    `${answered} answers, ${failed} of them not 200; ${lost} requests were in flight in a process that was killed. The ledgers`,
    `of ${instances} processes, read as one folder, have ${logged} rankings, each once.`,
  ].join('\n');
  return { markdown, missed };
}

interface Ranked {
  readonly candidate_id: string;
  readonly ranked_score: number;
}

interface TextKey {
  readonly key: ApiKey;
  readonly text: string;
}

class Fleet {
  readonly #services: ServiceProcess[] = [];
  readonly #stops: AbortController[] = [];
  readonly #loads: Promise<void>[] = [];
  readonly #tally = newTally();
  readonly #boss = newKey('boss');
  readonly #guests: TextKey[] = Array.from({ length: INSTANCES }, (_, n) => newKey(`guest${n}`));
  #messages = 0;

  private constructor(
    private readonly root: string,
    private readonly cluster: PrivateCluster,
    private readonly broker: PrivateRedis,
    private readonly stream: ShopStream,
  ) {}

  static async open(): Promise<Fleet> {
    const cluster = await startRedisCluster({ masters: 3, replicas: false });
    const broker = await startRedisServer();
    const stream = new ShopStream(broker.url);
    await stream.connect();
    const root = await writeProject({
      ...FILES,
      'sources/web.yaml': `source: web\ninto: feedback\nmap: segment\nabout: item\n${redisSource(broker.url)}`,
    });
    const fleet = new Fleet(root, cluster, broker, stream);
    await fleet.writeKeys(-1);
    for (let at = 0; at < INSTANCES; at++) await fleet.start(at);
    await fleet.post(0, '/api/v1/entities/upload', { entity_type: 'item', entities: items });
    return fleet;
  }

  each<T>(use: (instance: number) => T): T[] {
    return this.#services.map((_, at) => use(at));
  }

  async start(at: number): Promise<void> {
    const service = await startProcess(['--project', this.root, '--port', '0'], {
      REDIS_CLUSTER: this.cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(),
      MILLRACE_KEYS: join(this.root, 'keys.json'),
      MILLRACE_LEDGER_DIR: join(this.root, 'ledgers', String(at)),
      MILLRACE_MODEL_HOSTS: new URL(this.broker.url).host,
    });
    const stop = new AbortController();
    this.#services[at] = service;
    this.#stops[at] = stop;
    const request = postBytes('/api/v1/ranked', { candidates }, [`Authorization: Bearer ${this.#boss.text}`]);
    for (let client = 0; client < CLIENTS; client++)
      this.#loads.push(
        runClient({ port: service.port, request, thinkMs: () => 20, stop: stop.signal }, this.#tally),
      );
  }

  async kill(at: number): Promise<void> {
    this.#services[at]?.child.kill('SIGKILL');
    this.#stops[at]?.abort();
    await this.#services[at]?.ended;
  }

  guest(round: number): TextKey {
    return this.#guests[round] ?? this.#boss;
  }

  /** Writes the keys file. The guests up to one are revoked. */
  async writeKeys(revoked: number): Promise<void> {
    const guests = this.#guests.map(({ key }, n) => (n <= revoked ? { ...key, revoked: Date.now() } : key));
    await writeFile(join(this.root, 'keys.json'), keysText([this.#boss.key, ...guests]), { mode: 0o600 });
  }

  async answer(at: number, more: object = {}, key = this.#boss.text): Promise<Response> {
    return this.#send(at, '/api/v1/ranked', { candidates, ...more }, key);
  }

  async rank(at: number): Promise<readonly Ranked[]> {
    const answer = await this.answer(at);
    return ((await answer.json()) as { readonly ranked_candidates: readonly Ranked[] }).ranked_candidates;
  }

  async scoreOf(at: number, id: string): Promise<number | undefined> {
    return (await this.rank(at)).find(({ candidate_id }) => candidate_id === id)?.ranked_score;
  }

  async post(at: number, path: string, body: object): Promise<void> {
    const answer = await this.#send(at, path, body, this.#boss.text);
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }

  #send(at: number, path: string, body: object, key: string): Promise<Response> {
    return fetch((this.#services[at]?.url ?? '') + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  }

  /** Adds clicks on i7 to the stream that all instances consume. @returns how many */
  async addMessages(count: number): Promise<number> {
    const clicks = Array.from({ length: count }, () =>
      segmentCall(`m${this.#messages++}`, { user: 'u9', clicked: 'i7' }),
    );
    await this.stream.add(clicks);
    return count;
  }

  async stopLoad(): Promise<ReturnType<typeof newTally>> {
    for (const stop of this.#stops) stop.abort();
    await Promise.all(this.#loads);
    for (const { child, ended } of this.#services) {
      child.kill('SIGTERM');
      await ended;
    }
    return this.#tally;
  }

  /** Reads the ledgers of all instances as one folder. */
  async readLedger(): Promise<{ readonly logged: number; readonly instances: number }> {
    const instances = new Set<string>();
    const ids = new Set<string>();
    let rankings = 0;
    for await (const { kind, instance, sequence } of readRecords(join(this.root, 'ledgers'))) {
      if (kind !== 'ranking') continue;
      rankings += 1;
      instances.add(instance);
      ids.add(`${instance} ${sequence}`);
    }
    if (ids.size !== rankings) throw new Error(`${rankings - ids.size} rankings are in the ledgers twice`);
    return { logged: rankings, instances: instances.size };
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop.abort();
    for (const { child, ended } of this.#services) {
      child.kill('SIGKILL');
      await ended;
    }
    this.stream.close();
    await this.broker.remove();
    await this.cluster.remove();
    await rm(this.root, { recursive: true, force: true });
  }
}

function newKey(name: string): TextKey {
  const { id, text } = createKey();
  return { key: { id, name, hash: hashOfKey(text), scopes: SCOPE_NAMES, created: Date.now() }, text };
}
