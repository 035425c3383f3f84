import kafkajs from 'kafkajs';
import { Redis } from 'ioredis';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readRecords } from '../../../runtime/state/ledger/record-reader.js';
import { startCollector, type Collected } from '../../support/collector.js';
import { startKafka } from '../../support/kafka-broker.js';
import { keysOf, startObjectServer } from '../../support/object-server.js';
import { startRedisServer } from '../../support/redis-server.js';
import { requestIdsIn } from '../../support/sink-ledger.js';
import { startTcpProxy } from '../../support/tcp-proxy.js';
import { until } from '../../support/until.js';

/** The other side of a sink. */
export interface Target {
  readonly title: string;
  /** The file of the sink, but for its name. */
  readonly yaml: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly faults: readonly Fault[];
  /** The request ids of all records that it has, repetitions included. */
  ids(): Promise<string[]>;
  remove(): Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** False if only the full form measures it. */
  readonly inShort: boolean;
  begin(): Promise<void> | void;
  end(): Promise<void> | void;
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

function halted(pid: () => number): Pick<Fault, 'begin' | 'end'> {
  return {
    begin: () => void process.kill(pid(), 'SIGSTOP'),
    end: () => void process.kill(pid(), 'SIGCONT'),
  };
}

export async function kafkaTarget(jars: string): Promise<Target> {
  const broker = await startKafka(jars);
  const { Kafka, logLevel } = kafkajs;
  const client = new Kafka({ brokers: [broker.address], logLevel: logLevel.NOTHING });
  let groups = 0;
  return {
    title: `Kafka ${broker.version}`,
    yaml: `use: kafka
queue: 1MB
with: { brokers: ["${broker.address}"], topic: rankings, timeout: 2s }
`,
    faults: [
      { name: 'stopped', inShort: false, begin: () => broker.stop('SIGTERM'), end: () => broker.start() },
      { name: 'killed', inShort: true, begin: () => broker.stop('SIGKILL'), end: () => broker.start() },
      { name: 'slow', inShort: false, ...slowly(() => broker.pid()) },
      { name: 'hangs', inShort: true, ...halted(() => broker.pid()) },
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

export async function redisTarget(): Promise<Target> {
  const server = await startRedisServer(['--appendonly', 'yes', '--appendfsync', 'always']);
  return {
    title: 'Redis stream',
    yaml: `use: redis_stream
queue: 1MB
with: { url: "${server.url}", stream: rankings, timeout: 2s }
`,
    faults: [
      { name: 'killed', inShort: true, begin: () => server.stop(), end: () => server.start() },
      { name: 'slow', inShort: false, ...slowly(() => server.pid()) },
      { name: 'hangs', inShort: true, ...halted(() => server.pid()) },
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

/**
 * Object storage keeps its objects in memory here, so that it cannot be killed. The proxy before it can: then nothing listens, and
 * open connections end.
 */
export async function objectTarget(): Promise<Target> {
  const server = await startObjectServer();
  let proxy = await startTcpProxy(server.port);
  const { port } = proxy;
  const bucket = await server.bucket('rankings');
  return {
    title: 'S3 (moto)',
    yaml: `use: s3\nqueue: 1MB\nwith: { url: "s3://rankings/live", segment: 1s, segment_bytes: 1MB, timeout: 2s }\n`,
    env: { ...server.env, AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` },
    faults: [
      {
        name: 'dead',
        inShort: false,
        begin: () => proxy.close(),
        async end() {
          proxy = await startTcpProxy(server.port, port);
        },
      },
      { name: 'slow', inShort: false, ...slowly(() => server.pid) },
      { name: 'hangs', inShort: true, ...halted(() => server.pid) },
    ],
    async ids() {
      const ids: string[] = [];
      for (const key of await keysOf(bucket)) ids.push(...requestIdsIn(await bucket.readWhole(key, 2 ** 30)));
      return ids;
    },
    async remove() {
      await proxy.close();
      await server.close();
    },
  };
}

/** The segments of a folder. The disk is that of the machine, so it has no faults here. */
export async function fileTarget(): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
  return {
    title: 'files',
    yaml: 'use: file\n',
    env: { MILLRACE_LEDGER_DIR: folder },
    faults: [],
    async ids() {
      const ids: string[] = [];
      for await (const record of readRecords(folder)) ids.push(String(record.field('request_id')?.at(0)));
      return ids;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export async function httpTarget(): Promise<Target> {
  let collector = await startCollector();
  const { port } = collector;
  /** What it took before it was closed. */
  let taken: Collected[] = [];
  const fault = (name: string, inShort: boolean, reply: typeof collector.reply): Fault => ({
    name,
    inShort,
    begin: () => void (collector.reply = reply),
    end: () => void (collector.reply = () => ({ status: 204 })),
  });
  return {
    title: 'HTTP server',
    yaml: `use: http\nqueue: 1MB\nwith: { url: "http://127.0.0.1:${port}/records", timeout: 2s }\n`,
    faults: [
      {
        name: 'closed',
        inShort: true,
        begin: () => collector.close(),
        end: async () => {
          taken = [...taken, ...collector.taken];
          collector = await startCollector(port);
        },
      },
      fault('answers 503', false, () => ({ status: 503, headers: { 'retry-after': '1' } })),
      fault('hangs', true, () => 'hang'),
    ],
    ids: () => Promise.resolve([...taken, ...collector.taken].flatMap(({ body }) => requestIdsIn(body))),
    remove: () => collector.close(),
  };
}
