import { newTally, runClient, type Tally } from '../support/counting-client.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof } from './proof.js';
import { causesText, LONE_RANKING, RANKING, withSmallProject } from './support/small-service.js';

const CLIENTS = 32;
/** Connections cost more than these rankings: with fewer clients the service need not shed. */
const LONE_CLIENTS = 8;
const LAME_DUCK_MS = 300;

interface Load {
  readonly name: string;
  /** Pause of a client between an answer and its next request, milliseconds. */
  readonly pauseMs: () => number;
  /** True if a client opens a connection for each request. */
  readonly isLone?: true;
  readonly workers?: number;
}

const busy = (): number => 0;
const light = (): number => Math.random() * 100;
const LOADS: readonly Load[] = [
  { name: 'busy, no pause', pauseMs: busy },
  { name: 'light, pauses of 0 to 100 ms', pauseMs: light },
  { name: 'a connection for each request', pauseMs: busy, isLone: true },
  { name: 'a connection for each request, 2 workers', pauseMs: busy, isLone: true, workers: 2 },
];

export const shutdown: Proof = {
  name: 'shutdown',
  summary: 'requests lost when the service is stopped under load with SIGTERM',
  run: ({ short, only }) =>
    withSmallProject(async (root) => {
      const [rounds, requests] = short ? [LOADS.length, 1_200] : [25 * LOADS.length, 200_000];
      const loads = LOADS.filter(({ name }) => only?.test(name) ?? true);
      const tallies = loads.map(newTally);
      const redis = await startRedisServer();
      try {
        for (let round = 0; round < rounds; round++) {
          const at = round % loads.length;
          const [load, tally] = [loads[at], tallies[at]];
          if (load === undefined || tally === undefined) throw new Error('no load of this name');
          await stopOnce(root, redis.url, load, requests / rounds, tally);
          console.log(
            `round ${round + 1} of ${rounds}: ${tally.answered} answered, ${tally.lost} lost (${load.name})`,
          );
        }
      } finally {
        await redis.remove();
      }
      return report(loads, tallies, rounds, requests);
    }),
};

/** Sends at least `requests` requests, stops the service in the middle, and tallies the outcome of each request. */
async function stopOnce(
  root: string,
  redisUrl: string,
  { pauseMs, isLone, workers }: Load,
  requests: number,
  tally: Tally,
): Promise<void> {
  const store = workers === undefined ? ['--store', 'embedded'] : ['--workers', String(workers)];
  const service = await startProcess(['--project', root, '--port', '0', ...store], {
    REDIS_URL: redisUrl,
    MILLRACE_LAME_DUCK_MS: String(LAME_DUCK_MS),
    // Closed loops of so many clients wait on a busy machine. This proof counts what the stop loses, not what load sheds.
    MILLRACE_QUEUE_MS: '2000',
  });
  const stop = new AbortController();
  const options = {
    port: service.port,
    request: isLone ? LONE_RANKING : RANKING,
    thinkMs: pauseMs,
    stop: stop.signal,
    ...(isLone ? { reconnectMs: pauseMs } : {}),
  };
  const clients = Array.from({ length: isLone ? LONE_CLIENTS : CLIENTS }, () => runClient(options, tally));
  const enough = tally.answered + requests;
  await until('the requests of a round', () => tally.answered >= enough, 120_000);
  service.child.kill('SIGTERM');
  const code = await service.ended;
  stop.abort();
  await Promise.all(clients);
  if (code !== 0) throw new Error(`the service ended with ${code}:\n${service.stderr()}`);
}

function report(
  loads: readonly Load[],
  tallies: readonly Tally[],
  rounds: number,
  requests: number,
): { markdown: string; missed: string[] } {
  const rows = loads.map(({ name }, at) => {
    const { answered = 0, failed = 0, closing = 0, lost = 0 } = tallies[at] ?? {};
    return `| ${name} | ${Math.ceil((rounds - at) / loads.length)} | ${answered + lost} | ${closing} | ${failed} | ${lost} |`;
  });
  const missed = tallies.flatMap(({ lost, failed, causes }, at) => [
    ...(lost > 0 ? [`lost requests (${loads[at]?.name}): 0, found ${lost} (${causesText(causes)})`] : []),
    ...(failed > 0 ? [`answers other than 200 (${loads[at]?.name}): 0, found ${failed}`] : []),
  ]);
  const total = tallies.reduce((sum, { answered }) => sum + answered, 0);
  if (total < requests) missed.push(`requests: at least ${requests}, found ${total}`);
  const markdown = [
    `${CLIENTS} clients, or ${LONE_CLIENTS} with a connection for each request; lame duck ${LAME_DUCK_MS} ms. Closed: answers with \`Connection: close\`.`,
    '',
    '| load | SIGTERM | requests | closed | not 200 | lost |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  return { markdown, missed };
}
