import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { load, run, startContestant, warmUp, type Contestant } from './service/contestants.js';
import { bodiesOf, writeProject } from './service/data.js';
import { median, table } from './support/measure.js';

const SERVER = join('dist', 'bench', 'service', 'millrace.js');
const ITEMS = 5_000;

/**
 * Compares the CPU per request of this checkout with that of another built checkout. The two services run alternately
 * (ABBA) on the same store, project and requests. The interval is a two-sided 95 % confidence interval for the mean of
 * the paired differences of logarithms, by the normal approximation.
 */
export async function serviceAgainst(other: string, short: boolean): Promise<void> {
  const before = resolve(other, SERVER);
  if (!existsSync(before))
    throw new Error(`${before} does not exist; run \`npm run build\` in that checkout`);
  const after = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const contestants: Contestant[] = [];
  try {
    await writeProject(folder);
    const env = {
      MILLRACE_PROJECT: folder,
      REDIS_URL: redis.url,
      LOG_LEVEL: 'warn',
      PORT: '0',
      MILLRACE_RESIDENT: 'all',
    };
    for (const [name, module] of [
      ['before', before],
      ['after', after],
    ] as const)
      contestants.push(await startContestant(name, module, [], env));
    // Both services load the data, so that both processes have done the same work before the measurement.
    for (const { url } of contestants) await load(redis.url, url, ITEMS);
    const rows: string[][] = [];
    for (const count of [24, 100, 1000]) {
      const bodies = bodiesOf(ITEMS, count, 16);
      await warmUp(contestants, ITEMS, bodies);
      rows.push(await comparePairs(contestants, bodies, count, short ? 5 : 24));
    }
    console.log(table(['candidates', 'pairs', 'before ms', 'after ms', 'difference', '95 % interval'], rows));
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function comparePairs(
  [before, after]: readonly Contestant[],
  bodies: readonly Buffer[],
  count: number,
  pairs: number,
): Promise<string[]> {
  if (before === undefined || after === undefined) throw new Error('two servers are compared');
  const requests = count >= 1000 ? 150 : 400;
  const cost = async (contestant: Contestant): Promise<number> =>
    (await run(contestant, bodies, requests, 4)).cpuMs;
  const costs = { before: [] as number[], after: [] as number[] };
  const differences: number[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const first = await cost(before);
    const second = await cost(after);
    const third = await cost(after);
    const fourth = await cost(before);
    costs.before.push(first, fourth);
    costs.after.push(second, third);
    differences.push(Math.log((second * third) / (first * fourth)) / 2);
  }
  const mean = differences.reduce((sum, d) => sum + d, 0) / pairs;
  const variance = differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (pairs - 1);
  const half = 1.96 * Math.sqrt(variance / pairs);
  const percent = (d: number): string => `${(100 * Math.expm1(d)).toFixed(1)} %`;
  const middle = (all: number[]): string => median(all.sort((x, y) => x - y)).toFixed(3);
  return [
    String(count),
    String(pairs),
    middle(costs.before),
    middle(costs.after),
    percent(mean),
    `${percent(mean - half)} to ${percent(mean + half)}`,
  ];
}
