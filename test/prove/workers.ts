import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { newTally, runClient, type Tally } from '../support/counting-client.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof } from './proof.js';
import { RANKING, withSmallProject } from './support/small-service.js';

const CLIENTS = 16;
/** Pause between an answer and the next request when the split is measured, milliseconds. No worker is saturated. */
const PAUSE_MS = (): number => 10 + 20 * Math.random();
const LEAST_EFFICIENCY = 0.95;
const SPLIT = [45, 55] as const;
/** Clock ticks per second in /proc/PID/stat. */
const TICKS = 100;

interface Run {
  readonly perCpuSecond: number;
  /** Percentage of the requests that the first of two workers answered. */
  readonly split: number;
}

export const workers: Proof = {
  name: 'workers',
  summary:
    'CPU a request with 2 workers against one process, load split, requests lost by kill -9 of a worker',
  run: ({ short }) =>
    withSmallProject(async (root) => {
      const redis = await startRedisServer();
      const [warm, pairs, seconds, kills] = short ? [4_000, 2, 2, 1] : [20_000, 10, 10, 20];
      const serve = (count: number): Promise<ServiceProcess> =>
        startProcess(['--project', root, '--port', '0', '--workers', String(count)], {
          REDIS_URL: redis.url,
          MILLRACE_LAME_DUCK_MS: '0',
          LOG_LEVEL: 'info',
        });
      try {
        const [one, two] = [await serve(1), await serve(2)];
        const runs: (readonly [Run, Run])[] = [];
        try {
          await Promise.all([warmUp(one, warm), warmUp(two, 2 * warm)]);
          for (let pair = 0; pair < pairs; pair++) {
            // The measurements alternate, so that other work on the machine affects both equally.
            const first = await measure(one, seconds);
            const second = await measure(two, seconds);
            runs.push([first, second]);
            console.log(
              `pair ${pair + 1}: ${first.perCpuSecond.toFixed(0)} and ${second.perCpuSecond.toFixed(0)} requests a CPU second, split ${second.split.toFixed(1)} %`,
            );
          }
        } finally {
          one.child.kill('SIGKILL');
          await one.ended;
        }
        const killed = newTally();
        let had = 0;
        try {
          for (let kill = 0; kill < kills; kill++) had += await killWorker(two, killed);
        } finally {
          two.child.kill('SIGKILL');
          await two.ended;
        }
        return report(runs, killed, had, kills);
      } finally {
        await redis.remove();
      }
    }),
};

/** Warms up: sends requests without pauses, so that V8 compiles the hot code in each process. */
async function warmUp(service: ServiceProcess, requests: number): Promise<void> {
  let left = requests;
  while (left > 0) left -= (await load(service, 1, () => 0)).answered;
}

/** Sends requests for `seconds` seconds. */
async function load({ port }: ServiceProcess, seconds: number, thinkMs: () => number): Promise<Tally> {
  const tally = newTally();
  const stop = new AbortController();
  const options = { port, request: RANKING, thinkMs, stop: stop.signal };
  const clients = Array.from({ length: CLIENTS }, () => runClient(options, tally));
  await pause(seconds * 1000);
  stop.abort();
  await Promise.all(clients);
  return tally;
}

async function measure(service: ServiceProcess, seconds: number): Promise<Run> {
  const cpu = cpuSeconds(service.pid);
  const { answered } = await load(service, seconds, () => 0);
  const used = cpuSeconds(service.pid) - cpu;
  const requests = await requestsOf(service);
  if (requests.size > 0) await load(service, seconds, PAUSE_MS);
  const after = await requestsOf(service);
  const [first = 0, second = 0] = [1, 2].map((at) => (after.get(at) ?? 0) - (requests.get(at) ?? 0));
  return { perCpuSecond: answered / used, split: (100 * first) / (first + second) };
}

/** User and system time of a process and its children. */
function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
  return (
    own +
    (children === '' ? 0 : children.split(' ').reduce((sum, child) => sum + cpuSeconds(Number(child)), 0))
  );
}

