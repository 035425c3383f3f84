import { setTimeout as pause } from 'node:timers/promises';
import { startRedisServer } from '../support/redis-server.js';
import { lastFailureAfter, megabytes, summary, Verdict } from './support/figures.js';
import { Load } from './support/load.js';
import { RANKING_LIMIT, startTortureService } from './support/torture-service.js';

/**
 * A Redis that is stopped (SIGSTOP) for half a minute under a service that gets steady rankings and uploads: every
 * ranking is answered by its deadline, memory stays bounded, and rankings work again soon after SIGCONT.
 *
 *     node dist/test/torture/redis-faults.js [--short]
 */
const STOPPED = process.argv.includes('--short') ? 5_000 : 30_000;
const CALM = process.argv.includes('--short') ? 3_000 : 10_000;
const WARM = 3_000;
/** What the machine itself may add to a deadline: it is shared with the load and with Redis. */
const SLACK = 250;

const verdict = new Verdict();
const redis = await startRedisServer();
const service = await startTortureService({ REDIS_URL: redis.url, LOG_LEVEL: 'info' });
try {
  const load = new Load(service.url, {
    items: 5000,
    rankingsPerSecond: 100,
    candidates: 200,
    uploadsPerSecond: 4,
    itemsPerUpload: 50,
  });
  await load.prepare();
  load.start();
  // Buffers and code are warm before answers and memory are compared.
  await pause(WARM);
  load.rankings.length = 0;
  await pause(CALM);
  const calm = load.rankings.splice(0);
  load.uploads.length = 0;
  const before = await service.memory();
  console.log(`calm:      rankings ${summary(calm)}`);

  process.kill(redis.pid(), 'SIGSTOP');
  let highest = before;
  for (const end = performance.now() + STOPPED; performance.now() < end;) {
    await pause(250);
    highest = Math.max(highest, await service.memory());
  }
  const stopped = load.rankings.splice(0);
  console.log(`stopped:   rankings ${summary(stopped)}`);
  console.log(`           uploads ${summary(load.uploads.splice(0))}`);

  process.kill(redis.pid(), 'SIGCONT');
  const resumed = performance.now();
  await pause(4000);
  await load.stop();
  const after = await service.memory();
  console.log(`resumed:   rankings ${summary(load.rankings)}`);
  console.log(`           uploads ${summary(load.uploads)}`);
  const { history } = load;
  const answers = [...stopped, ...load.rankings];
  const slowest = Math.max(...answers.map(({ milliseconds }) => milliseconds));
  const odd = answers.filter(
    ({ status, code }) => status !== 200 && !/^(store_unavailable|deadline_exceeded|overloaded)$/.test(code),
  );
  const healthy = lastFailureAfter(load.rankings, resumed);
  const isAnswered = await load.check();

  verdict.check('every item is answered in the end', isAnswered, `${isAnswered}`);
  verdict.check(
    'the calm load is answered with 200',
    calm.every(({ status }) => status === 200),
    `${calm.length}`,
  );
  verdict.check('every ranking is 200, or 503 with Retry-After', odd.length === 0, `${odd.length} others`);
  verdict.check(
    `slowest ranking, limit ${RANKING_LIMIT} ms, ${SLACK} ms and ${load.heldUp.toFixed(0)} ms for the machine`,
    slowest <= RANKING_LIMIT + SLACK + load.heldUp,
    `${slowest.toFixed(0)} ms`,
  );
  verdict.check('requests that were not sent, too many being open', load.held === 0, `${load.held}`);
  verdict.check(
    'memory grew by less than 50 MB',
    highest - before < 50 * 1024 * 1024,
    `${megabytes(before)} before, ${megabytes(highest)} at most, ${megabytes(after)} after`,
  );
  verdict.check(
    'healthy within 2 s of SIGCONT',
    healthy < 2000,
    `last failure after ${healthy.toFixed(0)} ms`,
  );
  verdict.check('wrong answers', history.wrong === 0, `${history.wrong}`);
  verdict.check('answers older than an acknowledged write', history.stale === 0, `${history.stale}`);
} finally {
  await service.stop();
  await redis.remove();
}
verdict.end();
