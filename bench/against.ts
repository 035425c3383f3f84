import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { load, run, startContestant, warmUp, type Contestant } from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { median, table } from './support/measure.js';

const SERVER = join('dist', 'bench', 'service', 'millrace.js');
const ITEMS = 2_000;

/**
 * Compares this checkout with another one, which is built: CPU per request of the two services, on the same store, project and
 * requests. Each pair is one ABBA sequence with two new processes, because processes of one build differ from each other by
 * several percent. The interval is that of the mean of the paired differences of logarithms, 95 %, two-sided, by the normal
 * approximation.
 */
export async function serviceAgainst(other: string, short: boolean): Promise<void> {
  const before = resolve(other, SERVER);
  if (!existsSync(before))
    throw new Error(`${before} does not exist; run \`npm run build\` in that checkout`);
  const after = fileURLToPath(new URL('./service/millrace.js', import.meta.url));
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  try {
    await writeItemsProject(folder, PROJECT);
    const setup = { modules: [before, after] as const, folder, redisUrl: redis.url };
    const rows: string[][] = [];
    for (const count of short ? [100] : [24, 100, 1000]) {
      const pairs: Pair[] = [];
      for (let i = 0; i < (short ? 3 : 24); i++) pairs.push(await measurePair(setup, count, i));
      rows.push(summaryOf(count, pairs));
    }
    console.log(table(['candidates', 'pairs', 'before ms', 'after ms', 'difference', '95 % interval'], rows));
  } finally {
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Setup {
  readonly modules: readonly [before: string, after: string];
  readonly folder: string;
  readonly redisUrl: string;
}

/** CPU per request, milliseconds; geometric means of two rounds each. */
interface Pair {
  readonly before: number;
  readonly after: number;
}

/** @param index the service that starts first, and is measured first, changes from pair to pair */
async function measurePair(
  { modules, folder, redisUrl }: Setup,
  count: number,
  index: number,
): Promise<Pair> {
  const order = index % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
  const contestants: Contestant[] = [];
  try {
    const env = {
      MILLRACE_PROJECT: folder,
      REDIS_URL: redisUrl,
      LOG_LEVEL: 'warn',
      PORT: '0',
      MILLRACE_RESIDENT: 'all',
    };
    for (const side of order) contestants.push(await startContestant(`${side}`, modules[side], [], env));
    // Both take part in the load, so that neither process has more behind it.
    for (const { url } of contestants) await load(redisUrl, url, ITEMS);
    const bodies = bodiesOf(ITEMS, count, 16);
    await warmUp(contestants, ITEMS, bodies);
    const [a, b] = contestants;
    if (a === undefined || b === undefined) throw new Error('two servers are compared');
    const requests = count >= 1000 ? 150 : 600;
    for (const contestant of contestants) await run(contestant, bodies, 2 * requests, 4);
    const costs: number[] = [];
    for (const contestant of [a, b, b, a]) costs.push((await run(contestant, bodies, requests, 4)).cpuMs);
    const [first = NaN, second = NaN, third = NaN, fourth = NaN] = costs;
    const [outer, inner] = [Math.sqrt(first * fourth), Math.sqrt(second * third)];
    return order[0] === 0 ? { before: outer, after: inner } : { before: inner, after: outer };
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
  }
}

function summaryOf(count: number, pairs: readonly Pair[]): string[] {
  const differences = pairs.map(({ before, after }) => Math.log(after / before));
  const mean = differences.reduce((sum, d) => sum + d, 0) / pairs.length;
  const variance = differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (pairs.length - 1);
  const half = 1.96 * Math.sqrt(variance / pairs.length);
  const percent = (d: number): string => `${(100 * Math.expm1(d)).toFixed(1)} %`;
  const middle = (all: number[]): string => median(all.sort((x, y) => x - y)).toFixed(3);
  return [
    String(count),
    String(pairs.length),
    middle(pairs.map(({ before }) => before)),
    middle(pairs.map(({ after }) => after)),
    percent(mean),
    `${percent(mean - half)} to ${percent(mean + half)}`,
  ];
}
