import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { serverOf } from './against.js';
import {
  heapPerRequest,
  load,
  run,
  startContestant,
  warmUp,
  type Contestant,
  type Round,
} from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import { floorWork } from './service/floor-work.js';
import { comparePaces } from './service/pace.js';
import { writeBlocks } from './support/blocks.js';
import { writeCostPlot } from './support/cost-plot.js';
import { writeItemsProject } from './support/items-project.js';
import { median, ms, percentile, table } from './support/measure.js';

const CANDIDATES = [1000, 100, 24];
const SLOW = ['naive, redis', 'millrace, redis, no tables'];
const WARM = 'millrace, redis, warm';
const FLOORS = ['floor, Express', 'floor, node:http'];

/** The cost of one shape of request: milliseconds of CPU by contestant. */
interface Shape {
  readonly count: number;
  readonly clients: number;
  readonly costs: ReadonlyMap<string, number>;
}

/**
 * Measures the whole request through HTTP: up to 1,000 candidates with 40 features each, 300 trees of 64 leaves, and
 * a page of ten. Millrace, the naive service and the floors run in separate processes. Each server process reports its
 * own CPU time. All must give the same answers, which is checked first. The third floor is the same work in this process.
 * @param write puts the figures and a plot into docs/performance.md
 * @param only `floors` leaves the naive service and the service without tables out; `heap` measures used heap instead, and
 *   `pace` latencies at 70 % of the capacity
 * @param against for `heap`: another checkout
 * @param of number of candidates; by default several
 */
