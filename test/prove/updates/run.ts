import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { randomNumbers } from '../../support/random-ensemble.js';
import { writeProject } from '../../support/project.js';
import { startRedisCluster } from '../../support/redis-cluster.js';
import { startRedisServer } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import { difference, ownedBy, type State, type Write } from './model.js';

export const PLACES = ['redis', 'cluster', 'embedded'] as const;
export type Place = (typeof PLACES)[number];

export const INSTANCES = 3;
export const CLIENTS = 24;
/** The clients that write one entity at once. */
export const CROWD = 200;
/** Entities: a few that all clients write, and others. */
const [HOT, ALL] = [4, 150];
/** How long an instance may take to hear of the last write, in milliseconds. */
const HEARD_WITHIN = 10_000;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nattributes:\n  price: float\n  a0: int\n  kept: string\n',
  'pipelines/prices.yaml':
    'pipeline: prices\nrank: product\ncomponents:\n  - use: score\n    with: { value: "coalesce(product.price, -1)" }\n' +
    'page: { size: 1000, max_size: 1000 }\n',
};

export interface Figures {
  readonly place: Place;
  readonly services: number;
  uploads: number;
  updates: number;
  deletions: number;
  /** Updates of entities that the index did not have, and those that created one. */
  unknown: number;
  created: number;
  /** Answers 503 and 429, after which the same body was sent again. */
  again: number;
  rankings: number;
  /** Entities whose final state the model does not explain, and the first reasons. */
  differences: number;
  readonly reasons: string[];
  /** Scores that do not fit the final state, by instance and entity. */
  stale: number;
  /** Of the crowd: acknowledged updates of one entity, and how many of them are missing. */
  crowd: number;
  lost: number;
}

/** Writes entities from many clients at once, and compares the final states with the model. */
export async function writeConcurrently(place: Place, writes: number, rounds: number): Promise<Figures> {
  const root = await writeProject(FILES);
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-updates-'));
  const redis = place === 'redis' ? await startRedisServer() : undefined;
  const shape = { masters: 3, replicas: false, nodeTimeout: 5000 };
  const cluster = place === 'cluster' ? await startRedisCluster(shape) : undefined;
  const env: Record<string, string> = {
    ...{ LOG_LEVEL: 'info', MILLRACE_DATA_DIR: dataDir },
    MILLRACE_STORE: place === 'embedded' ? 'embedded' : 'redis',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    ...(cluster === undefined ? {} : { REDIS_CLUSTER: `127.0.0.1:${cluster.addresses[0]?.port ?? 0}` }),
  };
  const services: ServiceProcess[] = [];
  try {
    // One process owns an embedded store, so there the clients share it.
    while (services.length < (place === 'embedded' ? 1 : INSTANCES))
      services.push(await startProcess(['--project', root, '--port', '0'], env));
    const run = new Run(place, services);
    await run.write(writes);
    await run.crowd(rounds);
    await run.compare();
    await run.close();
    return run.figures;
  } finally {
    for (const { child } of services) child.kill('SIGKILL');
    await redis?.remove();
    await cluster?.remove();
    for (const folder of [root, dataDir]) await rm(folder, { recursive: true, force: true });
  }
}

type Json = Record<string, unknown>;

class Run {
  readonly figures: Figures;
  readonly #pools: readonly Pool[];
  readonly #writes = new Map<string, Write[]>();
  #started = 0;
  #isOver = false;

  constructor(place: Place, services: readonly ServiceProcess[]) {
    this.#pools = services.map(({ url }) => new Pool(url, { connections: CROWD }));
    this.figures = {
      ...{ place, services: services.length, uploads: 0, updates: 0, deletions: 0, unknown: 0, created: 0 },
      ...{ again: 0, rankings: 0, differences: 0, reasons: [], stale: 0, crowd: 0, lost: 0 },
    };
  }

  async write(writes: number): Promise<void> {
    await Promise.all(Array.from({ length: ALL }, (_, i) => this.#upload(CLIENTS, [`p${i}`], 0)));
    const readers = this.#pools.map((_, instance) => this.#read(instance));
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => this.#client(client, writes)));
    this.#isOver = true;
    await Promise.all(readers);
  }

  async #client(client: number, writes: number): Promise<void> {
    const next = randomNumbers(client + 1);
    const some = (): string => `p${Math.floor(next() < 0.3 ? next() * HOT : next() * ALL)}`;
    for (let number = 1; this.#started < writes; number++) {
      const kind = next();
      const several = (most: number): string[] => [
        ...new Set(Array.from({ length: 1 + Math.floor(next() * most) }, some)),
      ];
      if (kind < 0.15) await this.#upload(client, several(8), number);
      else if (kind < 0.25) await this.#remove(client, several(3));
      else if (kind < 0.4) await this.#update(client, [some()], number, true);
      else await this.#update(client, several(8), number, false);
    }
  }

  async #upload(client: number, ids: readonly string[], number: number): Promise<void> {
    const attributes = { ...priceOf(client, number), [`kept${client}`]: number };
    const entities = ids.map((product_id) => ({ product_id, ...attributes }));
    await this.#note(client, ids, attributes, () => this.#post(client, 'upload', { entities }));
    this.figures.uploads += ids.length;
  }

