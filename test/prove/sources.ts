import { percentile } from '../../bench/support/measure.js';
import { findKafka } from '../support/kafka-broker.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { startGenerator } from './support/generator.js';
import { measureBacklog, type BacklogFigures, type Rankings } from './sources/backlog.js';
import { measureKills } from './sources/kills.js';
import { kafkaShop, redisShop, type ShopServer } from './sources/servers.js';

const STORES = ['redis', 'embedded'] as const;
/** How much slower rankings may be beside a backlog, in milliseconds, or by this part. */
const SLOWER_P50_MS = 1;
const SLOWER_P99_MS = 10;
const SLOWER = 0.25;
/** How many more of the rankings may be refused beside a backlog. */
const MORE_FAILED = 0.01;

/** Measures what a backlog does to rankings, and what kills do to the counts. */
export const sources: Proof = {
  name: 'sources',
  summary:
    'rankings beside a backlog of messages; counts equal an oracle after kills of consumer, stream and service',
  page: 'sources.md',
  run: prove,
};

async function prove(options: ProofOptions): Promise<ProofResult> {
  const backlog = await proveBacklog(options);
  const kills = await proveKills(options);
  return {
    markdown: `${backlog.markdown}\n\n${kills.markdown}`,
    missed: [...backlog.missed, ...kills.missed],
  };
}

async function proveBacklog({ short }: ProofOptions): Promise<ProofResult> {
  const form = short
    ? { pairs: 3, seconds: 1.5, backlog: 100_000 }
    : { pairs: 8, seconds: 5, backlog: 300_000 };
  const generator = startGenerator();
  const rows: string[] = [];
  const missed: string[] = [];
  try {
    for (const store of STORES) {
      const figures = await measureBacklog(store, generator, form);
      const { calm, beside, left } = figures;
      rows.push(rowOf(store, 'none', calm, cpuOf(figures, calm)));
      rows.push(rowOf(store, figures.backlog.toLocaleString('en'), beside, cpuOf(figures, beside)));
      rows.push(`| ${store} | alone | – | – | – | – | – | ${rateOf(figures.alone)} |`);
      console.log(rows.slice(-3).join('\n'));
      const bound = (holds: boolean, text: string): void => {
        if (!holds) missed.push(`${store}: ${text}`);
      };
      const isFast = (p: number, slowerMs: number): void => {
        const [with_, without] = [percentile(sorted(beside), p), percentile(sorted(calm), p)];
        const limit = without + Math.max(slowerMs, SLOWER * without);
        bound(
          with_ <= limit,
          `p${p} is ${with_.toFixed(2)} ms beside the backlog, above ${limit.toFixed(2)} ms`,
        );
      };
      isFast(50, SLOWER_P50_MS);
      isFast(99, SLOWER_P99_MS);
      const failed = shareFailed(beside) - shareFailed(calm);
      bound(failed <= MORE_FAILED, `${(100 * failed).toFixed(1)} % more rankings failed beside the backlog`);
      bound(beside.events > 0, 'the source stopped beside rankings');
      bound(left > 0, 'the backlog was empty before the last window');
    }
  } finally {
    generator.close();
  }
  return {
    markdown: [
      'Rankings at a quarter of what the service can do, beside a backlog of messages and without one, in windows that',
      'alternate. The CPU of the source is subtracted, as it is when the source is alone.',
      '',
      '| store | backlog | rankings/s | refused | p50 ms | p99 ms | CPU ms a ranking | events/s |',
      '| ----- | ------- | ---------- | ------- | ------ | ------ | ---------------- | -------- |',
      ...rows,
    ].join('\n'),
    missed,
  };
}

const sorted = ({ okMs }: Rankings): readonly number[] => okMs.toSorted((a, b) => a - b);

const shareFailed = ({ failed, okMs }: Rankings): number => failed / (failed + okMs.length);

const rateOf = ({ events, seconds }: Pick<Rankings, 'events' | 'seconds'>): string =>
  (events / seconds).toFixed(0);

/** The CPU of a ranking, without what the source takes for its messages. */
function cpuOf({ alone }: BacklogFigures, { cpuMs, events, okMs }: Rankings): number {
  return (cpuMs - (events * alone.cpuMs) / alone.events) / okMs.length;
}

function rowOf(store: string, backlog: string, rankings: Rankings, cpuMs: number): string {
  const ms = sorted(rankings);
  const cells = [
    ...[store, backlog, (rankings.okMs.length / rankings.seconds).toFixed(0)],
    ...[`${(100 * shareFailed(rankings)).toFixed(1)} %`],
    ...[percentile(ms, 50).toFixed(2), percentile(ms, 99).toFixed(2), cpuMs.toFixed(2), rateOf(rankings)],
  ];
  return `| ${cells.join(' | ')} |`;
}

async function proveKills({ short }: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  const skipped: string[] = [];
  const measure = async (
    store: (typeof STORES)[number],
    server: ShopServer,
    forMs: number,
  ): Promise<void> => {
    try {
      const figures = await measureKills(store, server, forMs);
      const { messages, added_again: again, kills, lost, double, rejected } = figures;
      const cells = [server.title, store, messages, again, kills.consumer, kills.stream, kills.service];
      rows.push(`| ${[...cells, lost, double].join(' | ')} |`);
      console.log(rows.at(-1));
      const where = `${server.title}, ${store}`;
      if (lost + double > 0)
        missed.push(`${where}: bound 0 wrong counts, ${lost} too low, ${double} too high`);
      if (rejected > 0) missed.push(`${where}: ${rejected} sound messages were rejected`);
    } finally {
      await server.remove();
    }
  };
  for (const store of STORES) await measure(store, await redisShop(), short ? 10_000 : 120_000);
  const kafka = short ? { why: 'only the full form has time for its groups' } : findKafka();
  if ('why' in kafka) {
    skipped.push('', `Kafka was not measured: ${kafka.why}.`);
    console.log(`SKIPPED kafka: ${kafka.why}`);
  } else await measure('redis', await kafkaShop(kafka.jars), 240_000);
  return {
    markdown: [
      'A service and `millrace consume` read one group while the consumer, the server of the stream and the service are',
      'killed with SIGKILL in turn. Messages that the server did not acknowledge are added again. Lost and double: counts of',
      'users and of counters that are lower or higher than an oracle over all messages.',
      '',
      '| source | store | messages | added again | kills: consumer | stream | service | lost | double |',
      '| ------ | ----- | -------- | ----------- | --------------- | ------ | ------- | ---- | ------ |',
      ...rows,
      ...skipped,
    ].join('\n'),
    missed,
  };
}
