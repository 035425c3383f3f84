import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { findMoto, NEEDS } from '../support/needs.js';
import { findKafka } from '../support/kafka-broker.js';
import { writeProject } from '../support/project.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { LOAD, SinkLoad } from './support/sink-load.js';
import { httpTarget, kafkaTarget, objectTarget, redisTarget, type Target } from './support/sink-targets.js';

const QUEUE_BYTES = 2 ** 20;
/** How much slower the 99th percentile of rankings may be while the other side is faulty. */
const SLOWER_MS = 15;
/** How much the memory of the process may grow in a fault. It holds the queue, the batch in flight and garbage. */
const GROWTH_MB = 64;

const PIPELINE = `pipeline: ranking
rank: product
request: { candidates: { a: float, b: float, c: float } }
limits: { time: 2s }
components:
  - use: score
    with: { value: product.a + product.b * product.c }
log: { candidates: all, features: all }
`;

/** Measures what faults of the other side do to rankings and records. */
export const sinks: Proof = {
  name: 'sinks',
  summary: 'no ranking waits for a sink; the queue is bounded; every record is delivered or counted',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const rows: string[] = [];
  const missed: string[] = [];
  const skipped: string[] = [];
  const kafka = findKafka();
  if ('why' in kafka) {
    skipped.push(`Kafka was not measured: ${kafka.why}.`);
    console.log(`SKIPPED kafka: ${kafka.why}`);
  }
  if (findMoto() === undefined) skipped.push(`S3 was not measured: ${NEEDS.moto.how}.`);
  const targets: (() => Promise<Target>)[] = [
    ...('why' in kafka ? [] : [() => kafkaTarget(kafka.jars)]),
    redisTarget,
    ...(findMoto() === undefined ? [] : [objectTarget]),
    httpTarget,
  ];
  for (const open of targets) {
    const target = await open();
    try {
      rows.push(...(await measure(target, short, missed)));
    } finally {
      await target.remove();
    }
  }
  return {
    markdown: [
      `A service gets ${LOAD}. Its sink has a queue of 1 MB.`,
      '',
      '| other side | fault | rankings | failed | p99 before | p99 | queue at most | process | produced | delivered | dropped | twice |',
      '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
      ...rows,
      ...(skipped.length === 0 ? [] : ['', ...skipped]),
    ].join('\n'),
    missed,
  };
}

async function measure(target: Target, short: boolean, missed: string[]): Promise<string[]> {
  const faultMs = short ? 3_000 : 10_000;
  const root = await writeProject({
    'pipelines/ranking.yaml': PIPELINE,
    'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\n',
    'sinks/out.yaml': `sink: out\n${target.yaml}`,
  });
  const service = await startProcess(['--project', root, '--port', '0'], {
    MILLRACE_STORE: 'embedded',
    MILLRACE_LAME_DUCK_MS: '0',
    MILLRACE_SINK_HOSTS: '127.0.0.1',
    LOG_LEVEL: 'info',
    ...target.env,
  });
  const load = new SinkLoad(service.url);
  try {
    await load.run(short ? 5_000 : 10_000); // compiles the hot code, and creates the topic
    await settled(service);
    const rows: string[] = [];
    for (const fault of target.faults.filter(({ inShort }) => inShort || !short)) {
      const calm = await load.run(faultMs);
      const before = await figuresOf(service);
      const rssBefore = before.rssMb;
      const watching = watch(service);
      await fault.begin();
      const during = await load.run(faultMs);
      await fault.end();
      await load.run(1_000);
      await settled(service);
      const { queueBytes, rssMb } = await watching.end();
      const after = await figuresOf(service);
      const ids = await target.ids();
      const unique = new Set(ids).size;
      const growth = rssMb - rssBefore;
      const what = `${target.title}, ${fault.name}`;
      const bound = (holds: boolean, text: string): void => {
        if (!holds) missed.push(`${what}: ${text}`);
      };
      bound(
        during.failures.length === 0,
        `${during.failures.length} rankings failed: ${[...new Set(during.failures)].join(', ')}`,
      );
      bound(
        during.p99 <= calm.p99 + SLOWER_MS,
        `p99 ${during.p99.toFixed(1)} ms after ${calm.p99.toFixed(1)} ms`,
      );
      bound(queueBytes <= QUEUE_BYTES, `the queue had ${queueBytes} bytes`);
      bound(growth <= GROWTH_MB, `the process grew by ${growth.toFixed(0)} MB`);
      bound(after.produced === load.answered, `${after.produced} records of ${load.answered} rankings`);
      bound(
        after.produced === after.delivered + after.dropped,
        `${after.produced} produced, ${after.delivered} delivered, ${after.dropped} dropped`,
      );
      bound(unique === after.delivered, `${unique} records arrived, ${after.delivered} count as delivered`);
      rows.push(
        `| ${[
          ...[target.title, fault.name, during.sent, during.failures.length, `${calm.p99.toFixed(1)} ms`],
          ...[
            `${during.p99.toFixed(1)} ms`,
            `${(queueBytes / 2 ** 20).toFixed(2)} MB`,
            `${growth >= 0 ? '+' : ''}${growth.toFixed(0)} MB`,
          ],
          ...[after.produced, after.delivered, after.dropped, ids.length - unique],
        ].join(' | ')} |`,
      );
      console.log(rows.at(-1));
    }
    return rows;
  } finally {
    load.close();
    service.child.kill('SIGTERM');
    await service.ended;
    await rm(root, { recursive: true, force: true });
  }
}

/** Waits until nothing waits for the sink. */
async function settled(service: ServiceProcess): Promise<void> {
  // The last records wait for at most 200 ms until they are put into a batch.
  await pause(500);
  await until('an empty queue', async () => (await figuresOf(service)).queueBytes === 0, 60_000);
}

interface Figures {
  readonly produced: number;
  readonly delivered: number;
  readonly dropped: number;
  readonly queueBytes: number;
  readonly rssMb: number;
}

async function figuresOf({ url }: ServiceProcess): Promise<Figures> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    );
  return {
    produced: sum('millrace_ledger_records_total'),
    delivered: sum('millrace_ledger_written_records_total'),
    dropped: sum('millrace_ledger_dropped_records_total'),
    queueBytes: sum('millrace_ledger_queue_bytes'),
    rssMb: sum('process_resident_memory_bytes') / 2 ** 20,
  };
}

/** Looks at the queue and the memory, and keeps their largest values. */
function watch(service: ServiceProcess): { end(): Promise<Pick<Figures, 'queueBytes' | 'rssMb'>> } {
  const state = { isOver: false };
  const most = { queueBytes: 0, rssMb: 0 };
  const looking = (async () => {
    while (!state.isOver) {
      const { queueBytes, rssMb } = await figuresOf(service);
      most.queueBytes = Math.max(most.queueBytes, queueBytes);
      most.rssMb = Math.max(most.rssMb, rssMb);
      await pause(100);
    }
  })();
  return {
    async end() {
      state.isOver = true;
      await looking;
      return most;
    },
  };
}
