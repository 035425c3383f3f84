import { percentile } from '../../bench/support/measure.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { startGenerator, type Generator } from './support/generator.js';
import type { LoadResult } from './support/load-generator.js';
import { LIMIT_MS } from './support/ranking-project.js';
import { withService, type ProvedService } from './support/service.js';

const STORES = ['embedded', 'redis'] as const;
const FACTORS = [0.5, 1, 1.5, 2, 3, 5];
const CLIENTS = 512;
/** The last byte of an admitted request may be this late, milliseconds. */
const TOLERANCE_MS = 50;
/** Minimum ratio of goodput to peak goodput, and maximum ratio of memory to the memory at 0.5 × capacity. */
const LEAST_GOODPUT = 0.9;
const MOST_MEMORY = 1.2;

interface Row {
  readonly factor: number;
  readonly offered: number;
  /** Answers with status 200 within the time limit, per second. */
  readonly goodput: number;
  readonly refused: number;
  readonly lostOrFailed: number;
  readonly okMs: readonly number[];
  readonly refusedMs: readonly number[];
  readonly goodPerCpuSecond: number;
  readonly rssBytes: number;
}

export const overload: Proof = {
  name: 'overload',
  summary: 'goodput, deadlines and memory at 0.5 to 5 × capacity, both stores, open loop',
  run: async ({ short }) => {
    const generator = startGenerator();
    try {
      const results: ProofResult[] = [];
      for (const store of STORES)
        results.push(
          await withService(store, {}, (service) => proveOn(store, service, generator, { short })),
        );
      return {
        markdown: results.map(({ markdown }) => markdown).join('\n\n'),
        missed: results.flatMap(({ missed }) => missed),
      };
    } finally {
      generator.close();
    }
  },
};

async function proveOn(
  store: string,
  service: ProvedService,
  generator: Generator,
  { short }: ProofOptions,
): Promise<ProofResult> {
  const { port } = service;
  const closedLoop = (seconds: number): Promise<LoadResult> =>
    generator.send({ port, rate: 0, seconds, clients: 16 });
  await closedLoop(short ? 2 : 5);
  const measured = short ? 1.5 : 5;
  const capacity = (await closedLoop(measured)).okMs.length / measured;
  const rows: Row[] = [];
  for (const factor of FACTORS)
    rows.push(await rowOf(factor, capacity, service, generator, short ? 1.2 : 15));
  const [recovered, whole] = await recovery(capacity, service, generator);
  const peak = Math.max(...rows.map(({ goodput }) => goodput));
  const before = rows[0]?.rssBytes ?? NaN;
  const missed = [
    ...rows
      .filter(({ factor, goodput }) => factor >= 1 && goodput < LEAST_GOODPUT * peak)
      .map(
        ({ factor, goodput }) =>
          `${store}: goodput at ${factor} × is ${goodput.toFixed(0)}/s, below ${LEAST_GOODPUT} of ${peak.toFixed(0)}/s`,
      ),
    ...rows
      .filter(({ okMs }) => percentile(okMs, 99.9) > LIMIT_MS + TOLERANCE_MS)
      .map(
        ({ factor, okMs }) =>
          `${store}: p99.9 at ${factor} × is ${percentile(okMs, 99.9).toFixed(0)} ms, above ${LIMIT_MS + TOLERANCE_MS} ms`,
      ),
    ...rows
      .filter(({ lostOrFailed }) => lostOrFailed > 0)
      .map(({ factor, lostOrFailed }) => `${store}: ${lostOrFailed} requests at ${factor} × got no answer`),
    ...rows
      .filter(({ rssBytes }) => rssBytes > MOST_MEMORY * before)
      .map(
        ({ factor, rssBytes }) =>
          `${store}: memory at ${factor} × is ${megabytes(rssBytes)}, above ${MOST_MEMORY} of ${megabytes(before)}`,
      ),
    ...(recovered < whole
      ? [`${store}: one second after the overload ${whole - recovered} of ${whole} requests fail`]
      : []),
  ];
  const table = [
    `Store \`${store}\`, capacity ${capacity.toFixed(0)} rankings a second:`,
    '',
    '| load | offered/s | goodput/s | of the peak | per CPU s | p50 ms | p99.9 ms | refused/s | refusal p99 ms | MB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(
      (row) =>
        `| ${[
          `${row.factor} ×`,
          row.offered.toFixed(0),
          row.goodput.toFixed(0),
          (row.goodput / peak).toFixed(2),
          row.goodPerCpuSecond.toFixed(0),
          percentile(row.okMs, 50).toFixed(0),
          percentile(row.okMs, 99.9).toFixed(0),
          row.refused.toFixed(0),
          row.refusedMs.length === 0 ? '–' : percentile(row.refusedMs, 99).toFixed(0),
          megabytes(row.rssBytes),
        ].join(' | ')} |`,
    ),
    '',
    `One second after the last overload, at 0.5 ×, ${recovered} of ${whole} requests are answered in time.`,
  ];
  return { markdown: table.join('\n'), missed };
}

async function rowOf(
  factor: number,
  capacity: number,
  service: ProvedService,
  generator: Generator,
  seconds: number,
): Promise<Row> {
  const rate = factor * capacity;
  const before = await service.usage();
  const result = await generator.send({ port: service.port, rate, seconds, clients: CLIENTS });
  const after = await service.usage();
  const good = result.okMs.filter((ms) => ms <= LIMIT_MS).length;
  return {
    factor,
    offered: result.sent / seconds,
    goodput: good / seconds,
    refused: result.refusedMs.length / seconds,
    lostOrFailed: result.failed + result.unanswered,
    okMs: result.okMs,
    refusedMs: result.refusedMs,
    goodPerCpuSecond: good / ((after.cpuMs - before.cpuMs) / 1000),
    rssBytes: after.rssBytes,
  };
}

/**
 * Overloads the service for a second, then sends half of its capacity for two seconds. Returns the number of timely
 * answers and of requests in the last second.
 */
async function recovery(
  capacity: number,
  { port }: ProvedService,
  generator: Generator,
): Promise<[number, number]> {
  await generator.send({ port, rate: 5 * capacity, seconds: 1, clients: CLIENTS });
  await generator.send({ port, rate: 0.5 * capacity, seconds: 1, clients: CLIENTS });
  const { okMs, sent } = await generator.send({ port, rate: 0.5 * capacity, seconds: 1, clients: CLIENTS });
  return [okMs.filter((ms) => ms <= LIMIT_MS).length, sent];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
