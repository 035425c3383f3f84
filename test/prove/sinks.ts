import { rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { Redis } from 'ioredis';
import { startCollector, type Collected } from '../support/collector.js';
import { findKafka, startKafka } from '../support/kafka-broker.js';
import { writeProject } from '../support/project.js';
import { startRedisServer } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { requestIdsIn } from '../support/sink-ledger.js';
import { until } from '../support/until.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const QUEUE_BYTES = 2 ** 20;
const RATE = 60;
const CANDIDATES = 100;
/** What the 99th percentile of rankings may be while the other side is faulty: a multiple of the one before, and time. */
const SLOWER = { times: 1.5, ms: 15 };
/** What the process may grow by in a fault, beside the queue: bodies that are being sent, and garbage. */
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

/** The other side of a sink. */
interface Target {
  readonly name: string;
  readonly title: string;
  /** The file of the sink, but for its name. */
  readonly yaml: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  /** The request ids of all records that it has, repetitions included. */
  ids(): Promise<string[]>;
  remove(): Promise<void>;
}

interface Fault {
  readonly name: string;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
}

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
  const targets: (() => Promise<Target>)[] = [
    ...('why' in kafka ? [] : [() => kafkaTarget(kafka.jars)]),
    redisTarget,
    httpTarget,
  ];
  for (const open of targets) {
    const target = await open();
    try {
      rows.push(...(await measure(target, short ? 4_000 : 15_000, missed)));
    } finally {
      await target.remove();
    }
  }
  return {
    markdown: [
      `A service gets ${RATE} rankings of ${CANDIDATES} candidates a second. Its sink has a queue of 1 MB.`,
      '',
      '| other side | fault | rankings | failed | p99 before | p99 | queue at most | process | produced | delivered | dropped | twice |',
      '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
      ...rows,
      ...(skipped.length === 0 ? [] : ['', ...skipped]),
    ].join('\n'),
    missed,
  };
}

async function measure(target: Target, faultMs: number, missed: string[]): Promise<string[]> {
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
  const load = new Load(service);
  try {
    await load.run(3_000); // compiles the hot code, and creates the topic
    await settled(service);
    const rows: string[] = [];
    for (const fault of target.faults) {
      const calm = await load.run(faultMs / 2);
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
      bound(during.failed === 0, `${during.failed} rankings failed`);
      bound(
        during.p99 <= SLOWER.times * calm.p99 + SLOWER.ms,
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
          ...[target.title, fault.name, during.sent, during.failed, `${calm.p99.toFixed(1)} ms`],
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

interface LoadFigures {
  readonly sent: number;
  readonly failed: number;
  /** Milliseconds from the time when a ranking was due to its answer. */
  readonly p99: number;
}

/** Rankings at a fixed rate, each with an id of its own. */
class Load {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  readonly #service: ServiceProcess;
  #next = 0;
  answered = 0;

  constructor(service: ServiceProcess) {
    this.#service = service;
  }

  async run(ms: number): Promise<LoadFigures> {
    const latencies: number[] = [];
    let failed = 0;
    let sent = 0;
    const waiting: Promise<void>[] = [];
    const began = performance.now();
    while (performance.now() - began < ms) {
      const due = began + (sent * 1000) / RATE;
      if (due > performance.now()) {
        await pause(1);
        continue;
      }
      sent++;
      waiting.push(
        this.#rank().then((status) => {
          if (status === 200) {
            this.answered++;
            latencies.push(performance.now() - due);
          } else failed++;
        }),
      );
    }
    await Promise.all(waiting);
    latencies.sort((a, b) => a - b);
    return { sent, failed, p99: latencies[Math.floor(latencies.length * 0.99)] ?? Infinity };
  }

  close(): void {
    this.#agent.destroy();
  }

  #rank(): Promise<number> {
    const candidates = Array.from({ length: CANDIDATES }, (_, i) => ({
      product_id: `p${i}`,
      a: i / 7,
      b: i,
      c: 1 / (i + 1),
    }));
    const body = JSON.stringify({ request_id: `r${this.#next++}`, candidates });
    return new Promise((resolve) => {
      const sending = request(
        `${this.#service.url}/api/v1/ranking`,
        {
          method: 'POST',
          agent: this.#agent,
          headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
        },
        (answer) => {
          answer.resume().on('end', () => resolve(answer.statusCode ?? 0));
        },
      );
      sending.on('error', () => resolve(0));
      sending.end(body);
    });
  }
}

/** Stops a process again and again, so that it gets a tenth of the time. */
function slowly(pid: () => number): Pick<Fault, 'begin' | 'end'> {
  let pulsing: Promise<void> | undefined;
  const state = { isOver: false };
  return {
    begin() {
      state.isOver = false;
      pulsing = (async () => {
        while (!state.isOver) {
          process.kill(pid(), 'SIGSTOP');
          await pause(900);
          process.kill(pid(), 'SIGCONT');
          await pause(100);
        }
      })();
    },
    async end() {
      state.isOver = true;
      await pulsing;
    },
  };
}

async function kafkaTarget(jars: string): Promise<Target> {
  const broker = await startKafka(jars);
  const { Kafka, logLevel } = kafkajs;
  const client = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });
  let groups = 0;
  return {
    name: 'kafka',
    title: `Kafka ${broker.version}`,
    yaml: `use: kafka
queue: 1MB
with: { brokers: ["${broker.address}"], topic: rankings, timeout: 2s }
`,
    faults: [
      { name: 'stopped', begin: () => broker.stop('SIGTERM'), end: () => broker.start() },
      { name: 'killed', begin: () => broker.stop('SIGKILL'), end: () => broker.start() },
      { name: 'slow', ...slowly(() => broker.pid()) },
      {
        name: 'hangs',
        begin: () => void process.kill(broker.pid(), 'SIGSTOP'),
        end: () => void process.kill(broker.pid(), 'SIGCONT'),
      },
    ],
    async ids() {
      const admin = client.admin();
      await admin.connect();
      const wanted = (await admin.fetchTopicOffsets('rankings')).reduce(
        (sum, one) => sum + Number(one.high),
        0,
      );
      await admin.disconnect();
      const consumer = client.consumer({ groupId: `proof-${groups++}` });
      await consumer.connect();
      await consumer.subscribe({ topic: 'rankings', fromBeginning: true });
      const ids: string[] = [];
      await consumer.run({
        eachMessage: ({ message }) => {
          if (message.value !== null) ids.push(...requestIdsIn(message.value));
          return Promise.resolve();
        },
      });
      await until('all messages', () => ids.length >= wanted, 60_000);
      await consumer.disconnect();
      return ids;
    },
    remove: () => broker.remove(),
  };
}

