import { connect } from 'node:net';
import { percentile } from '../../bench/support/measure.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { startGenerator, type Generator } from './support/generator.js';
import { canPin, pinned } from './support/pinned.js';
import type { LoadResult } from './support/load-generator.js';
import { CANDIDATES, LIMIT_MS } from './support/ranking-project.js';
import { withService, type ProvedService } from './support/service.js';

const STORES = ['embedded', 'redis'] as const;
const FACTORS = [0.5, 1, 1.5, 2, 3, 5];
const CLIENTS = 512;
/** The candidates of a ranking in the full proof. The short one has those of `CANDIDATES`. */
const SIZES = [24, CANDIDATES, 300];
const PLACES = canPin
  ? 'The service and the generator run on a core each.'
  : 'The service and the generator share the cores: `taskset` or a second core is missing.';
/** The last byte of an admitted request may be this late, milliseconds. */
const TOLERANCE_MS = 50;
/**
 * At k × the peak, each ranking pays for k - 1 refusals. If a refusal costs ρ of a ranking, the service can answer (1 - kρ) / (1 - ρ)
 * of its peak. It must answer this part of that.
 */
const LEAST_OF_POSSIBLE = 0.95;
const LEAST_OF_ONE_SHOT = 0.6;
/** Clients that send after each answer, and the candidates of their rankings. */
const LOOPS = [16, 64].flatMap((clients) => [24, 100, 1000].map((candidates) => ({ clients, candidates })));
/** Requests a second while the cost of a refusal is measured: connections that are used in turn cost more than a few busy ones. */
const REFUSALS_PER_SECOND = 10_000;
/** Maximum ratio of memory to the memory at 0.5 × capacity. */
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
  summary:
    'goodput, deadlines and memory at 0.5 to 5 × capacity, both stores; storms of connections, closed loops',
  run: async ({ short }) => {
    const generator = startGenerator(pinned(1));
    try {
      const refusalMs = await costOfRefusal(generator, short);
      const results: ProofResult[] = [];
      for (const store of STORES)
        await withService(
          store,
          {},
          async (service) => {
            for (const candidates of short ? [CANDIDATES] : SIZES)
              results.push(await proveOn({ store, service, generator, candidates, short, refusalMs }));
            if (short) return;
            results.push(await stormsOn(store, service, generator), await loopsOn(store, service, generator));
          },
          pinned(0),
        );
      return {
        markdown: [PLACES, ...results.map(({ markdown }) => markdown)].join('\n\n'),
        missed: results.flatMap(({ missed }) => missed),
      };
    } finally {
      generator.close();
    }
  },
};

interface Setup extends ProofOptions {
  readonly store: string;
  readonly service: ProvedService;
  readonly generator: Generator;
  readonly candidates: number;
  /** The CPU of a refusal, in milliseconds. */
  readonly refusalMs: number;
}

