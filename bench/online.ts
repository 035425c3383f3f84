import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { writeProject } from '../test/support/project.js';
import { startRedisServer } from '../test/support/redis-server.js';
import { BESIDE, casesOf } from './online/cases.js';
import { check, load } from './online/load.js';
import { FEATURES_OF_A_VIEW, projectFiles, VIEWS } from './online/project.js';
import { run, runBeside, type Round } from './online/rounds.js';
import { median, ms, percentile, table } from './support/measure.js';

/** The maximum ratio between the CPU time of a read and the CPU time of a ranking over the same values. */
const GOAL = 4;

/**
 * Measures reads, explanations and events of 100 and of 1,000 entities with 50 values each, and compares them with a
 * ranking over the same values. It reports the CPU time of the server's process per request, its ratio, the longest
 * stall of the event loop, and the latency of a small concurrent ranking. The server and Redis are separate
 * processes.
 */
export async function onlineBench(short: boolean): Promise<void> {
  const redis = await startRedisServer();
  const root = await writeProject(projectFiles(redis.url));
  const path = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const env = { MILLRACE_PROJECT: root, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' };
  const child = fork(path, { env: { ...process.env, ...env, MILLRACE_RESIDENT: 'off' }, stdio: 'inherit' });
  try {
    const [url] = (await once(child, 'message')) as [string];
    await load(url, redis.url);
    await check(url);
    for (const count of short ? [1000] : [100, 1000]) await compare(child, url, count, short);
  } finally {
    child.kill('SIGKILL');
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  }
}

async function compare(child: ChildProcess, url: string, count: number, short: boolean): Promise<void> {
  const rounds = short ? 3 : 9;
  const requests = short ? 4 : Math.max(8, Math.ceil(1600 / count));
  const rows: string[][] = [];
  const missed: string[] = [];
  for (const one of casesOf(count)) {
    const found: Round[] = [];
    const baseline: number[] = [];
    // The first rounds are warm-up.
    for (let round = -2; round < rounds; round++) {
      const ranked = await run(child, url, one.ranking, requests);
      const done = await run(child, url, one, requests);
      if (round < 0) continue;
      baseline.push(ranked.cpuMs);
      found.push(done);
    }
    const cost = medianOf(found.map(({ cpuMs }) => cpuMs));
    const base = medianOf(baseline);
    const beside = await runBeside(child, url, one, short ? 4 : 20);
    if (one.held === true && cost > GOAL * base) missed.push(one.name);
    rows.push([
      one.name,
      ms(cost),
      ms(base),
      (cost / base).toFixed(1),
      ms(medianOf(found.flatMap(({ took }) => took))),
      ms(medianOf(found.map(({ stallMs }) => stallMs))),
      ms(beside.stallMs),
      ms(percentile(beside.beside, 50)),
      ms(percentile(beside.beside, 99)),
    ]);
  }
  const [usual] = casesOf(BESIDE);
  const quiet = usual && (await run(child, url, usual.ranking, 100));
  console.log(
    `\n${count} rows × ${VIEWS * FEATURES_OF_A_VIEW} values, ${rounds} rounds of ${requests} requests\n`,
  );
  console.log(table(['', 'CPU ms', 'ranking', '×', 'p50 ms', 'stall', 'most', 'beside p50', 'p99'], rows));
  console.log(
    `\nCPU of the server's process per request, of a ranking over the same values, and their ratio; stall: the longest of a\n` +
      `round, median; most: over the rounds with a concurrent ranking of ${BESIDE}; latency: of that ranking, alone p50 ${ms(medianOf(quiet?.took ?? []))} ms\n`,
  );
  console.log(
    `get-online-features costs at most ${GOAL} times a ranking: ${missed.length === 0 ? 'met' : `missed by ${missed.join(', ')}`}`,
  );
}

const medianOf = (values: readonly number[]): number => median([...values].sort((a, b) => a - b));
