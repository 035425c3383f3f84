import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRedisServer } from '../test/support/redis-server.js';
import { load, run, startContestant, warmUp, type Contestant, type Round } from './service/contestants.js';
import { bodiesOf, PROJECT } from './service/data.js';
import { writeItemsProject } from './support/items-project.js';
import { median, ms, percentile, table } from './support/measure.js';

const CANDIDATES = [1000, 100, 24];

/**
 * Measures the whole request through HTTP: up to 1,000 candidates with 40 features each, 300 trees of 64 leaves, and
 * a page of ten. Millrace, the naive service and the floor run in separate processes. Each server process reports its
 * own CPU time. All must give the same answers, which is checked first.
 */
export async function serviceBench(short: boolean): Promise<void> {
  const items = short ? 3_000 : 20_000;
  const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const redis = await startRedisServer();
  const contestants: Contestant[] = [];
  try {
    await writeItemsProject(folder, PROJECT);
    const start = async (name: string, module: string, args: string[], env = {}): Promise<void> => {
      const path = fileURLToPath(new URL(`./service/${module}.js`, import.meta.url));
      contestants.push(await startContestant(name, path, args, env));
    };
    const ours = { MILLRACE_PROJECT: folder, REDIS_URL: redis.url, LOG_LEVEL: 'warn', PORT: '0' };
    await start('naive, redis', 'naive', [redis.url]);
    await start('millrace, redis, no tables', 'millrace', [], { ...ours, MILLRACE_RESIDENT: 'off' });
    await start('millrace, redis, warm', 'millrace', [], { ...ours, MILLRACE_RESIDENT: 'all' });
    await start('floor, Express', 'floor', [String(items), 'express']);
    await start('floor, node:http', 'floor', [String(items), 'plain']);
    await load(redis.url, contestants[1]?.url ?? '', items);
    for (const count of short ? [1000] : CANDIDATES) {
      const bodies = bodiesOf(items, count, 16);
      await warmUp(contestants, items, bodies);
      for (const clients of [1, 8]) await compare(contestants, bodies, count, clients, short);
    }
  } finally {
    for (const { process: child } of contestants) child.kill('SIGKILL');
    await redis.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

async function compare(
  contestants: readonly Contestant[],
  bodies: readonly Buffer[],
  count: number,
  clients: number,
  short: boolean,
): Promise<void> {
  const rounds = short ? 3 : 9;
  const found = contestants.map((): Round[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, contestant] of contestants.entries()) {
      const slow = contestant.name.startsWith('naive') ? 8 : 1;
      const requests = Math.ceil((short ? 200 : 400) / slow);
      found[i]?.push(await run(contestant, bodies, requests, clients));
    }
  }
  const costs = found.map((all) => median(all.map(({ cpuMs }) => cpuMs).sort((a, b) => a - b)));
  const [naive = NaN, , , floor = NaN] = costs;
  console.log(
    `\n${count} candidates, 40 features, 300 trees; ${clients} ${clients === 1 ? 'client' : 'clients'}, ${rounds} rounds\n`,
  );
  console.log(
    table(
      ['', 'CPU ms', 'req/s CPU', 'of naive', 'of floor', 'p50 ms', 'p99 ms', 'gen. CPU'],
      contestants.map(({ name }, i) => {
        const all = found[i] ?? [];
        const cost = costs[i] ?? NaN;
        const latencies = all.flatMap((one) => one.latencies).sort((a, b) => a - b);
        const share = median(all.map((one) => one.generatorShare).sort((a, b) => a - b));
        return [
          name,
          cost.toFixed(3),
          (1000 / cost).toFixed(0),
          `1/${(naive / cost).toFixed(1)}`,
          (cost / floor).toFixed(2),
          ms(median(latencies)),
          ms(percentile(latencies, 99)),
          `${(100 * share).toFixed(0)} %`,
        ];
      }),
    ),
  );
  const [express = NaN, plain = NaN] = costs.slice(-2);
  console.log(`\nExpress costs ${(1000 * (express - plain)).toFixed(0)} µs of CPU per request of the floor`);
}