export async function serviceBench(
  short: boolean,
  write: boolean,
  only?: string,
  against?: string,
  of?: number,
): Promise<void> {
  const items = short ? 3_000 : 20_000;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const contestants: Contestant[] = [];
  try {
    await writeItemsProject(folder, PROJECT);
    const moduleOf = (name: string): string =>
      fileURLToPath(new URL(`./service/${name}.js`, import.meta.url));
    const isHeap = only === 'heap';
    const flags = isHeap ? [...NO_COLLECTION, '--import', moduleOf('heap')] : [];
    const start = async (name: string, module: string, args: string[], env = {}): Promise<void> => {
      if (only !== undefined && SLOW.includes(name)) return;
      contestants.push(await startContestant(name, module, args, env, flags));
    };
    const ours = { MILLRACE_PROJECT: folder, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' };
    const warm = { ...ours, MILLRACE_RESIDENT: 'all' };
    await start('naive, redis', moduleOf('naive'), [redis.url]);
    await start('millrace, redis, no tables', moduleOf('millrace'), [], {
      ...ours,
      MILLRACE_RESIDENT: 'off',
    });
    await start(WARM, moduleOf('millrace'), [], warm);
    if (isHeap && against !== undefined) await start('before', serverOf(against), [], warm);
    await start('floor, Express', moduleOf('floor'), [String(items), 'express']);
    await start('floor, node:http', moduleOf('floor'), [String(items), 'plain']);
    const ourUrl = contestants.find(({ name }) => name.startsWith('millrace'))?.url ?? '';
    await load(redis.url, ourUrl, items);
    const work = await floorWork(items);
    const measured: Shape[] = [];
    for (const count of of !== undefined ? [of] : short ? [1000] : CANDIDATES) {
      const bodies = bodiesOf(items, count, 16);
      await warmUp(contestants, items, bodies);
      if (only === 'pace') await comparePaces(contestants, bodies, count);
      else if (isHeap) await compareHeaps(contestants, bodies, count, short);
      else
        for (const clients of [1, 8])
          measured.push(await compare(contestants, work, bodies, { count, clients }, short));
    }
    if (write) await writePage(measured, short);
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A young generation of 2 GiB, in MiB. Memory is used only as far as it fills. */
const NO_COLLECTION = ['--min-semi-space-size=2048', '--max-semi-space-size=2048'];

async function compareHeaps(
  contestants: readonly Contestant[],
  bodies: readonly Buffer[],
  count: number,
  short: boolean,
): Promise<void> {
  const requests = short || count >= 1000 ? 500 : 2000;
  const rows: string[][] = [];
  for (const contestant of contestants) {
    const bytes = await heapPerRequest(contestant, bodies, requests);
    rows.push([contestant.name, (bytes / 1024).toFixed(1)]);
  }
  console.log(`\n${count} candidates, ${requests} requests without a garbage collection; 1 client\n`);
  console.log(table(['', 'KiB of heap/request'], rows));
}

async function compare(
  contestants: readonly Contestant[],
  work: (text: string) => string,
  bodies: readonly Buffer[],
  { count, clients }: Pick<Shape, 'count' | 'clients'>,
  short: boolean,
): Promise<Shape> {
  const rounds = short ? 3 : 9;
  const found = contestants.map((): Round[] => []);
  const inProcess: number[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const slow = contestant.name.startsWith('naive') ? 8 : 1;
      const requests = Math.ceil((short ? 200 : 400) / slow);
      found[i]?.push(await run(contestant, bodies, requests, clients));
    }
    inProcess.push(runHere(work, bodies, short ? 200 : 400));
  }
  const middle = (all: number[]): number => median(all.sort((a, b) => a - b));
  const names = [...contestants.map(({ name }) => name), 'floor, in process'];
  const costs = [...found.map((all) => middle(all.map(({ cpuMs }) => cpuMs))), middle(inProcess)];
  const floors = FLOORS.map((name) => costs[names.indexOf(name)] ?? NaN);
  console.log(
    `\n${count} candidates, 40 features, 300 trees; ${clients} ${clients === 1 ? 'client' : 'clients'}, ${rounds} rounds\n`,
  );
  console.log(
    table(
      ['', 'CPU ms', '× Express', '× node:http', 'p50 ms', 'p99 ms', 'gen. CPU'],
      names.map((name, i) => {
        const all = found[i] ?? [];
        const cost = costs[i] ?? NaN;
        const latencies = all.flatMap((one) => one.latencies).sort((a, b) => a - b);
        const share = middle(all.map((one) => one.generatorShare));
        return [
          name,
          cost.toFixed(3),
          ...floors.map((floor) => (cost / floor).toFixed(2)),
          ms(median(latencies)),
          ms(percentile(latencies, 99)),
          Number.isNaN(share) ? '–' : `${(100 * share).toFixed(0)} %`,
        ];
      }),
    ),
  );
  return { count, clients, costs: new Map(names.map((name, i) => [name, costs[i] ?? NaN])) };
}

/** Writes the shapes in ascending order: a table, and a plot of those with one client. */
async function writePage(measured: readonly Shape[], short: boolean): Promise<void> {
  const shapes = [...measured].sort((a, b) => a.clients - b.clients || a.count - b.count);
  const names = [...(shapes[0]?.costs.keys() ?? [])];
  const rows = shapes.map(({ count, clients, costs }) => [
    count.toLocaleString('en'),
    String(clients),
    ...Array.from(costs.values(), (cost) => cost.toFixed(3)),
    ...FLOORS.map((floor) => ((costs.get(WARM) ?? NaN) / (costs.get(floor) ?? NaN)).toFixed(2)),
  ]);
  const head = ['candidates', 'clients', ...names, ...FLOORS.map((floor) => `${WARM} × ${floor}`)];
  const lines = [head, head.map(() => '--:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  const service = `Milliseconds of CPU for one request.\n\n${lines.join('\n')}`;
  await writeBlocks('docs/performance.md', { service }, short);
  const one = shapes.filter(({ clients }) => clients === 1);
  const plotted = names.map((name) => ({
    name,
    points: one.map(({ count, costs }) => ({ candidates: count, ms: costs.get(name) ?? NaN })),
  }));
  const label = 'CPU milliseconds of a request by its number of candidates';
  await writeCostPlot('performance', label, plotted);
}

/** @returns the CPU milliseconds of each request in this process */
function runHere(work: (text: string) => string, bodies: readonly Buffer[], requests: number): number {
  const before = process.cpuUsage();
  for (let i = 0; i < requests; i++) work((bodies[i % bodies.length] ?? Buffer.alloc(0)).toString());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / requests;
}
