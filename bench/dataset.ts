import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { pipelineVersion } from '../runtime/request/pipeline/log/ranking-schema.js';
import { compileProject } from '../runtime/serve/app/project/compile-project.js';
import type { JsonObject } from '../runtime/state/ledger/record-schema.js';
import { folderSize } from '../test/support/folder-size.js';
import { BIN } from '../test/support/repository.js';
import { withFiles } from '../test/support/temporary-files.js';
import { writeSyntheticLedger } from './dataset/synthetic-ledger.js';
import { markdownTable, writeBlocks } from './support/blocks.js';
import { table } from './support/measure.js';

const CANDIDATES = 24;
const MILLION = 1_000_000;

/** The most CPU of `dataset build` for one million rankings, and the most memory of any command. */
const MOST_SECONDS = 5 * 60;
const MOST_RSS = 2 ** 30;
/** How much more CPU a further ranking may take between the largest ledgers than between the smallest ones. */
const MOST_GROWTH = 1.5;

const PROJECT = {
  'shop/millrace.yaml': 'project: shop\nevents: { click: {}, order: {} }\n',
  'shop/schemas/entities/product.yaml': 'entity: product\nattributes: { price: float }\n',
  'shop/schemas/counters/live.yaml':
    'counter: live\nof: [product]\nfeatures: { clicks: { event: click, window: 90d } }\n',
  'shop/pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, user: optional(user) }
params: { factor: 1 }
components:
  - use: score
    with: { value: 'factor * coalesce(product.price, 0)' }
log: { candidates: all, features: all }
`,
  'shop/experiments/sizes.yaml': `experiment: sizes
pipeline: search
unit: user
arms: { control: {}, bigger: { params: { factor: 2 } } }
metrics:
  primary: { event: click, within: 1d }
  guard: [latency_p99]
`,
};

/** The commands over a ledger, which wrote `rankings` rankings. */
const COMMANDS: Readonly<Record<string, (rankings: number) => string>> = {
  'ledger stats': () => 'ledger stats --json',
  'ledger compact': () => 'ledger compact --out compacted',
  'dataset build': () =>
    'dataset build search --out set --label click=1,order=3 --attribute order=last_click:7d --window 1d --gap 1d',
  'dataset build --add': () =>
    'dataset build search --out set-added --window 1d --gap 1d --add brand_stats:ctr product_stats:stock user_stats:visits',
  'ledger replay': () => 'ledger replay ledger',
  'evaluate --last N': (rankings) =>
    `evaluate search --ledger ledger --last ${rankings} --metrics ndcg@10 --worst 0`,
  'experiments report': () => 'experiments report sizes',
  'counters rebuild': () => 'counters rebuild live',
};

/**
 * Runs the commands that read a whole ledger on ledgers of three sizes, each in a process of its own. It prints their CPU
 * and their most memory, and fails if the CPU of a ranking or the memory grows with the ledger. The ledger has 20 features,
 * clicks by request id, orders of the last click, two arms, and histories.
 * @param write puts the figures into docs/large-ledgers.md
 * @param most the size of the largest ledger; the others have a tenth and a hundredth of it
 * @param only measures only the commands with this in their names
 */
export async function dataSetBench(
  short: boolean,
  write: boolean,
  most = short ? 20_000 : 100_000,
  only = '',
): Promise<void> {
  const sizes = [most / 100, most / 10, most];
  const commands = Object.entries(COMMANDS).filter(([name]) => name.includes(only));
  const used = new Map(commands.map(([name]) => [name, new Array<Used>()]));
  const bytes: (readonly string[])[] = [];
  for (const rankings of sizes)
    await withFiles(PROJECT, async (root) => {
      const ledger = join(root, 'ledger');
      writeSyntheticLedger(ledger, rankings, CANDIDATES, await servedBy(join(root, 'shop')));
      // A segment that was not written to for long is closed, also the last one.
      for (const name of await readdir(ledger)) await utimes(join(ledger, name), 0, 0);
      for (const [name, words] of commands) {
        const its = await run(root, words(rankings).split(' '));
        used.get(name)?.push(its);
        console.log(`${rankings.toLocaleString('en')}: ${name}, ${secondsAnd(its).join(', ')}`);
      }
      const sized = ['ledger', 'compacted', 'set'].map(async (folder) =>
        kilobytes((await folderSize(join(root, folder)).catch(() => NaN)) / rankings),
      );
      bytes.push([rankings.toLocaleString('en'), ...(await Promise.all(sized))]);
    });
  const head = sizes.flatMap((size) => [`CPU, ${size.toLocaleString('en')}`, 'memory']);
  const tables = [
    [
      ['command', ...head, `CPU, ${(10 * most).toLocaleString('en')} by slope`, 'growth', 'bytes a ranking'],
      [...used].map(([name, all]) => rowOf(name, sizes, all)),
    ],
    [['rankings', 'segments', 'compacted', 'data set'], bytes],
  ] as const;
  for (const [columns, rows] of tables) console.log(`\n${table(columns, rows)}`);
  console.log(
    `\nthe limits are ${MOST_RSS / 2 ** 20} MiB, a growth of ${MOST_GROWTH}, and ${MOST_SECONDS} s of CPU to build from 10^6`,
  );
  const blocks = { dataset: tables.map(([columns, rows]) => markdownTable(columns, rows)).join('\n\n') };
  if (write) await writeBlocks('docs/large-ledgers.md', blocks, short);
}

/** What a command used on ledgers of these sizes. It fails the bench beyond a limit. */
function rowOf(name: string, sizes: readonly number[], all: readonly Used[]): readonly string[] {
  // By ranking, from one size to the next: without what a process takes to start.
  const slopes = (of: (used: Used) => number): number[] =>
    all
      .slice(1)
      .map((used, at) => (of(used) - of(all[at] ?? used)) / ((sizes[at + 1] ?? NaN) - (sizes[at] ?? NaN)));
  const seconds = slopes((one) => one.seconds);
  const [slope = NaN, bytes = NaN] = [seconds.at(-1), slopes(({ rss }) => rss).at(-1)];
  const growth = slope / (seconds[0] ?? NaN);
  if (growth > MOST_GROWTH || all.some(({ rss }) => rss > MOST_RSS)) process.exitCode = 1;
  if (name === 'dataset build' && slope * MILLION > MOST_SECONDS) process.exitCode = 1;
  const next = `${(slope * 10 * (sizes.at(-1) ?? NaN)).toFixed(0)} s`;
  return [name, ...all.flatMap(secondsAnd), next, growth.toFixed(2), bytes.toFixed(0)];
}

/** What the schema of a ranking says, if the pipeline of a project served it. */
async function servedBy(project: string): Promise<JsonObject> {
  const compiled = await compileProject(project);
  try {
    const [served] = compiled.pipelines;
    if (served === undefined) throw new Error('the project of the bench has a pipeline');
    const { name, plan, experiments } = served;
    return {
      pipeline_version: pipelineVersion(plan),
      log: { candidates: 'all', features: 'all' },
      experiment_pipeline: name,
      experiments: experiments?.described() ?? {},
    };
  } finally {
    await compiled.close();
  }
}

function secondsAnd({ seconds, rss }: Used): readonly [seconds: string, memory: string] {
  return [`${seconds.toFixed(1)} s`, `${(rss / 2 ** 20).toFixed(0)} MiB`];
}

interface Used {
  /** Of CPU. */
  readonly seconds: number;
  /** The most memory of the process, in bytes. */
  readonly rss: number;
}

/** Prints what the process has used to its file 3 when it ends. */
const AT_EXIT = `data:text/javascript,import { writeSync } from 'node:fs'; process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())))`;

async function run(root: string, words: readonly string[]): Promise<Used> {
  const child = spawn(process.execPath, ['--import', AT_EXIT, BIN, ...words], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      MILLRACE_PROJECT: join(root, 'shop'),
      MILLRACE_STORE: 'embedded',
      MILLRACE_LEDGER_DIR: join(root, 'ledger'),
    },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const [errors, usage] = await Promise.all([
    text(child.stderr as Readable),
    text(child.stdio[3] as Readable),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0 || usage === '') throw new Error(`millrace ${words.join(' ')}\n${errors}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage) as NodeJS.ResourceUsage;
  return { seconds: (userCPUTime + systemCPUTime) / 1e6, rss: maxRSS * 1024 };
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}
