import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { writeProject } from '../../support/project.js';
import { freePort, startRedisServer } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { until } from '../../support/until.js';
import type { ShopServer } from './servers.js';
import { clickFiles, drawEvents, segmentCall, type ShopEvent } from './shop.js';
import { BIN } from '../../support/repository.js';

/** A history keeps the newest 1,000 events of a kind. At most one message is added each millisecond. */
const MOST_OF_USER = 500;
const ITEMS = 40;
/** Messages of one addition, and the pause after it. */
const AT_ONCE = 10;
const PAUSE_MS = 10;

export interface KillFigures {
  messages: number;
  /** Messages that were added again, because Redis had not acknowledged them. */
  added_again: number;
  kills: { consumer: number; stream: number; service: number };
  /** Counts that differ from the oracle: too low, and too high. */
  lost: number;
  double: number;
  rejected: number;
}

/** Kills the consumer, the service and the server of the stream in turn, and compares all counts with an oracle. */
export async function measureKills(
  store: 'redis' | 'embedded',
  server: ShopServer,
  forMs: number,
): Promise<KillFigures> {
  const users = Math.ceil(forMs / MOST_OF_USER);
  const figures: KillFigures = {
    ...{ messages: 0, added_again: 0, lost: 0, double: 0, rejected: 0 },
    kills: { consumer: 0, stream: 0, service: 0 },
  };
  const durable = ['--appendonly', 'yes', '--appendfsync', 'always'];
  const redis = store === 'redis' ? await startRedisServer(durable) : undefined;
  const root = await writeProject(clickFiles(server.yaml));
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-sources-'));
  const port = String(await freePort());
  const env = {
    MILLRACE_STORE: store,
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_LAME_DUCK_MS: '0',
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
  };
  const serve = (): Promise<ServiceProcess> => startProcess(['--project', root, '--port', port], env);
  let service = await serve();
  // Only one process opens an embedded store, so the consumer beside it sends to the service.
  const to = store === 'embedded' ? ['--url', service.url] : [];
  const consume = (): ChildProcess =>
    spawn(process.execPath, [BIN, 'consume', 'web', '--project', root, ...to], {
      env: { PATH: process.env.PATH, ...env },
      stdio: 'ignore',
    });
  let consumer = consume();
  const oracle = new Oracle();
  const state = { isOver: false };
  try {
    const produce = async (): Promise<void> => {
      const draw = drawEvents(9, users, ITEMS);
      while (!state.isOver) {
        const events = Array.from({ length: AT_ONCE }, draw);
        const calls = events.map((event, i) => segmentCall(`m${figures.messages + i}`, event));
        while (
          !(await server.add(calls).then(
            () => true,
            () => false,
          ))
        ) {
          figures.added_again += AT_ONCE;
          await pause(50);
        }
        for (const event of events) oracle.add(event);
        figures.messages += AT_ONCE;
        await pause(PAUSE_MS);
      }
    };
    const kill = async (): Promise<void> => {
      for (let n = 0; !state.isOver; n++) {
        await pause(server.pauseMs * (0.5 + Math.random()));
        if (n % 3 === 0) {
          consumer.kill('SIGKILL');
          await gone(consumer);
          consumer = consume();
          figures.kills.consumer++;
        } else if (n % 3 === 1) {
          await server.kill();
          await pause(100);
          await server.start();
          figures.kills.stream++;
        } else {
          service.child.kill('SIGKILL');
          await service.ended;
          service = await serve();
          // It ends if it finds no service at its start; an orchestrator starts it again.
          if (consumer.exitCode !== null) consumer = consume();
          figures.kills.service++;
        }
      }
    };
    const working = [produce(), kill()];
    await pause(forMs);
    state.isOver = true;
    await Promise.all(working);
    if (consumer.exitCode !== null) consumer = consume();
    await until('all messages to be settled', () => server.isSettled().catch(() => false), 180_000);
    figures.rejected = await server.rejected();
    await compare(service.url, users, oracle, figures);
    return figures;
  } finally {
    consumer.kill('SIGKILL');
    service.child.kill('SIGKILL');
    await Promise.all([gone(consumer), service.ended]);
    await redis?.remove();
    for (const folder of [root, dataDir]) await rm(folder, { recursive: true, force: true });
  }
}

async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** What clicks and orders add up to: `clicks + 10000 × sold`, as the pipelines score. */
class Oracle {
  readonly #scores = new Map<string, number>();

  add({ user, clicked, sold = [] }: ShopEvent): void {
    if (clicked !== undefined) this.#put(user, clicked, 1);
    for (const { product_id: id, quantity } of sold) this.#put(user, id, 10_000 * quantity);
  }

  /** @param user undefined: of all users */
  of(user: string | undefined, item: string): number {
    return this.#scores.get(`${user ?? ''} ${item}`) ?? 0;
  }

  #put(user: string, item: string, score: number): void {
    for (const owner of [user, ''])
      this.#scores.set(`${owner} ${item}`, (this.#scores.get(`${owner} ${item}`) ?? 0) + score);
  }
}

/** Compares the histories of all users, and the counters of all items. */
async function compare(url: string, users: number, oracle: Oracle, figures: KillFigures): Promise<void> {
  const names = Array.from({ length: users }, (_, i) => `u${i}`);
  for (const user of [undefined, ...names])
    for (const [item, score] of await scoresOf(url, user)) {
      const expected = oracle.of(user, item);
      if (score < expected) figures.lost++;
      if (score > expected) figures.double++;
    }
}

async function scoresOf(url: string, user: string | undefined): Promise<Map<string, number>> {
  const candidates = Array.from({ length: ITEMS }, (_, i) => ({ item_id: `i${i}` }));
  const body = {
    ...(user === undefined ? {} : { user: { user_id: user } }),
    candidates,
    user_page_size: ITEMS,
  };
  const answer = await fetch(`${url}/api/v1/${user === undefined ? 'of_all' : 'of_users'}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`the ranking failed: ${await answer.text()}`);
  const { ranked_candidates: ranked } = (await answer.json()) as {
    readonly ranked_candidates: readonly { readonly candidate_id: string; readonly ranked_score: number }[];
  };
  return new Map(ranked.map((one) => [one.candidate_id, one.ranked_score]));
}
