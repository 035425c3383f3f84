import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { studentQuantile } from '../runtime/ground/core/distributions.js';
import { mean } from '../runtime/ground/core/statistics.js';
import { repositoryPath } from '../test/support/repository.js';
import { markdownTable, writeBlocks } from './support/blocks.js';
import { table } from './support/measure.js';

const SEEDS = Array.from({ length: 10 }, (_, at) => at + 1);
const PAGES = [1_500, 10_000];
/** Trainings of one thread each that run at the same time. */
const AT_ONCE = 2;

/** NDCG@10 and rounds by way of correction. */
type Found = Readonly<Record<string, readonly [ndcg: number, rounds: number]>>;

/**
 * Trains rankers on generated clicks with every way to correct the bias of positions, and measures them on the true grades
 * of other queries. `support/clicks.py` states the position curve and the noise. Each way is compared with no correction by
 * the same library, seed by seed. With propensities, none may be worse. `MILLRACE_PYTHON` names a Python
 * with LightGBM and XGBoost.
 */
export async function clicksBench(short: boolean, write: boolean): Promise<void> {
  const seeds = short ? SEEDS.slice(0, 3) : SEEDS;
  const sizes = short ? PAGES.slice(0, 1) : PAGES;
  const found: Found[][] = [];
  for (const pages of sizes) {
    const bySeed: Found[] = [];
    for (let at = 0; at < seeds.length; at += AT_ONCE)
      bySeed.push(...(await Promise.all(seeds.slice(at, at + AT_ONCE).map((seed) => trained(pages, seed)))));
    found.push(bySeed);
  }
  const ways = Object.keys(found[0]?.[0] ?? {});
  const rows = ways.map((way) => [
    `\`${way}\``,
    ...found.flatMap((bySeed, at) => {
      const own = bySeed.map((one) => one[way]?.[0] ?? NaN);
      const rounds = bySeed.map((one) => one[way]?.[1] ?? NaN).sort((a, b) => a - b);
      const cells = [mean(own).toFixed(4), String(rounds[rounds.length >> 1])];
      const none = way.replace(/ .*/, ' --debias none');
      if (way === none) return [...cells, ''];
      const deltas = own.map((value, seed) => value - (bySeed[seed]?.[none]?.[0] ?? NaN));
      const half = halfWidth(deltas);
      if (way.includes('--propensities') && mean(deltas) + half < 0) {
        console.error(`${way} is worse than no correction at ${String(sizes[at])} pages`);
        process.exitCode = 1;
      }
      return [
        ...cells,
        `${signed(mean(deltas))} [${signed(mean(deltas) - half)}, ${signed(mean(deltas) + half)}]`,
      ];
    }),
  ]);
  const head = [
    'way',
    ...sizes.flatMap((pages) => [`${pages.toLocaleString('en')} pages`, 'rounds', 'to none']),
  ];
  console.log(`\nNDCG@10 on true grades, ${seeds.length} seeds\n\n${table(head, rows)}`);
  if (write) await writeBlocks('docs/learn/training.md', { clicks: markdownTable(head, rows) }, short);
}

async function trained(pages: number, seed: number): Promise<Found> {
  const python = process.env['MILLRACE_PYTHON'] ?? 'python3';
  const { stdout: output } = await promisify(execFile)(
    python,
    [repositoryPath('bench/support/clicks.py'), String(pages), String(seed)],
    {
      encoding: 'utf8',
      env: { ...process.env, PYTHONPATH: repositoryPath('clients/python/src') },
    },
  );
  console.log(`${pages} ${seed} ${output.trim()}`);
  return JSON.parse(output) as Found;
}

/** Of the 95 % interval of the mean. */
function halfWidth(values: readonly number[]): number {
  const middle = mean(values);
  const variance = values.reduce((sum, one) => sum + (one - middle) ** 2, 0) / (values.length - 1);
  return -studentQuantile(0.025, values.length - 1) * Math.sqrt(variance / values.length);
}

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`;
