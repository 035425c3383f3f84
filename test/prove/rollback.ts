import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { startInstance, type Instance } from '../formats/instance.js';
import { answersOf, send, SHOP_FILES, SHOP_QUESTIONS, SHOP_WRITES } from '../formats/shop.js';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import { repositoryPath } from '../support/repository.js';
import type { Proof, ProofResult } from './proof.js';
import { buildEarlier } from './support/build-earlier.js';

/** The commit of version 0.1.0. */
const EARLIER = '888510b';

/** Deployments: the versions of the two instances in each step. Each step replaces one instance. */
const ORDERS: readonly { readonly title: string; readonly steps: readonly (readonly [Side, Side])[] }[] = [
  {
    title: '0.1.0 → this version',
    steps: [
      ['earlier', 'earlier'],
      ['current', 'earlier'],
      ['current', 'current'],
    ],
  },
  {
    title: 'this version → 0.1.0',
    steps: [
      ['current', 'current'],
      ['earlier', 'current'],
      ['earlier', 'earlier'],
    ],
  },
];
type Side = 'earlier' | 'current';

export const rollback: Proof = {
  name: 'rollback',
  summary: 'version 0.1.0 and this version side by side on one Redis, and in turn on one data folder',
  async run({ short }): Promise<ProofResult> {
    const folder = await mkdtemp(join(tmpdir(), 'millrace-rollback-'));
    try {
      const reason = await buildEarlier(folder, EARLIER);
      if (reason !== undefined) return { markdown: `Skipped: ${reason}.`, missed: [] };
      const checkouts = { earlier: folder, current: repositoryPath() };
      const lines: string[] = [];
      const missed: string[] = [];
      for (const order of ORDERS) {
        const found = await deploy(order.steps, checkouts, short ? 2000 : 15_000);
        lines.push(row(`one Redis, ${order.title}`, found));
        missed.push(...missedIn(order.title, found));
        const folders = await takeTurns(order.steps, checkouts);
        lines.push(row(`one data folder, ${order.title}`, folders));
        missed.push(...missedIn(`data folder, ${order.title}`, folders));
      }
      const head =
        '| deployment | requests | failed | comparisons | different |\n| --- | --: | --: | --: | --: |';
      return { markdown: [head, ...lines].join('\n'), missed };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

interface Found {
  requests: number;
  readonly failures: string[];
  comparisons: number;
  different: number;
}

const nothing = (): Found => ({ requests: 0, failures: [], comparisons: 0, different: 0 });

function row(title: string, { requests, failures, comparisons, different }: Found): string {
  return `| ${title} | ${requests} | ${failures.length} | ${comparisons} | ${different} |`;
}

function missedIn(title: string, { failures, different }: Found): string[] {
  const missed: string[] = [];
  if (failures.length > 0)
    missed.push(`${title}: failed requests 0, found ${failures.length}: ${failures[0] ?? ''}`);
  if (different > 0) missed.push(`${title}: different answers 0, found ${different}`);
  return missed;
}

/** Replaces two instances on one Redis, one at a time and under load, and compares their answers in each step. */
async function deploy(
  steps: readonly (readonly [Side, Side])[],
  checkouts: Readonly<Record<Side, string>>,
  stepMs: number,
): Promise<Found> {
  const found = nothing();
  const root = await writeProject(SHOP_FILES);
  const redis = await startRedisServer();
  const env = { MILLRACE_PROJECT: root, REDIS_URL: redis.url };
  const serving: (Instance | undefined)[] = [];
  const load = startLoad(serving, found);
  try {
    for (const [step, sides] of steps.entries()) {
      for (const [slot, side] of sides.entries()) {
        if (steps[step - 1]?.[slot] === side) continue;
        const before = serving[slot];
        const started = await startInstance(checkouts[side], env);
        serving[slot] = started;
        await pause(500); // requests in flight to the old instance finish
        await before?.stop();
      }
      await pause(stepMs);
      await load.hold(async () => {
        const [one, other] = serving as Instance[];
        if (one === undefined || other === undefined) throw new Error('an instance is missing');
        // Each write goes to one instance. The answers of both instances must include it.
        for (const [i, call] of SHOP_WRITES.entries())
          await send((i % 2 === step % 2 ? one : other).url, call);
        await pause(100); // the other instance receives the invalidations
        compare(found, await answersOf(one.url), await answersOf(other.url));
        await compareDeletions(found, [one.url, other.url], sides);
      });
    }
  } finally {
    await load.stop();
    await Promise.all(serving.flatMap((instance) => (instance === undefined ? [] : [instance.stop()])));
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
  return found;
}

/** Opens one data folder with each version in turn. All answers must stay the same. */
async function takeTurns(
  steps: readonly (readonly [Side, Side])[],
  checkouts: Readonly<Record<Side, string>>,
): Promise<Found> {
  const found = nothing();
  const root = await writeProject(SHOP_FILES);
  const env = { MILLRACE_PROJECT: root, MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
  try {
    let before: unknown[] | undefined;
    for (const side of steps.flat()) {
      const instance = await startInstance(checkouts[side], env);
      try {
        if (before !== undefined) compare(found, await answersOf(instance.url), before);
        // Repeated writes change nothing: feedback is idempotent, and equal entities and rows replace each other.
        for (const call of SHOP_WRITES) {
          await send(instance.url, call);
          found.requests++;
        }
        before = await answersOf(instance.url);
      } finally {
        await instance.stop();
      }
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  return found;
}

function compare(found: Found, one: readonly unknown[], other: readonly unknown[]): void {
  one.forEach((answer, i) => {
    found.comparisons++;
    if (JSON.stringify(answer) === JSON.stringify(other[i])) return;
    found.different++;
    console.log(`different: ${JSON.stringify(SHOP_QUESTIONS[i]?.[0])}`);
  });
}

/** Checks that both instances miss a row that this version deletes, and that both find the row after a later write. */
async function compareDeletions(
  found: Found,
  urls: readonly [string, string],
  sides: readonly [Side, Side],
): Promise<void> {
  const deleting = sides.indexOf('current');
  if (deleting < 0) return; // version 0.1.0 deletes no rows
  const at = Date.now();
  const deletion = { view: 'product_stock', rows: [{ product_id: 'p5', event_time: at }] };
  await send(urls[deleting] ?? '', ['/api/v1/features/delete', deletion]);
  await pause(100);
  const ask = async (): Promise<unknown[]> =>
    Promise.all(
      urls.map((url) =>
        send(url, [
          '/feature/get-online-features',
          {
            features: ['product_stock:left', 'product_stats:orders'],
            entities: { product_id: ['p5', 'p6'] },
          },
        ]),
      ),
    );
  const [one, other] = await ask();
  compare(found, [one], [other]);
  const again = { view: 'product_stock', rows: [{ product_id: 'p5', left: 77, event_time: at + 1 }] };
  await send(urls[1 - deleting] ?? '', ['/api/v1/features/push', again]);
  await pause(100);
  const [first, second] = await ask();
  compare(found, [first, JSON.stringify(first).includes('77')], [second, true]);
}

/** Sends rankings and writes to the serving instances in turn: four lanes, one request in flight in each. */
function startLoad(
  serving: readonly (Instance | undefined)[],
  found: Found,
): { hold(work: () => Promise<void>): Promise<void>; stop(): Promise<void> } {
  let running = true;
  let held = false;
  let next = 0;
  const idle = new Set<number>();
  const lane = async (number: number): Promise<void> => {
    while (running) {
      const live = serving.filter((instance) => instance !== undefined);
      const url = live[next++ % Math.max(1, live.length)]?.url;
      if (held || url === undefined) {
        idle.add(number);
        await pause(5);
        continue;
      }
      idle.delete(number);
      const calls = next % 5 === 0 ? SHOP_WRITES : SHOP_QUESTIONS;
      const call = calls[next % calls.length];
      if (call === undefined) continue;
      found.requests++;
      await send(url, call).catch((error: unknown) => found.failures.push(String(error)));
    }
  };
  const lanes = [0, 1, 2, 3].map(lane);
  return {
    async hold(work) {
      held = true;
      while (idle.size < lanes.length) await pause(5);
      await work();
      idle.clear();
      held = false;
    },
    async stop() {
      running = false;
      await Promise.all(lanes);
    },
  };
}
