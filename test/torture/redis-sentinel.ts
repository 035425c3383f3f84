import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { startRedisSentinels, type PrivateSentinels } from '../support/redis-sentinel.js';
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
import { RANKING_LIMIT, startTortureService } from './support/torture-service.js';

/**
 * A master with two replicas and three Sentinels under rankings and uploads: the master is killed, or hangs (SIGSTOP)
 * and comes back as a replica. Without waiting for replicas and with REDIS_WAIT_REPLICAS=1.
 *
 *     node dist/test/torture/redis-sentinel.js [--short]
 */
const SHORT = process.argv.includes('--short');
const ROUNDS = SHORT ? 1 : 3;
/**
 * A Sentinel pings once a second: were that all that it grants, the new master would now and then be replaced in its turn, and
 * be without a replica for ten seconds.
 */
const DOWN_AFTER = 2000;
/** How long after the new master is known, or has the replica that WAIT needs, requests may fail: ours, in milliseconds. */
const CATCH_UP = 2500;
/** How long Sentinel may take to that, elections that are repeated included: what it is, is printed. */
const SENTINEL = 30_000;
const SLACK = 250;

endAfter(SHORT ? 8 : 25);
const verdict = new Verdict();
for (const waitReplicas of [0, 1]) {
  for (const fault of ['killed', 'hanging'] as const) {
    for (let round = 1; round <= ROUNDS; round++) await once(waitReplicas, fault, round);
  }
}
verdict.end();

async function once(waitReplicas: number, fault: 'killed' | 'hanging', round: number): Promise<void> {
  console.log(`\nREDIS_WAIT_REPLICAS=${waitReplicas}, master ${fault}, round ${round} of ${ROUNDS}`);
  console.log(replicationPromise(waitReplicas));
  const redis = await startRedisSentinels({ replicas: 2, downAfter: DOWN_AFTER });
  const service = await startTortureService({
    REDIS_SENTINELS: redis.sentinels.map(({ host, port }) => `${host}:${port}`).join(','),
    REDIS_SENTINEL_MASTER: redis.master,
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
    const [master] = redis.servers;
    if (master === undefined) throw new Error('there is a master');
    if (fault === 'killed') await master.stop();
    else process.kill(master.pid(), 'SIGSTOP');
    const failed = performance.now();
    await until('a new master', async () => (await redis.masterPort()) !== master.port, SENTINEL);
    const elected = performance.now() - failed;
    await until('a replica of the new master', () => hasReplica(redis), SENTINEL);
    const joined = performance.now() - failed;
    await pause(2000);
    // It still takes itself for the master, until a Sentinel tells it otherwise.
    if (fault === 'hanging') process.kill(master.pid(), 'SIGCONT');
    await pause(2500);
    const recovered = (await worksAgain(load.rankings)) && (await worksAgain(load.uploads));
    await load.stop();
    console.log(`failover:  rankings ${summary(load.rankings)}`);
    console.log(`           uploads ${summary(load.uploads)}`);
    console.log(
      `           new master after ${elected.toFixed(0)} ms, its replica after ${joined.toFixed(0)} ms`,
    );
    const slowest = Math.max(...load.rankings.map(({ milliseconds }) => milliseconds));
    const slowestUpload = Math.max(...load.uploads.map(({ milliseconds }) => milliseconds));
    const answers = await load.check();

    verdict.check(
      'rankings and uploads work again, and are answered',
      recovered && answers,
      `${recovered && answers}`,
    );
    const rankingsOut = lastFailureAfter(load.rankings, failed);
    const uploadsOut = lastFailureAfter(load.uploads, failed);
    const allowed = CATCH_UP + load.heldUp;
    verdict.check(
      `the last ranking failed ${rankingsOut.toFixed(0)} ms after the master was ${fault}; after the election, limit ${allowed.toFixed(0)} ms`,
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
    await redis.remove();
  }
}

/** Whether a replica has joined the server that is master now. */
async function hasReplica(redis: PrivateSentinels): Promise<boolean> {
  const port = await redis.masterPort();
  const client = new Redis({ port, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return /^slave\d+:.*state=online/m.test(await client.info('replication'));
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}
