import { setTimeout as pause } from 'node:timers/promises';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedisSentinels } from '../support/redis-sentinel.js';
import { until } from '../support/until.js';
import { Fleet } from './staleness/fleet.js';
import { report } from './staleness/report.js';
import { endAfter, Verdict } from './support/figures.js';

/**
 * Two instances with resident tables, writing and ranking, while a replica takes over from the master: of Sentinels and
 * of a cluster, the master killed, or hanging and back as a replica. REDIS_WAIT_REPLICAS=1, so that what was
 * acknowledged is there; without it replication may lose the last of it, with or without tables.
 *
 *     node dist/test/torture/staleness-failover.js [--short]
 */
const SHORT = process.argv.includes('--short');
const ROUNDS = SHORT ? 1 : 5;
const ITEMS = 1_000;
/**
 * A Sentinel pings once a second: were that all that it grants, the new master would now and then be replaced in its turn, and
 * be without a replica for ten seconds.
 */
const DOWN_AFTER = 2000;
const NODE_TIMEOUT = 1000;
/** Time in which a replica takes over and the rest falls in with it; calls fail meanwhile. */
const UPHEAVAL = { milliseconds: 10_000, calls: Infinity };
/** Calls of this phase all succeed. */
const AFTERWARDS = { milliseconds: SHORT ? 2_000 : 20_000, calls: Infinity };

type Fault = 'killed' | 'hanging';

/** A Redis of some kind, whose master can be made to fail. */
interface Topology {
  readonly env: NodeJS.ProcessEnv;
  /** Resolves once another server is master and the old one is back, as a replica. */
  fail(fault: Fault): Promise<void>;
  remove(): Promise<void>;
}

endAfter(SHORT ? 8 : 30);
const verdict = new Verdict();
for (let round = 1; round <= ROUNDS; round++) {
  for (const fault of ['killed', 'hanging'] as const) {
    await once(`Sentinel, master ${fault}, round ${round} of ${ROUNDS}`, fault, await sentinels());
    await once(`cluster, master ${fault}, round ${round} of ${ROUNDS}`, fault, await cluster());
  }
}
verdict.end();

async function once(name: string, fault: Fault, redis: Topology): Promise<void> {
  let fleet: Fleet | undefined;
  try {
    fleet = await Fleet.start({ ...redis.env, REDIS_WAIT_REPLICAS: '1' }, ITEMS);
    const working = fleet.run(UPHEAVAL);
    await pause(1500);
    await redis.fail(fault);
    const during = await working;
    const { failed, calls } = report(verdict, `${name}, during it`, during, UPHEAVAL.milliseconds / 1000);
    const lastFailed = Math.max(...during.map((one) => one.lastFailed));
    console.log(`${failed} of ${calls} calls failed, the last after ${(lastFailed / 1000).toFixed(1)} s`);

    await pause(1000);
    const after = await fleet.run(AFTERWARDS);
    const later = report(verdict, `${name}, after it`, after, AFTERWARDS.milliseconds / 1000);
    verdict.check(`${name}: calls failed after it`, later.failed === 0, `${later.failed} of ${later.calls}`);
    const share = `${(100 * later.hitShare).toFixed(1)} %`;
    verdict.check(`${name}: the tables are used again`, later.hitShare > 0.1, share);

    await pause(300);
    const stored = await fleet.stored();
    const { history } = fleet;
    const lost = stored.filter((version, item) => version < history.acknowledged(item)).length;
    verdict.check(`${name}: items whose last acknowledged write is lost`, lost === 0, `${lost}`);
    const stale = (await fleet.versions()).map(
      (versions) => versions.filter((version, item) => version !== stored[item]).length,
    );
    const none = stale.every((count) => count === 0);
    verdict.check(`${name}: entries stale for good`, none, stale.join(' and '));
    await fleet.stop();
  } finally {
    await fleet?.remove();
    await redis.remove();
  }
}

async function sentinels(): Promise<Topology> {
  const redis = await startRedisSentinels({ replicas: 2, downAfter: DOWN_AFTER });
  const [master] = redis.servers;
  if (master === undefined) throw new Error('there is a master');
  return {
    env: {
      REDIS_SENTINELS: redis.sentinels.map(({ host, port }) => `${host}:${port}`).join(','),
      REDIS_SENTINEL_MASTER: redis.master,
    },
    fail: (fault) =>
      failAndReturn(master, fault, async () => (await redis.masterPort()) !== master.port, false),
    remove: () => redis.remove(),
  };
}

async function cluster(): Promise<Topology> {
  const redis = await startRedisCluster({ masters: 3, replicas: true, nodeTimeout: NODE_TIMEOUT });
  const [master] = redis.servers;
  if (master === undefined) throw new Error('there is a master');
  const isReplaced = async (): Promise<boolean> => {
    const ranges = await redis.client(1).cluster('SLOTS');
    return ranges.every(([, , owner]) => owner?.[1] !== master.port);
  };
  return {
    env: { REDIS_CLUSTER: redis.addresses.map(({ host, port }) => `${host}:${port}`).join(',') },
    // A master of the cluster has one replica alone: WAIT needs the old one back.
    fail: (fault) => failAndReturn(master, fault, isReplaced, true),
    remove: () => redis.remove(),
  };
}

async function failAndReturn(
  master: { pid(): number; stop(): Promise<void>; start(): Promise<void> },
  fault: Fault,
  isReplaced: () => Promise<boolean>,
  restart: boolean,
): Promise<void> {
  const pid = master.pid();
  if (fault === 'killed') await master.stop();
  else process.kill(pid, 'SIGSTOP');
  const took = await until('another master', isReplaced);
  console.log(`\nanother master after ${took.toFixed(0)} ms`);
  if (fault === 'hanging') process.kill(pid, 'SIGCONT');
  else if (restart) await master.start();
}
