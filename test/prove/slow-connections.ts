import { connect, type Socket } from 'node:net';
import { median, percentile } from '../../bench/support/measure.js';
import type { Proof } from './proof.js';
import { startGenerator, type Generator } from './support/generator.js';
import { ROUTE } from './support/ranking-project.js';
import { withService, type ProvedService } from './support/service.js';

/** Time limits that keep slow connections open during the whole measurement. */
const SETTINGS = {
  MILLRACE_RECEIVE_MS: '120000',
  MILLRACE_STALL_MS: '120000',
  MILLRACE_MAX_IN_FLIGHT: '100000',
};
const RATE = 200;
/** Maximum ratios of the CPU per ranking and of the p99, with slow connections to without; the median of the pairs. */
const MOST_CPU = 1.25;
const MOST_P99 = 2;
/** Interval between two writes of a slow connection, milliseconds. */
const TRICKLE_MS = 1_000;

/** The service is at rest if it uses less than this share of a core for this time. */
const SETTLED_SHARE = 0.15;
const SETTLE_MS = 300;

const HEAD = `POST ${ROUTE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;

interface Kind {
  readonly name: string;
  /** Sent when the connection opens. */
  readonly first: string;
  /** Sent repeatedly. */
  readonly trickle?: string;
  readonly isReading: boolean;
}

const KINDS: readonly Kind[] = [
  { name: 'idle', first: '', isReading: true },
  {
    name: 'slow heads',
    first: 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n',
    trickle: 'X: 1\r\n',
    isReading: true,
  },
  // This route has a long time limit, so the service waits for the body.
  {
    name: 'slow bodies',
    first: `${HEAD.replace(ROUTE, '/api/v1/entities/get')}Content-Length: 1000\r\n\r\n`,
    trickle: ' ',
    isReading: true,
  },
  // The client does not read the answers, which have about 100 kB each.
  {
    name: 'stalled readers',
    first: 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(8),
    isReading: false,
  },
];

interface Sample {
  readonly cpuMs: number;
  readonly p99: number;
}

export const slowConnections: Proof = {
  name: 'slow-connections',
  summary: 'CPU and p99 of rankings beside 2,000 slow connections of each kind, against none',
  run: async ({ short }) => {
    const count = short ? 300 : 2000;
    const pairs = short ? 2 : 5;
    const seconds = short ? 0.7 : 5;
    const generator = startGenerator();
    const rows: string[] = [];
    const missed: string[] = [];
    try {
      await withService('embedded', { ...SETTINGS, MILLRACE_REQUEST_MS: '120000' }, async (service) => {
        await sample(service, generator, short ? 1 : 5);
        for (const kind of KINDS) {
          const results: (readonly [Sample, Sample])[] = [];
          for (let pair = 0; pair < pairs; pair++) {
            const without = await sample(service, generator, seconds);
            const slow = await openSlow(service.port, kind, count);
            await settled(service);
            const beside = await sample(service, generator, seconds);
            slow.close();
            await pause(300);
            results.push([without, beside]);
          }
          const ratio = (of: (one: Sample) => number): number =>
            median(results.map(([without, beside]) => of(beside) / of(without)).sort((a, b) => a - b));
          const middle = (side: 0 | 1, of: (one: Sample) => number): string =>
            median(results.map((pair) => of(pair[side])).sort((a, b) => a - b)).toFixed(2);
          const [cpu, p99] = [ratio((one) => one.cpuMs), ratio((one) => one.p99)];
          const cells = [
            `${count} ${kind.name}`,
            middle(0, (one) => one.cpuMs),
            middle(1, (one) => one.cpuMs),
            cpu.toFixed(2),
            middle(0, (one) => one.p99),
            middle(1, (one) => one.p99),
            p99.toFixed(2),
          ];
          rows.push(`| ${cells.join(' | ')} |`);
          if (cpu > MOST_CPU)
            missed.push(`${kind.name}: CPU a ranking × ${cpu.toFixed(2)}, above ${MOST_CPU}`);
          // The p99 of a short run is its slowest ranking or two, which says nothing.
          if (!short && p99 > MOST_P99)
            missed.push(`${kind.name}: p99 × ${p99.toFixed(2)}, above ${MOST_P99}`);
        }
      });
    } finally {
      generator.close();
    }
    const head = [
      '| connections | CPU ms a ranking, none | beside them | ratio | p99 ms, none | beside them | ratio |',
      '| --- | --- | --- | --- | --- | --- | --- |',
    ];
    return { markdown: [...head, ...rows].join('\n'), missed };
  },
};

async function sample(service: ProvedService, generator: Generator, seconds: number): Promise<Sample> {
  const before = await service.usage();
  const { okMs } = await generator.send({ port: service.port, rate: RATE, seconds, clients: 16 });
  const after = await service.usage();
  return { cpuMs: (after.cpuMs - before.cpuMs) / okMs.length, p99: percentile(okMs, 99) };
}

/** Opens slow connections and waits until all of them are connected. */
async function openSlow(port: number, kind: Kind, count: number): Promise<{ close(): void }> {
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    if (!kind.isReading) socket.pause();
    if (kind.first !== '') socket.write(kind.first);
    sockets.push(socket);
    if (i % 50 === 49) await pause(20);
  }
  const { trickle } = kind;
  let next = 0;
  const step = Math.ceil(count / 100);
  const timer =
    trickle === undefined
      ? undefined
      : setInterval(() => {
          for (let i = 0; i < step; i++) sockets[next++ % count]?.write(trickle);
        }, TRICKLE_MS / 100);
  await pause(500);
  return {
    close: () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/**
 * Waits until the service has answered what the connections sent when they opened. That work is the work of requests, and
 * not the cost of connections that are open.
 */
async function settled(service: ProvedService): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const before = await service.usage();
    await pause(SETTLE_MS);
    const after = await service.usage();
    if (after.cpuMs - before.cpuMs < SETTLED_SHARE * SETTLE_MS) return;
  }
  throw new Error('the service did not come to rest beside the slow connections');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
