import { load, run, startContestant, warmUp, type Contestant } from '../service/contestants.js';
import { bodiesOf } from '../service/data.js';
import { median } from './measure.js';

const ITEMS = 2_000;

/** A service of a pair: its module and its own settings. */
interface Side {
  readonly module: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Setup {
  readonly sides: readonly [before: Side, after: Side];
  readonly folder: string;
  readonly redisUrl: string;
  /** Requests in flight; 4 by default. One is never refused by the admission, however slow the machine is. */
  readonly clients?: number;
}

/** CPU per request, milliseconds; geometric means of two rounds each. */
export interface Pair {
  readonly before: number;
  readonly after: number;
}

/**
 * One ABBA sequence with two new processes, because processes of one build differ from each other by several percent.
 * @param index the service that starts first, and is measured first, changes from pair to pair
 */
export async function measurePair(
  { sides, folder, redisUrl, clients = 4 }: Setup,
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
    for (const side of order) {
      const { module, env: own } = sides[side];
      contestants.push(await startContestant(`${side}`, module, [], { ...env, ...own }));
    }
    // Both take part in the load, so that neither process has more behind it.
    for (const { url } of contestants) await load(redisUrl, url, ITEMS);
    const bodies = bodiesOf(ITEMS, count, 16);
    await warmUp(contestants, ITEMS, bodies);
    const [a, b] = contestants;
    if (a === undefined || b === undefined) throw new Error('two servers are compared');
    const requests = count >= 1000 ? 150 : 600;
    for (const contestant of contestants) await run(contestant, bodies, 2 * requests, clients);
    const costs: number[] = [];
    for (const contestant of [a, b, b, a])
      costs.push((await run(contestant, bodies, requests, clients)).cpuMs);
    const [first = NaN, second = NaN, third = NaN, fourth = NaN] = costs;
    const [outer, inner] = [Math.sqrt(first * fourth), Math.sqrt(second * third)];
    return order[0] === 0 ? { before: outer, after: inner } : { before: inner, after: outer };
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
  }
}

/** The titles of `summaryOf`. */
export const pairHead = (before: string, after: string): string[] => [
  'candidates',
  'pairs',
  `${before} ms`,
  `${after} ms`,
  'difference',
  '95 % interval',
];

/**
 * How much more the second of a pair costs, as a part. The interval is that of the mean of the paired differences of logarithms,
 * 95 %, two-sided, by the normal approximation.
 */
export function intervalOf(pairs: readonly Pair[]): {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
} {
  const differences = pairs.map(({ before, after }) => Math.log(after / before));
  const mean = differences.reduce((sum, d) => sum + d, 0) / pairs.length;
  const variance = differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (pairs.length - 1);
  const half = 1.96 * Math.sqrt(variance / pairs.length);
  return { mean: Math.expm1(mean), low: Math.expm1(mean - half), high: Math.expm1(mean + half) };
}

/** One row for a table, with the interval of `intervalOf`. */
export function summaryOf(count: number, pairs: readonly Pair[]): string[] {
  const { mean, low, high } = intervalOf(pairs);
  const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;
  const middle = (all: number[]): string => median(all.sort((x, y) => x - y)).toFixed(3);
  return [
    String(count),
    String(pairs.length),
    middle(pairs.map(({ before }) => before)),
    middle(pairs.map(({ after }) => after)),
    percent(mean),
    `${percent(low)} to ${percent(high)}`,
  ];
}
