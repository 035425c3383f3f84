import { setMaxListeners } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { load, run, startContestant, warmUp, type Contestant } from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { table } from './support/measure.js';
import { intervalOf, pairHead, summaryOf, type Pair } from './support/pairs.js';

const ITEMS = 2_000;
const WORKBENCHES = 10;
const CANDIDATES = 24;
/** What an open page asks for, each so often: the state of the project, all instances, and a page with reasons. */
const EVERY_MS = { project: 1_000, instances: 5_000, explain: 2_000 };
/** The most that the upper end of the interval may be. */
const MOST = 0.02;
const MODULE = fileURLToPath(new URL('./service/millrace.js', import.meta.url));

/**
 * Compares the CPU per request of a service that ranks, with ten open workbenches and without any. The workbenches are those of
 * `MILLRACE_WORKBENCH=only`, a process of its own on the same Redis.
 */
export async function workbenchesBench(short: boolean): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const started: Contestant[] = [];
  const start = async (workbench: 'off' | 'only'): Promise<Contestant> => {
    const one = await startContestant(workbench, MODULE, [], {
      ...{ MILLRACE_PROJECT: folder, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' },
      ...{ MILLRACE_RESIDENT: 'all', MILLRACE_WORKBENCH: workbench },
    });
    started.push(one);
    return one;
  };
  try {
    await writeItemsProject(folder, PROJECT);
    const service = await start('off');
    const workbench = await start('only');
    await load(redis.url, service.url, ITEMS);
    const bodies = bodiesOf(ITEMS, CANDIDATES, 16);
    await warmUp([service], ITEMS, bodies);
    const pairs: Pair[] = [];
    const requests = short ? 4_000 : 12_000;
    for (let i = 0; i < (short ? 8 : 20); i++)
      pairs.push(await measure({ service, workbench, bodies, requests }, i % 2));
    console.log(table(pairHead('closed', 'open'), [summaryOf(CANDIDATES, pairs)]));
    const { high } = intervalOf(pairs);
    if (high <= MOST) return;
    console.error(`ten workbenches may cost ${(100 * high).toFixed(1)} % of CPU per request`);
    process.exitCode = 1;
  } finally {
    for (const { process: child } of started) child.kill('SIGKILL');
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Setup {
  readonly service: Contestant;
  readonly workbench: Contestant;
  readonly bodies: readonly Buffer[];
  /** Of each block. */
  readonly requests: number;
}

/** Four blocks of requests, by turns with open workbenches and without. @param first whether the first one is open */
async function measure({ service, workbench, bodies, requests }: Setup, first: number): Promise<Pair> {
  const costs: [number[], number[]] = [[], []];
  for (const isOpen of [first, 1 - first, 1 - first, first]) {
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    const open = isOpen === 1 ? openAll(workbench.url, bodies, stop.signal) : Promise.resolve();
    costs[isOpen]?.push((await run(service, bodies, requests, 4)).cpuMs);
    stop.abort();
    await open;
  }
  const [closed, opened] = costs.map(([one = NaN, other = NaN]) => Math.sqrt(one * other));
  return { before: closed ?? NaN, after: opened ?? NaN };
}

/** Asks for what open pages ask for, until it is stopped. */
async function openAll(url: string, bodies: readonly Buffer[], signal: AbortSignal): Promise<void> {
  const repeat = async (every: number, at: number, ask: () => Promise<Response>): Promise<void> => {
    // The pages were not opened at one moment.
    await pause((every * at) / WORKBENCHES, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted) {
      const answer = await ask();
      if (!answer.ok) throw new Error(`${answer.url} answers ${answer.status}: ${await answer.text()}`);
      await answer.arrayBuffer();
      await pause(every, undefined, { signal }).catch(() => undefined);
    }
  };
  const headers = { 'content-type': 'application/json' };
  await Promise.all(
    Array.from({ length: WORKBENCHES }, (_, at) => [
      repeat(EVERY_MS.project, at, () => fetch(`${url}/workbench/project`)),
      repeat(EVERY_MS.instances, at, () => fetch(`${url}/api/v1/instances`)),
      repeat(EVERY_MS.explain, at, () =>
        fetch(`${url}/api/v1/items/explain`, { method: 'POST', headers, body: bodies[at] ?? null }),
      ),
    ]).flat(),
  );
}