/** The value of a metric for each worker. */
async function ofWorkers({ url }: ServiceProcess, metric: string): Promise<Map<number, number>> {
  const answer = await fetch(`${url}/metrics`, { headers: { connection: 'close' } });
  const found = (await answer.text()).matchAll(new RegExp(`^${metric}\\{worker="(\\d+)"\\} (\\d+)$`, 'gm'));
  return new Map(Array.from(found, ([, worker, value]) => [Number(worker), Number(value)]));
}

const requestsOf = (service: ServiceProcess): Promise<Map<number, number>> =>
  ofWorkers(service, 'millrace_worker_requests_total');

/**
 * Kills a worker under load.
 * @returns the number of its connections; each has at most one request in flight
 */
async function killWorker(service: ServiceProcess, tally: Tally): Promise<number> {
  const before = tally.answered;
  const stop = new AbortController();
  const options = { port: service.port, request: RANKING, thinkMs: () => 1, stop: stop.signal };
  const clients = Array.from({ length: CLIENTS }, () => runClient(options, tally));
  await until('a loaded service', () => tally.answered > before + 20 * CLIENTS);
  const pids = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'latin1').trim().split(' ');
  // All clients are connected, so this counts all their connections. One worker also has the connection of the scrape.
  const connections = await ofWorkers(service, 'millrace_worker_connections');
  const started = service.lines.length;
  process.kill(Number(pids[0]), 'SIGKILL');
  await until('the end of a worker', () => service.lines.slice(started).some(({ end }) => end === 'SIGKILL'));
  const number = service.lines.slice(started).find(({ end }) => end === 'SIGKILL')?.worker as number;
  await until('another worker', async () => {
    const requests = await requestsOf(service);
    return requests.size === 2;
  });
  stop.abort();
  await Promise.all(clients);
  return connections.get(number) ?? 0;
}

function report(
  runs: readonly (readonly [Run, Run])[],
  killed: Tally,
  had: number,
  kills: number,
): { markdown: string; missed: string[] } {
  const median = (values: readonly number[]): number =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
  const one = median(runs.map(([run]) => run.perCpuSecond));
  const two = median(runs.map(([, run]) => run.perCpuSecond));
  const efficiency = median(runs.map(([a, b]) => b.perCpuSecond / a.perCpuSecond));
  const splits = runs.map(([, { split }]) => split);
  const [least, most] = [Math.min(...splits), Math.max(...splits)];
  const missed = [
    ...(efficiency < LEAST_EFFICIENCY
      ? [
          `requests a CPU second, 2 workers against one process: ${LEAST_EFFICIENCY}, found ${efficiency.toFixed(3)}`,
        ]
      : []),
    ...(least < SPLIT[0] || most > SPLIT[1]
      ? [
          `share of the first worker: ${SPLIT.join(' to ')} %, found ${least.toFixed(1)} to ${most.toFixed(1)} %`,
        ]
      : []),
    ...(killed.lost > had ? [`requests lost by kill -9: at most ${had}, found ${killed.lost}`] : []),
  ];
  const markdown = [
    '| figure | bound | measured |',
    '| --- | --- | --- |',
    `| requests a CPU second of the service, one process | | ${one.toFixed(0)} |`,
    `| the same, 2 workers and the primary | | ${two.toFixed(0)} |`,
    `| ratio, median of ${runs.length} interleaved pairs | at least ${LEAST_EFFICIENCY} | ${efficiency.toFixed(3)} |`,
    `| share of the first of 2 workers, ${CLIENTS} connections | ${SPLIT.join(' to ')} % | ${least.toFixed(1)} to ${most.toFixed(1)} % |`,
    `| requests lost by ${kills} × kill -9 of a worker | at most ${had}, its open connections | ${killed.lost} |`,
  ].join('\n');
  return { markdown, missed };
}
