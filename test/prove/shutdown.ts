import { newTally, runClient, type Tally } from '../support/counting-client.js';
import { startProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof } from './proof.js';
import { causesText, RANKING, withSmallProject } from './support/small-service.js';

const CLIENTS = 32;
const LAME_DUCK_MS = 300;

/** Pause of a client between an answer and its next request, milliseconds. */
const LOADS = [
  { name: 'busy, no pause', pauseMs: () => 0 },
  { name: 'light, pauses of 0 to 100 ms', pauseMs: () => Math.random() * 100 },
] as const;

export const shutdown: Proof = {
  name: 'shutdown',
  summary: 'requests lost when the service is stopped under load with SIGTERM',
  run: ({ short }) =>
    withSmallProject(async (root) => {
      const [rounds, requests] = short ? [4, 1_200] : [50, 100_000];
      const tallies = LOADS.map(newTally);
      for (let round = 0; round < rounds; round++) {
        const at = round % LOADS.length;
        const [load, tally] = [LOADS[at], tallies[at]];
        if (load === undefined || tally === undefined) throw new Error('no load of this number');
        await stopOnce(root, load.pauseMs, requests / rounds, tally);
        console.log(
          `round ${round + 1} of ${rounds}: ${tally.answered} answered, ${tally.lost} lost (${load.name})`,
        );
      }
      return report(tallies, rounds, requests);
    }),
};

/** Sends at least `requests` requests, stops the service in the middle, and tallies the outcome of each request. */
async function stopOnce(root: string, thinkMs: () => number, requests: number, tally: Tally): Promise<void> {
  const service = await startProcess(['--project', root, '--store', 'embedded', '--port', '0'], {
    MILLRACE_LAME_DUCK_MS: String(LAME_DUCK_MS),
  });
  const stop = new AbortController();
  const options = { port: service.port, request: RANKING, thinkMs, stop: stop.signal };
  const clients = Array.from({ length: CLIENTS }, () => runClient(options, tally));
  const enough = tally.answered + requests;
  await until('the requests of a round', () => tally.answered >= enough, 120_000);
  service.child.kill('SIGTERM');
  const code = await service.ended;
  stop.abort();
  await Promise.all(clients);
  if (code !== 0) throw new Error(`the service ended with ${code}:\n${service.stderr()}`);
}

function report(
  tallies: readonly Tally[],
  rounds: number,
  requests: number,
): { markdown: string; missed: string[] } {
  const rows = LOADS.map(({ name }, at) => {
    const { answered = 0, failed = 0, closing = 0, lost = 0 } = tallies[at] ?? {};
    return `| ${name} | ${Math.ceil((rounds - at) / LOADS.length)} | ${answered + lost} | ${closing} | ${failed} | ${lost} |`;
  });
  const missed = tallies.flatMap(({ lost, failed, causes }, at) => [
    ...(lost > 0 ? [`lost requests (${LOADS[at]?.name}): 0, found ${lost} (${causesText(causes)})`] : []),
    ...(failed > 0 ? [`answers other than 200 (${LOADS[at]?.name}): 0, found ${failed}`] : []),
  ]);
  const total = tallies.reduce((sum, { answered }) => sum + answered, 0);
  if (total < requests) missed.push(`requests: at least ${requests}, found ${total}`);
  const markdown = [
    `${CLIENTS} keep-alive connections, lame duck ${LAME_DUCK_MS} ms. Closed: answers with \`Connection: close\`.`,
    '',
    '| load | SIGTERM | requests | closed | not 200 | lost |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
  return { markdown, missed };
}