async function proveOn(setup: Setup): Promise<ProofResult> {
  const { service, generator, candidates, short, refusalMs } = setup;
  const store = `${setup.store}, ${candidates} candidates`;
  const { port } = service;
  const closedLoop = (seconds: number): Promise<LoadResult> =>
    generator.send({ port, rate: 0, seconds, clients: 16, candidates });
  await closedLoop(short ? 2 : 5);
  const measured = short ? 1.5 : 5;
  const capacity = (await closedLoop(measured)).okMs.length / measured;
  const rows: Row[] = [];
  for (const factor of FACTORS) rows.push(await rowOf(factor, capacity, setup));
  const [recovered, whole] = await recovery(capacity, setup);
  const peak = Math.max(...rows.map(({ goodput }) => goodput));
  const share = (refusalMs / 1000) * Math.max(...rows.map(({ goodPerCpuSecond }) => goodPerCpuSecond));
  const least = ({ offered }: Row): number =>
    Math.min(1, (LEAST_OF_POSSIBLE * Math.max(0, 1 - (offered / peak) * share)) / (1 - share));
  const before = rows[0]?.rssBytes ?? NaN;
  const missed = [
    ...rows
      .filter((row) => row.factor >= 1 && row.goodput < least(row) * Math.min(peak, row.offered))
      .map(
        (row) =>
          `${store}: goodput at ${row.factor} × is ${row.goodput.toFixed(0)}/s, below ${least(row).toFixed(2)} of ${Math.min(peak, row.offered).toFixed(0)}/s`,
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
    `Store \`${store}\`, capacity ${capacity.toFixed(0)} rankings a second; a refusal costs ${(1000 * refusalMs).toFixed(0)} µs of CPU, ` +
      `${(100 * share).toFixed(0)} % of a ranking:`,
    '',
    '| load | offered/s | goodput/s | of the peak | at least | per CPU s | p50 ms | p99.9 ms | refused/s | refusal p99 ms | MB |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows.map(
      (row) =>
        `| ${[
          `${row.factor} ×`,
          row.offered.toFixed(0),
          row.goodput.toFixed(0),
          (row.goodput / peak).toFixed(2),
          row.factor < 1 ? '–' : least(row).toFixed(2),
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

/** Returns the CPU of a refusal, in milliseconds: all places of the service are taken by one request that does not end. */
async function costOfRefusal(generator: Generator, short: boolean): Promise<number> {
  const settings = {
    MILLRACE_MAX_IN_FLIGHT: '1',
    MILLRACE_RECEIVE_MS: '120000',
    MILLRACE_REQUEST_MS: '120000',
  };
  return withService('embedded', settings, async (service) => {
    const { port } = service;
    const held = connect({ port, host: '127.0.0.1' });
    held.write(
      'POST /api/v1/entities/get HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n',
    );
    const load = (seconds: number): Promise<LoadResult> =>
      generator.send({ port, rate: REFUSALS_PER_SECOND, seconds, clients: CLIENTS });
    await load(1);
    const before = await service.usage();
    const { refusedMs, sent } = await load(short ? 1 : 5);
    const after = await service.usage();
    held.destroy();
    if (refusedMs.length < sent) throw new Error('the service is full, and admits a request');
    return (after.cpuMs - before.cpuMs) / sent;
  });
}

/** Requests that each open a connection: the peak, and three times as many. */
async function stormsOn(store: string, service: ProvedService, generator: Generator): Promise<ProofResult> {
  const { port } = service;
  const seconds = 10;
  const closedLoop = (): Promise<LoadResult> =>
    generator.send({ port, rate: 0, seconds, clients: 16, isOneShot: true });
  await closedLoop();
  const peak = (await closedLoop()).okMs.length / seconds;
  const { okMs, refusedMs, reset } = await generator.send({
    port,
    rate: 3 * peak,
    seconds,
    clients: 0,
    isOneShot: true,
  });
  const goodput = okMs.filter((ms) => ms <= LIMIT_MS).length / seconds;
  const perSecond = (count: number): string => (count / seconds).toFixed(0);
  return {
    markdown:
      `With a connection for each request, the peak is ${peak.toFixed(0)}/s. At 3 ×, ${goodput.toFixed(0)}/s are answered in time ` +
      `(${(goodput / peak).toFixed(2)}),\n${perSecond(refusedMs.length)}/s refused and ${perSecond(reset)}/s reset.`,
    missed:
      goodput < LEAST_OF_ONE_SHOT * peak
        ? [
            `${store}: goodput of one-shot requests at 3 × is ${goodput.toFixed(0)}/s, below ${LEAST_OF_ONE_SHOT} of ${peak.toFixed(0)}/s`,
          ]
        : [],
  };
}

/** Clients that wait for each answer cause no overload while their requests end in time. */
async function loopsOn(store: string, { port }: ProvedService, generator: Generator): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  for (const { clients, candidates } of LOOPS) {
    const { okMs, refusedMs } = await generator.send({
      port,
      rate: 0,
      seconds: 5,
      clients,
      candidates,
    });
    const p99 = percentile(okMs, 99);
    rows.push(
      `| ${[clients, candidates, okMs.length, percentile(okMs, 50).toFixed(0), p99.toFixed(0), refusedMs.length].join(' | ')} |`,
    );
    // Beyond two thirds of the limit, some of the requests would end too late.
    if (refusedMs.length > 0 && p99 < (LIMIT_MS * 2) / 3)
      missed.push(
        `${store}: ${refusedMs.length} requests of ${clients} clients with ${candidates} candidates are refused`,
      );
  }
  const head = [
    '| clients | candidates | answered | p50 ms | p99 ms | refused |',
    '| --- | --- | --- | --- | --- | --- |',
  ];
  return { markdown: [...head, ...rows].join('\n'), missed };
}

async function rowOf(
  factor: number,
  capacity: number,
  { service, generator, candidates, short }: Setup,
): Promise<Row> {
  const seconds = short ? 1.2 : 15;
  const rate = factor * capacity;
  const before = await service.usage();
  const result = await generator.send({ port: service.port, rate, seconds, clients: CLIENTS, candidates });
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
  { service, generator, candidates }: Setup,
): Promise<[number, number]> {
  const order = { port: service.port, seconds: 1, clients: CLIENTS, candidates };
  await generator.send({ ...order, rate: 5 * capacity });
  await generator.send({ ...order, rate: 0.5 * capacity });
  const { okMs, sent } = await generator.send({ ...order, rate: 0.5 * capacity });
  return [okMs.filter((ms) => ms <= LIMIT_MS).length, sent];
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}
