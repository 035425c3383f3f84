import { mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { counterKey } from '../../../runtime/state/store/keys.js';
import { keySlot } from '../../../runtime/state/store/redis/cluster/key-slot.js';
import { writeProject } from '../../support/project.js';
import { startRedisCluster, type PrivateCluster } from '../../support/redis-cluster.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { untilItWorks } from '../../support/until.js';
import { brandOf, countedOf, FILES, Oracle, PRODUCTS, type Counted } from './shop.js';

export const WRITERS = 8;
export const READERS = 4;
export const PLACES = ['redis', 'embedded', 'cluster'] as const;

type Place = (typeof PLACES)[number];

export interface Figures {
  readonly place: Place;
  events: number;
  /** Clients that were killed while their request was in flight. */
  cut: number;
  /** Answers 5xx and 429. */
  refused: number;
  /** Requests whose connection failed, or that got no answer in time. */
  unreachable: number;
  killedServices: number;
  killedServers: number;
  movedSlots: number;
  rankings: number;
  /** By how much counts are too low and too high at the end, and how often a count decreased. */
  lost: number;
  twice: number;
  backwards: number;
}

/** Redis confirms a write when it is on the disk. */
const DURABLE = ['--appendonly', 'yes', '--appendfsync', 'always'];

/** A killed service or server stays away for at least this long, so that requests meet the outage. */
const AWAY = 300;

/** The default of MILLRACE_COUNTER_LEASE_MS. */
const COUNTER_LEASE = 1000;

/** How much longer a run may take until each kind of fault has happened, in milliseconds. */
const PATIENCE = 60_000;

/** Counts under faults for a while, and compares the counts with an oracle afterwards. */
export async function torture(place: Place, forMs: number): Promise<Figures> {
  const root = await writeProject(FILES);
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-counters-'));
  const redis = place === 'redis' ? await startRedisServer(DURABLE) : undefined;
  const shape = { masters: 3, replicas: false, nodeTimeout: 2000, args: DURABLE };
  const cluster = place === 'cluster' ? await startRedisCluster(shape) : undefined;
  const env: Record<string, string> = {
    ...{ LOG_LEVEL: 'info', MILLRACE_LAME_DUCK_MS: '0', MILLRACE_DATA_DIR: dataDir },
    MILLRACE_STORE: place === 'embedded' ? 'embedded' : 'redis',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    ...(cluster === undefined ? {} : { REDIS_CLUSTER: `127.0.0.1:${cluster.addresses[0]?.port ?? 0}` }),
  };
  const start = (): Promise<ServiceProcess> => startProcess(['--project', root, '--port', '0'], env);
  const run = new Run(place, start, redis, cluster);
  try {
    for (let i = 0; i < (place === 'embedded' ? 1 : 2); i++) run.services.push(await start());
    await run.load();
    await run.goOn(forMs);
    await run.compare();
    return run.figures;
  } finally {
    for (const { child } of run.services) child.kill('SIGKILL');
    await redis?.remove();
    await cluster?.remove();
    for (const folder of [root, dataDir]) await rm(folder, { recursive: true, force: true });
  }
}

class Run {
  readonly figures: Figures;
  /** Several on one store, except for the embedded store. A killed one is replaced. */
  readonly services: ServiceProcess[] = [];
  readonly #oracle = new Oracle();
  #acknowledged = 0;
  /** Bodies that were acknowledged before the last service or server was killed. */
  #acknowledgedAtKill = 0;
  readonly #end = new AbortController();
  /** The masters of the store. A killed one starts again with its files. */
  readonly #servers: readonly PrivateRedis[];

  constructor(
    place: Place,
    readonly start: () => Promise<ServiceProcess>,
    redis: PrivateRedis | undefined,
    readonly cluster: PrivateCluster | undefined,
  ) {
    this.#servers = redis === undefined ? (cluster?.servers ?? []) : [redis];
    this.figures = {
      ...{ place, events: 0, cut: 0, refused: 0, unreachable: 0, killedServices: 0, killedServers: 0 },
      ...{ movedSlots: 0, rankings: 0, lost: 0, twice: 0, backwards: 0 },
    };
  }

  async load(): Promise<void> {
    const entities = PRODUCTS.map((product_id) => ({ product_id, brand: brandOf(product_id) }));
    const answer = await post(this.#url(0), '/api/v1/entities/upload', { entity_type: 'product', entities });
    if (!answer.ok) throw new Error(`the upload failed with ${answer.status}`);
  }

  async goOn(forMs: number): Promise<void> {
    const work = [
      ...Array.from({ length: WRITERS }, (_, w) => this.#write(w)),
      ...Array.from({ length: READERS }, (_, r) => this.#read(r)),
      this.#kill(forMs),
      this.#move(),
    ];
    const began = Date.now();
    const isEnough = (): boolean => Date.now() - began > forMs && this.#hasMetFaults();
    const waiting = (async () => {
      while (!isEnough() && Date.now() - began < 2 * forMs + PATIENCE) await pause(20);
    })();
    await Promise.race([waiting, Promise.all(work)]);
    this.#end.abort();
    await Promise.all(work);
  }

  /** Whether every kind of fault of this store has happened, and feedback was acknowledged afterwards. */
  #hasMetFaults(): boolean {
    const { cut, refused, unreachable, killedServices, killedServers, movedSlots } = this.figures;
    return (
      cut > 0 &&
      refused + unreachable > 0 &&
      killedServices > 1 &&
      (this.#servers.length === 0 || (killedServers > 1 && refused > 0)) &&
      (this.cluster === undefined || movedSlots > 0) &&
      this.#acknowledged > this.#acknowledgedAtKill
    );
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#isOver(); n++) {
      const events = Array.from({ length: 1 + (n % 20) }, (_, i) => ({
        type: 'click',
        event_id: `${writer}-${n}-${i}`,
        product: { product_id: PRODUCTS[(n * 7 + i * writer) % PRODUCTS.length] ?? '' },
        quantity: 1 + (i % 3),
        time: Date.now(),
      }));
      const body = { user: { user_id: `u${writer}` }, events };
      // A client that is killed sends its body again when it is back.
      const isKilled = n % 5 === 0;
      for (let tries = 0; ; tries++) {
        if (
          await this.#isAcknowledged(writer + tries, body, tries === 0 && isKilled ? 1 + (n % 7) : undefined)
        )
          break;
        await pause(20 + 10 * Math.min(tries, 10));
      }
      this.#acknowledged++;
      for (const { product, quantity } of events) this.#oracle.add(product.product_id, quantity);
      this.figures.events += events.length;
    }
  }

  /** @param cutAfter kills the client after so many milliseconds */
  async #isAcknowledged(service: number, body: object, cutAfter: number | undefined): Promise<boolean> {
    const limit = AbortSignal.timeout(cutAfter ?? 8000);
    try {
      const answer = await post(this.#url(service), '/api/v1/feedback', body, limit);
      const text = await answer.text();
      if (answer.ok) return true;
      if (answer.status < 500 && answer.status !== 429) throw new Refused(`${answer.status}: ${text}`);
      this.figures.refused++;
    } catch (error) {
      if (error instanceof Refused) throw error;
      if (cutAfter !== undefined && limit.aborted) this.figures.cut++;
      else this.figures.unreachable++;
    }
    return false;
  }

  async #read(reader: number): Promise<void> {
    let before = new Map<string, Counted>();
    while (!this.#isOver()) {
      const counts = await rank(this.#url(reader)).catch(() => undefined);
      if (counts !== undefined) {
        this.figures.rankings++;
        for (const [id, now] of counts) {
          const was = before.get(id) ?? { clicks: 0, items: 0, clicksOfBrand: 0 };
          if (now.clicks < was.clicks || now.items < was.items || now.clicksOfBrand < was.clicksOfBrand)
            this.figures.backwards++;
        }
        before = counts;
      }
      await pause(10);
    }
  }

  /** Kills a server and a service in turn. The next one is killed when feedback was acknowledged again. */
  async #kill(forMs: number): Promise<void> {
    for (let n = 0; !this.#isOver(); n++) {
      const enough = this.#acknowledged + 4 * WRITERS;
      const next = Date.now() + forMs / 10;
      while (!this.#isOver() && (this.#acknowledged < enough || Date.now() < next)) await pause(20);
      if (this.#isOver()) return;
      this.#acknowledgedAtKill = this.#acknowledged;
      const server = this.#servers[(n / 2) % this.#servers.length];
      if (server !== undefined) {
        await server.stop();
        await pause(AWAY);
        await server.start();
        this.figures.killedServers++;
        continue;
      }
      const at = n % this.services.length;
      this.services[at]?.child.kill('SIGKILL');
      await this.services[at]?.ended;
      await pause(AWAY);
      this.services[at] = await this.start();
      this.figures.killedServices++;
    }
  }

  /**
   * Moves the slots of all counters from server to server, with their keys, again and again. Servers are killed meanwhile,
   * also those between which a slot moves.
   */
  async #move(): Promise<void> {
    if (this.cluster === undefined) return;
    const keys = [
      ...PRODUCTS.map((id) => counterKey('millrace', ['product'], [id])),
      ...new Set(PRODUCTS.map((id) => counterKey('millrace', ['brand'], [brandOf(id)]))),
      counterKey('millrace', [], []),
    ];
    const owners = new Map(keys.map((key) => [keySlot(key), Math.floor((keySlot(key) * 3) / 16_384)]));
    while (!this.#isOver())
      for (const [slot, from] of owners) {
        if (this.#isOver()) return;
        const to = (from + 1) % 3;
        await this.cluster.migrate(slot, from, to, () => pause(20));
        owners.set(slot, to);
        this.figures.movedSlots++;
      }
  }

  /**
   * Compares when nothing is killed any more, and when no counter is cached that another service has changed. The store may
   * have just come back, so refused rankings are sent again.
   */
  async compare(): Promise<void> {
    await pause(2 * COUNTER_LEASE);
    for (const [i] of this.services.entries()) {
      const counts = await untilItWorks(() => rank(this.#url(i)));
      for (const id of PRODUCTS) {
        const [found, expected] = [counts.get(id), this.#oracle.of(id)];
        for (const name of ['clicks', 'items', 'clicksOfBrand'] as const) {
          const difference = (found?.[name] ?? 0) - expected[name];
          if (difference < 0) this.figures.lost -= difference;
          else this.figures.twice += difference;
        }
      }
    }
  }

  #isOver(): boolean {
    return this.#end.signal.aborted;
  }

  #url(number: number): string {
    return this.services[number % this.services.length]?.url ?? '';
  }
}

class Refused extends Error {}

function post(url: string, path: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The counts of all products. */
async function rank(url: string): Promise<Map<string, Counted>> {
  const body = {
    candidates: PRODUCTS.map((product_id) => ({ product_id })),
    user_page_size: PRODUCTS.length,
  };
  const answer = await post(url, '/api/v1/ranking', body, AbortSignal.timeout(8000));
  if (!answer.ok) throw new Error(`the ranking failed with ${answer.status}`);
  const { ranked_candidates: ranked } = (await answer.json()) as {
    readonly ranked_candidates: readonly { readonly candidate_id: string; readonly ranked_score: number }[];
  };
  return new Map(ranked.map((one) => [one.candidate_id, countedOf(one.ranked_score)]));
}
