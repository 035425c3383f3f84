import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startRedisServer } from '../support/redis-server.js';
import { startTrackingProxy } from '../support/tracking-proxy.js';
import { Fleet } from './staleness/fleet.js';
import { report } from './staleness/report.js';
import { Verdict } from './support/figures.js';

/**
 * Two instances with resident tables over one Redis, four writers and two readers in each, every write and ranking held
 * against a history: clean, and with the invalidation connections killed, paused and half-open.
 *
 *     node dist/test/torture/staleness.js [--short]
 */
const SHORT = process.argv.includes('--short');
const PHASE = SHORT ? { milliseconds: 4_000, calls: Infinity } : { milliseconds: 600_000, calls: 125_000 };
const ITEMS = 2_000;

const verdict = new Verdict();
const redis = await startRedisServer();
const proxy = await startTrackingProxy(redis.port);
const admin = new Redis(redis.url);
const fleet = await Fleet.start({ REDIS_URL: proxy.url }, ITEMS);
try {
  await phase('clean', () => pause(100));
  await phase('killed', async () => {
    await pause(150 + Math.random() * 300);
    await killTracking();
  });
  await phase('paused', async () => {
    await pause(100 + Math.random() * 200);
    proxy.set('pause');
    await pause(20 + Math.random() * 400);
    proxy.set('forward');
  });
  await phase('half-open', async () => {
    await pause(200 + Math.random() * 400);
    proxy.set('black hole'); // for ever, for the connections that are there
    proxy.set('forward');
  });
  await fleet.stop();
} finally {
  await fleet.remove();
  admin.disconnect();
  await proxy.close();
  await redis.remove();
}
verdict.end();

/** Runs readers and writers on both instances, with trouble again and again, and checks what they saw. */
async function phase(name: string, trouble: () => Promise<void>): Promise<void> {
  const began = performance.now();
  const over = new AbortController();
  const troubles = (async () => {
    while (!over.signal.aborted) await trouble();
  })();
  const seen = await fleet.run(PHASE);
  over.abort();
  await troubles;
  proxy.set('forward');
  const seconds = (performance.now() - began) / 1000;
  await pause(300);
  const { failed, calls, hitShare } = report(verdict, name, seen, seconds);
  const left = (await fleet.versions()).map(
    (versions) => versions.filter((version, item) => version !== fleet.history.acknowledged(item)).length,
  );
  verdict.check(
    `${name}: entries stale for good`,
    left.every((count) => count === 0),
    left.join(' and '),
  );
  verdict.check(`${name}: the table was used`, hitShare > 0.1, `${(100 * hitShare).toFixed(1)} %`);
  verdict.check(`${name}: calls failed`, failed === 0, `${failed} of ${calls}`);
}

/** Has the server close the invalidation connections. */
async function killTracking(): Promise<void> {
  const clients = String(await admin.client('LIST')).split('\n');
  for (const line of clients) {
    const id = /^id=(\d+) .*name=millrace-track/.exec(line)?.[1];
    if (id !== undefined) await admin.client('KILL', 'ID', id).catch(() => undefined);
  }
}
