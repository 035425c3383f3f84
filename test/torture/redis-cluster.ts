import { setTimeout as pause } from 'node:timers/promises';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { until } from '../support/until.js';
import {
  endAfter,
  lastFailureAfter,
  replicationPromise,
  summary,
  Verdict,
  worksAgain,
} from './support/figures.js';
import { Load } from './support/load.js';
import { fullestSlots } from './support/slots.js';
import { RANKING_LIMIT, startTortureService } from './support/torture-service.js';

/**
 * A cluster of six on this machine (three masters, a replica each) under rankings and uploads: slots migrate while both
 * go on, then a master is killed and its replica takes over. Once without waiting for replicas and once with
 * REDIS_WAIT_REPLICAS=1.
 *
 *     node dist/test/torture/redis-cluster.js [--short]
 */
const SHORT = process.argv.includes('--short');
const ROUNDS = SHORT ? 1 : 3;
const MIGRATED = SHORT ? 20 : 100;
const NODE_TIMEOUT = 1000;
/** How long after the new master is known, or has the replica that WAIT needs, requests may fail: ours, in milliseconds. */
const CATCH_UP = 2500;
/** How long the cluster may take to that, elections that are repeated included: what it is, is printed. */
const ELECTION = 30_000;
const SLACK = 250;

endAfter(SHORT ? 6 : 20);
const verdict = new Verdict();
for (const waitReplicas of [0, 1]) {
  for (let round = 1; round <= ROUNDS; round++) await once(waitReplicas, round);
}
verdict.end();

async function once(waitReplicas: number, round: number): Promise<void> {
  console.log(`\nREDIS_WAIT_REPLICAS=${waitReplicas}, round ${round} of ${ROUNDS}`);
  console.log(replicationPromise(waitReplicas));
  const cluster = await startRedisCluster({ masters: 3, replicas: true, nodeTimeout: NODE_TIMEOUT });
  const [start] = cluster.addresses;
  const service = await startTortureService({
    REDIS_CLUSTER: `127.0.0.1:${start?.port ?? 0}`,
    REDIS_WAIT_REPLICAS: String(waitReplicas),
  });
  try {
    const load = new Load(service.url, {
      items: 3000,
      rankingsPerSecond: 50,
      candidates: 200,
      uploadsPerSecond: 30,
      itemsPerUpload: 20,
    });
    await load.prepare();
    load.start();
    await pause(1000);

    load.rankings.length = 0;
    load.uploads.length = 0;
    const slots = fullestSlots(load.shape.items, MIGRATED);
    for (const slot of slots) {
      const from = Math.floor((slot * 3) / 16_384);
      // Half way, some keys are here and some there: rankings and uploads meet ASK for the one half.
      await cluster.migrate(slot, from, (from + 1) % 3, () => pause(20));
    }
    await pause(500);
    console.log(`migration: rankings ${summary(load.rankings)}`);
    console.log(`           uploads ${summary(load.uploads)}`);
    const failed = [...load.rankings, ...load.uploads].filter(({ status }) => status !== 200).length;
    verdict.check(`${slots.length} slots migrated under load, requests failed`, failed === 0, `${failed}`);
    verdict.check('wrong or older answers', load.history.wrong + load.history.stale === 0, told(load));

    load.rankings.length = 0;
    load.uploads.length = 0;
    await cluster.servers[0]?.stop();
    const killed = performance.now();
    // Once it is no master any more, it comes back as the replica: WAIT cannot be met by a master without one.
    await until('a new master', () => isReplaced(cluster), ELECTION);
    const elected = performance.now() - killed;
    await cluster.servers[0]?.start();
    await until('a replica of the new master', () => hasReplica(cluster), ELECTION);
    const joined = performance.now() - killed;
    await pause(2500);
    const recovered = (await worksAgain(load.rankings)) && (await worksAgain(load.uploads));
    await load.stop();
    console.log(`failover:  rankings ${summary(load.rankings)}`);
    console.log(`           uploads ${summary(load.uploads)}`);
    const slowest = Math.max(...load.rankings.map(({ milliseconds }) => milliseconds));
    const slowestUpload = Math.max(...load.uploads.map(({ milliseconds }) => milliseconds));
    console.log(
      `           new master after ${elected.toFixed(0)} ms, its replica after ${joined.toFixed(0)} ms`,
    );
    const answers = await load.check();

    verdict.check('rankings and uploads work again', recovered && answers, `${recovered && answers}`);
    const rankingsOut = lastFailureAfter(load.rankings, killed);
    const uploadsOut = lastFailureAfter(load.uploads, killed);
    const allowed = CATCH_UP + load.heldUp;
    verdict.check(
      `the last ranking failed ${rankingsOut.toFixed(0)} ms after the kill; after the election, limit ${allowed.toFixed(0)} ms`,
      rankingsOut - elected < allowed,
      `${Math.max(0, rankingsOut - elected).toFixed(0)} ms`,
    );
    const [since, reason] =
      waitReplicas === 0
        ? [elected, 'the election']
        : [joined, 'the new master had the replica that WAIT needs'];
    verdict.check(
      `the last upload failed ${uploadsOut.toFixed(0)} ms after it; after ${reason}, limit ${allowed.toFixed(0)} ms`,
      uploadsOut - since < allowed,
      `${Math.max(0, uploadsOut - since).toFixed(0)} ms`,
    );
    verdict.check(
      `slowest ranking, limit ${RANKING_LIMIT} ms, ${SLACK} ms and ${load.heldUp.toFixed(0)} ms for the machine`,
      slowest <= RANKING_LIMIT + SLACK + load.heldUp,
      `${slowest.toFixed(0)} ms`,
    );
    verdict.check('slowest upload', slowestUpload < 5000 + load.heldUp, `${slowestUpload.toFixed(0)} ms`);
    verdict.check('wrong answers', load.history.wrong === 0, `${load.history.wrong}`);
    const lost = load.history.lost.size;
    verdict.check(
      `items whose last acknowledged write is lost${waitReplicas === 0 ? ' (replication alone promises none)' : ''}`,
      waitReplicas === 0 || lost === 0,
      `${lost}`,
    );
  } finally {
    await service.stop();
    await cluster.remove();
  }
}

/** Whether the first server's slots have another master, as the second one sees it. */
async function isReplaced(cluster: PrivateCluster): Promise<boolean> {
  const ranges = await cluster.client(1).cluster('SLOTS');
  return ranges.every(([, , master]) => master?.[1] !== cluster.servers[0]?.port);
}

/** Whether the first server is back, as the replica of the one that took over from it. */
async function hasReplica(cluster: PrivateCluster): Promise<boolean> {
  return /^slave\d+:.*state=online/m.test(await cluster.client(3).info('replication'));
}

function told({ history }: Load): string {
  return `${history.wrong} wrong, ${history.stale} older`;
}