  async #remove(client: number, ids: readonly string[]): Promise<void> {
    await this.#note(client, ids, undefined, () => this.#post(client, 'delete', { entity_ids: ids }));
    this.figures.deletions += ids.length;
  }

  async #update(client: number, ids: readonly string[], number: number, create: boolean): Promise<void> {
    const [a, b] = ownedBy(client);
    const value = number % 5 === 0 ? null : number;
    const attributes = { ...priceOf(client, number), [a]: value, [b]: value };
    const entities = ids.flatMap((product_id) => [
      // An id that is repeated is merged in order.
      ...(number % 3 === 0 ? [{ product_id, [a]: -1, price: 0 }] : []),
      { product_id, ...attributes },
    ]);
    const from = performance.now();
    const answer = await this.#post(client, 'update', { entities, ...(create ? { create } : {}) });
    const to = performance.now();
    const {
      entity_ids: stored,
      unknown_ids: unknown,
      created,
    } = answer as {
      readonly entity_ids: readonly string[];
      readonly unknown_ids: readonly string[];
      readonly created: number;
    };
    if (stored.length + unknown.length !== ids.length)
      throw new Error(`an answer lacks ids: ${JSON.stringify(answer)}`);
    const is = create && created > 0 ? 'whole' : 'merge';
    for (const id of stored) this.#add(id, { is, client, from, to, attributes });
    this.figures.updates += ids.length;
    this.figures.unknown += unknown.length;
    this.figures.created += created;
    this.#started += ids.length;
  }

  async #note(
    client: number,
    ids: readonly string[],
    attributes: Write['attributes'],
    write: () => Promise<unknown>,
  ): Promise<void> {
    const from = performance.now();
    await write();
    const to = performance.now();
    for (const id of ids) this.#add(id, { is: 'whole', client, from, to, attributes });
    this.#started += ids.length;
  }

  #add(id: string, write: Write): void {
    const known = this.#writes.get(id);
    if (known === undefined) this.#writes.set(id, [write]);
    else known.push(write);
  }

  /** Sends a body until it is taken. What was refused was not stored, or is stored again with the same content. */
  async #post(client: number, path: string, body: Json, type = 'product'): Promise<Json> {
    for (;;) {
      const { status, json } = await this.#send(client, `/api/v1/entities/${path}`, {
        entity_type: type,
        ...body,
      });
      if (status === 200) return json;
      if (status !== 503 && status !== 429) throw new Error(`${path}: ${status} ${JSON.stringify(json)}`);
      if (json['code'] !== 'overloaded') throw new Error(`${path}: ${JSON.stringify(json)}`);
      this.figures.again++;
      await pause(20 * Math.random());
    }
  }

  async #send(client: number, path: string, body: Json): Promise<{ status: number; json: Json }> {
    const pool = this.#pools[client % this.#pools.length] as Pool;
    const headers = { 'content-type': 'application/json' };
    const answer = await pool.request({ path, method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.statusCode, json: (await answer.body.json()) as Json };
  }

  /** Ranks while others write, so that the resident tables hold what the writes change. */
  async #read(instance: number): Promise<void> {
    while (!this.#isOver) {
      await this.#scores(instance);
      await pause(5);
    }
  }

  async #scores(instance: number): Promise<ReadonlyMap<string, number>> {
    const candidates = Array.from({ length: ALL }, (_, i) => ({ product_id: `p${i}` }));
    for (;;) {
      const { status, json } = await this.#send(instance, '/api/v1/prices', { candidates });
      if (status === 200) {
        this.figures.rankings++;
        const ranked = json['ranked_candidates'] as { candidate_id: string; ranked_score: number }[];
        return new Map(ranked.map(({ candidate_id, ranked_score }) => [candidate_id, ranked_score]));
      }
      await pause(20);
    }
  }

  /** Many clients update one entity at once, each an attribute of its own. */
  async crowd(rounds: number): Promise<void> {
    await this.#post(0, 'upload', { entities: [{ product_id: 'crowd', kept: 'yes' }] });
    for (let round = 1; round <= rounds; round++)
      await Promise.all(
        Array.from({ length: CROWD }, async (_, i) => {
          await this.#post(i, 'update', {
            entities: [{ product_id: 'crowd', [`w${i}_${round % 2}`]: round }],
          });
          this.figures.crowd++;
        }),
      );
    const found = (await this.#states(['crowd'])).get('crowd');
    for (let i = 0; i < CROWD; i++)
      for (let round = Math.max(1, rounds - 1); round <= rounds; round++)
        if (found?.[`w${i}_${round % 2}`] !== round) this.figures.lost++;
    if (found?.['kept'] !== 'yes') this.figures.lost++;
  }

  async compare(): Promise<void> {
    const ids = [...this.#writes.keys()];
    const states = await this.#states(ids);
    for (const id of ids) {
      const reason = difference(this.#writes.get(id) ?? [], states.get(id), CLIENTS);
      if (reason === undefined) continue;
      this.figures.differences++;
      if (this.figures.reasons.length < 5) this.figures.reasons.push(`${id}: ${reason}`);
    }
    for (const instance of this.#pools.keys()) {
      let stale = 0;
      await until(
        'an instance that heard of all writes',
        async () => {
          const scores = await this.#scores(instance);
          stale = ids.filter((id) => scores.get(id) !== (states.get(id)?.['price'] ?? -1)).length;
          return stale === 0;
        },
        HEARD_WITHIN,
      ).catch(() => (this.figures.stale += stale));
    }
  }

  async #states(ids: readonly string[]): Promise<ReadonlyMap<string, State>> {
    const { json } = await this.#send(0, '/api/v1/entities/get', { entity_type: 'product', entity_ids: ids });
    const entities = json['entities'] as Record<string, Json | null>;
    return new Map(ids.map((id) => [id, entities[id] ?? undefined]));
  }

  async close(): Promise<void> {
    for (const pool of this.#pools) await pool.close();
  }
}

/** A price that only this write has. */
const priceOf = (client: number, number: number): { readonly price: number } => ({
  price: number * (CLIENTS + 1) + client + 1,
});