async function redisTarget(): Promise<Target> {
  const server = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
  return {
    name: 'redis_stream',
    title: 'Redis stream',
    yaml: `use: redis_stream
queue: 1MB
with: { url: "${server.url}", stream: rankings, timeout: 2s }
`,
    faults: [
      { name: 'killed', begin: () => server.stop(), end: () => server.start() },
      { name: 'slow', ...slowly(() => server.pid()) },
      {
        name: 'hangs',
        begin: () => void process.kill(server.pid(), 'SIGSTOP'),
        end: () => void process.kill(server.pid(), 'SIGCONT'),
      },
    ],
    async ids() {
      const client = new Redis(server.url);
      const entries = (await client.callBuffer('XRANGE', 'rankings', '-', '+')) as [Buffer, Buffer[]][];
      client.disconnect();
      return entries.flatMap(([, fields]) => {
        const at = fields.findIndex((field, i) => i % 2 === 0 && String(field) === 'data');
        return requestIdsIn(fields[at + 1] ?? Buffer.alloc(0));
      });
    },
    remove: () => server.remove(),
  };
}

async function httpTarget(): Promise<Target> {
  let collector = await startCollector();
  const { port } = collector;
  /** What it took before it was closed. */
  let taken: Collected[] = [];
  const fault = (name: string, reply: typeof collector.reply): Fault => ({
    name,
    begin: () => void (collector.reply = reply),
    end: () => void (collector.reply = () => ({ status: 204 })),
  });
  return {
    name: 'http',
    title: 'HTTP server',
    yaml: `use: http\nqueue: 1MB\nwith: { url: "http://127.0.0.1:${port}/records", timeout: 2s }\n`,
    faults: [
      {
        name: 'closed',
        begin: () => collector.close(),
        end: async () => {
          taken = [...taken, ...collector.taken];
          collector = await startCollector(port);
        },
      },
      fault('answers 503', () => ({ status: 503, headers: { 'retry-after': '1' } })),
      fault('hangs', () => 'hang'),
    ],
    ids: () => Promise.resolve([...taken, ...collector.taken].flatMap(({ body }) => requestIdsIn(body))),
    remove: () => collector.close(),
  };
}
