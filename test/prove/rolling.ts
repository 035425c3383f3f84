import { newTally, runClient } from '../support/counting-client.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof } from './proof.js';
import { PROBE_MS, startBalancer, type Balancer } from './support/balancer.js';
import { causesText, RANKING, withSmallProject } from './support/small-service.js';

const INSTANCES = 3;
const CLIENTS = 24;
const LAME_DUCK_MS = 1000;

export const rolling: Proof = {
  name: 'rolling',
  summary: 'requests lost in a rolling restart of three instances behind a balancer that watches /readyz',
  run: ({ short }) =>
    withSmallProject(async (root) => {
      const restarts = short ? 1 : 10;
      const redis = await startRedisServer();
      const balancer = await startBalancer();
      const tally = newTally();
      const stop = new AbortController();
      const services: ServiceProcess[] = [];
      try {
        const start = (): Promise<ServiceProcess> => startInstance(root, redis.url, balancer);
        for (let i = 0; i < INSTANCES; i++) services.push(await start());
        const clients = Array.from({ length: CLIENTS }, (_, i) =>
          runClient(
            {
              port: balancer.port,
              request: RANKING,
              // Clients range from busy ones to ones that pause for up to about a second.
              thinkMs: () => (i % 4) ** 3 * 40 * Math.random(),
              stop: stop.signal,
            },
            tally,
          ),
        );
        for (let restart = 0; restart < restarts; restart++) {
          for (const [at, old] of services.entries()) {
            old.child.kill('SIGTERM');
            await old.ended;
            balancer.instances.delete(old.port);
            services[at] = await start();
          }
          console.log(
            `restart ${restart + 1} of ${restarts}: ${tally.answered} answered, ${tally.lost} lost`,
          );
        }
        stop.abort();
        await Promise.all(clients);
      } finally {
        stop.abort();
        for (const { child } of services) child.kill('SIGKILL');
        await balancer.close();
        await redis.remove();
      }
      const { answered, lost, failed, refused, causes } = tally;
      const markdown = [
        `The balancer asks each instance for /readyz every ${PROBE_MS} ms; lame duck ${LAME_DUCK_MS} ms.`,
        '',
        '| instances | restarts of each | clients | requests | not 200 | lost |',
        '| --- | --- | --- | --- | --- | --- |',
        `| ${INSTANCES} | ${restarts} | ${CLIENTS} | ${answered + lost} | ${failed} | ${lost} |`,
      ].join('\n');
      const missed = [
        ...(lost > 0 ? [`lost requests: 0, found ${lost} (${causesText(causes)})`] : []),
        ...(failed > 0 ? [`answers other than 200: 0, found ${failed}`] : []),
        ...(balancer.turnedAway() > 0
          ? [`connections while no instance was ready: 0, found ${balancer.turnedAway()}`]
          : []),
        ...(refused > 0 ? [`refused connections: 0, found ${refused}`] : []),
      ];
      return { markdown, missed };
    }),
};

/** Starts an instance. Resolves when the balancer sends connections to it. */
async function startInstance(root: string, redisUrl: string, balancer: Balancer): Promise<ServiceProcess> {
  const service = await startProcess(['--project', root, '--port', '0'], {
    REDIS_URL: redisUrl,
    MILLRACE_LAME_DUCK_MS: String(LAME_DUCK_MS),
  });
  balancer.instances.add(service.port);
  await until('an instance that is ready', () => balancer.isReady(service.port));
  return service;
}
