import { setTimeout as pause } from 'node:timers/promises';
import { startRedisSentinels } from '../support/redis-sentinel.js';
import { lastFailureAfter, summary, Verdict } from './support/figures.js';
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
const DOWN_AFTER = 1000;
const FAILOVER = DOWN_AFTER + 6000;
const SLACK = 250;

const verdict = new Verdict();
for (const waitReplicas of [0, 1]) {
  for (const fault of ['killed', 'hanging'] as const) {
    for (let round = 1; round <= ROUNDS; round++) await once(waitReplicas, fault, round);
  }
}
verdict.end();

async function once(waitReplicas: number, fault: 'killed' | 'hanging', round: number): Promise<void> {
  console.log(`\nREDIS_WAIT_REPLICAS=${waitReplicas}, master ${fault}, round ${round} of ${ROUNDS}`);
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
    while ((await redis.masterPort()) === master.port) await pause(50);
    const elected = performance.now() - failed;
    await pause(2000);
    // It still takes itself for the master, until a Sentinel tells it otherwise.
    if (fault === 'hanging') process.kill(master.pid(), 'SIGCONT');
    await pause(2500);
    await load.stop();
    console.log(`failover:  rankings ${summary(load.rankings)}`);
    console.log(`           uploads ${summary(load.uploads)}`);
    const slowest = Math.max(...load.rankings.map(({ milliseconds }) => milliseconds));
    const slowestUpload = Math.max(...load.uploads.map(({ milliseconds }) => milliseconds));
    const outage = Math.max(lastFailureAfter(load.rankings, failed), lastFailureAfter(load.uploads, failed));
    await load.check();

    verdict.check(
      `requests work again after the master was ${fault}`,
      outage < FAILOVER,
      `${outage.toFixed(0)} ms (a new master after ${elected.toFixed(0)} ms, down-after ${DOWN_AFTER} ms)`,
    );
    verdict.check(
      `slowest ranking, limit ${RANKING_LIMIT} ms, ${SLACK} ms and ${load.heldUp.toFixed(0)} ms for the machine`,
      slowest <= RANKING_LIMIT + SLACK + load.heldUp,
      `${slowest.toFixed(0)} ms`,
    );
    verdict.check('slowest upload', slowestUpload < 5000, `${slowestUpload.toFixed(0)} ms`);
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
