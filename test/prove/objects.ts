import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findKafka } from '../support/kafka-broker.js';
import { millrace } from '../support/command-line.js';
import { setVariables } from '../support/object-server.js';
import { findMoto, NEEDS } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { until } from '../support/until.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';
import { fileTarget, kafkaTarget, objectTarget, type Fault, type Target } from './support/sink-targets.js';

const CLIENTS = 2;
const CANDIDATES = 20;
/** How late a timer, an upload and an answer may be, because the load shares the machine; milliseconds. */
const SLACK_MS = 3_000;
/** How long records of rankings wait at most: 200 ms, or the segment of the target. */
const WINDOW_MS: Readonly<Record<string, number>> = { 'S3 (moto)': 1_000 };

const PROJECT = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
request: { user: optional(user) }
components:
  - { use: score, with: { value: product.price } }
log: { candidates: all, features: all }
`,
};

/** Kills services that write their ledger to files, Kafka and object storage, and reads one ledger of three. */
export const objects: Proof = {
  name: 'objects',
  page: 'object-storage.md',
  summary: 'what a kill, a slow and a dead server lose, by kind of record; a ledger of three instances',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  if (findMoto() === undefined) {
    console.log(`SKIPPED: ${NEEDS.moto.how}`);
    return { markdown: `Not measured: ${NEEDS.moto.how}`, missed: [] };
  }
  const missed: string[] = [];
  const kafka = findKafka({ download: !short });
  const opens = [
    fileTarget,
    ...('why' in kafka ? [] : [() => kafkaTarget(kafka.jars)]),
    objectTarget,
  ] as const;
  const rows: string[] = [];
  for (const open of opens) {
    const target = await open();
    try {
      rows.push(await killed(target, short ? 3 : 20, missed));
      for (const fault of target.faults.filter(({ inShort }) => inShort || !short))
        rows.push(await faulty(target, fault, short ? 4_000 : 12_000, missed));
    } finally {
      await target.remove();
    }
  }
  const three = await threeInstances(short ? 3_000 : 15_000, missed);
  return {
    markdown: [
      `${CLIENTS} clients rank and ${CLIENTS} send feedback with \`acknowledge: stored\`, each through a sink of its own. A segment is 1 s.`,
      'Lost is what was answered with 200 and is not there; without a kill of the service, a full queue of 1 MB dropped it. The window is the time from the answer to the kill, of the oldest ranking lost.',
      '',
      '| ledger | fault | rankings | stored | lost | window | feedback answered | not answered | lost | twice |',
      '| ------ | ----- | -------: | -----: | ---: | -----: | ----------------: | -----------: | ---: | ----: |',
      ...rows,
      '',
      three,
      ...('why' in kafka ? ['', `Kafka was not measured: ${kafka.why}.`] : []),
    ].join('\n'),
    missed,
  };
}

/** Clients that send one request after another, and when each was answered with 200. */
class Clients {
  readonly answered = new Map<string, number>();
  refused = 0;
  readonly #running: Promise<void>[];
  #isOver = false;

  constructor(url: string, prefix: string) {
    this.#running = Array.from({ length: 2 * CLIENTS }, async (_, client) => {
      for (let n = 0; !this.#isOver; n++) {
        const isRanking = client < CLIENTS;
        const id = `${isRanking ? 'r' : 'f'}${prefix}-${client}-${n}`;
        const status = await post(url, isRanking ? ranking(id) : click(id)).catch(() => 0);
        if (status === 200) this.answered.set(id, performance.now());
        else this.refused++;
        await pause(status === 200 ? 5 : 50);
      }
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }
}

type Sent = readonly [path: string, body: object];

function ranking(request_id: string): Sent {
  const candidates = Array.from({ length: CANDIDATES }, (_, i) => ({ product_id: `p${i}`, price: i }));
  return ['ranking', { request_id, user: { user_id: 'u1' }, candidates }];
}

function click(request_id: string): Sent {
  const events = [{ type: 'click', product: { product_id: 'p1' } }];
  return ['feedback', { request_id, user: { user_id: 'u1' }, events }];
}

async function post(url: string, [path, body]: Sent): Promise<number> {
  const answer = await fetch(`${url}/api/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  await answer.arrayBuffer();
  return answer.status;
}

async function writeFor({ yaml }: Target): Promise<string> {
  return writeProject({
    ...PROJECT,
    'sinks/rankings.yaml': `sink: rankings\ntake: [ranking]\n${yaml}`,
    'sinks/clicks.yaml': `sink: clicks\ntake: [feedback]\n${yaml}`,
  });
}

function start(root: string, { env = {} }: Pick<Target, 'env'>): Promise<ServiceProcess> {
  return startProcess(['--project', root, '--port', '0'], {
    MILLRACE_STORE: 'embedded',
    MILLRACE_ACKNOWLEDGE: 'stored',
    MILLRACE_LAME_DUCK_MS: '0',
    ...env,
  });
}

/** Kills the service at random times. */
async function killed(target: Target, rounds: number, missed: string[]): Promise<string> {
  const root = await writeFor(target);
  const all: Ended[] = [];
  for (let round = 0; round < rounds; round++) {
    const service = await start(root, target);
    const clients = new Clients(service.url, `kill${round}`);
    await pause(2_000 + Math.random() * 1_500);
    service.child.kill('SIGKILL');
    const at = performance.now();
    await service.ended;
    await clients.stop();
    all.push({ answered: clients.answered, refused: clients.refused, at });
  }
  await rm(root, { recursive: true, force: true });
  return await rowOf(target, 'kill -9', all, missed);
}

/** Disturbs the server under load, and ends the service in order. */
async function faulty(target: Target, fault: Fault, ms: number, missed: string[]): Promise<string> {
  const root = await writeFor(target);
  const service = await start(root, target);
  const clients = new Clients(service.url, fault.name.replace(/\W/g, ''));
  await pause(2_000);
  await fault.begin();
  await pause(ms);
  await fault.end();
  await pause(5_000);
  await clients.stop();
  // The sink tries again after a pause; a service that ends sooner would drop and count what waits.
  await until(
    'an empty queue',
    async () => (await figure(service, 'millrace_ledger_queue_bytes')) === 0,
    90_000,
  );
  // The queue has 1 MB. What it cannot hold is dropped and counted.
  const dropped = await figure(service, 'millrace_ledger_dropped_records_total');
  service.child.kill('SIGTERM');
  await service.ended;
  await rm(root, { recursive: true, force: true });
  const { answered, refused } = clients;
  return await rowOf(target, fault.name, [{ answered, refused, at: undefined }], missed, dropped);
}

/** The sum of a metric over all sinks. */
async function figure({ url }: ServiceProcess, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const found = [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))];
  return found.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

interface Ended extends Pick<Clients, 'answered' | 'refused'> {
  /** When the process was killed; undefined if it ended in order. */
  readonly at: number | undefined;
}

async function rowOf(
  target: Target,
  fault: string,
  all: readonly Ended[],
  missed: string[],
  dropped = 0,
): Promise<string> {
  const ids = await target.ids();
  const stored = new Set(ids);
  const answers = all.flatMap(({ answered, at }) => Array.from(answered, ([id, time]) => ({ id, time, at })));
  const rankings = answers.filter(({ id }) => id.startsWith('r'));
  const feedback = answers.filter(({ id }) => id.startsWith('f'));
  const lost = rankings.filter(({ id }) => !stored.has(id));
  const unkept = feedback.filter(({ id }) => !stored.has(id));
  const window = Math.max(0, ...lost.map(({ time, at = time }) => at - time));
  const most = (WINDOW_MS[target.title] ?? 200) + SLACK_MS;
  const what = `${target.title}, ${fault}`;
  if (unkept.length > 0) missed.push(`${what}: ${unkept.length} acknowledged events are not stored`);
  if (window > most) missed.push(`${what}: a ranking was lost ${window.toFixed(0)} ms after its answer`);
  if (lost.some(({ at }) => at === undefined) && lost.length > dropped)
    missed.push(`${what}: ${lost.length} rankings lost without a kill`);
  if (feedback.length === 0) missed.push(`${what}: no feedback was answered`);
  const refused = all.reduce((sum, one) => sum + one.refused, 0);
  const own = new Set(answers.map(({ id }) => id));
  const mine = ids.filter((id) => own.has(id));
  const twice = mine.length - new Set(mine).size;
  const row = `| ${[
    ...[target.title, fault, rankings.length, rankings.length - lost.length, lost.length],
    ...[lost.length === 0 ? '-' : `${window.toFixed(0)} ms`, feedback.length, refused, unkept.length, twice],
  ].join(' | ')} |`;
  console.log(row);
  return row;
}

/** Three instances write the same records to files and to object storage: both must give one data set. */
async function threeInstances(ms: number, missed: string[]): Promise<string> {
  const [files, bucket] = await Promise.all([fileTarget(), objectTarget()]);
  const root = await writeProject({
    ...PROJECT,
    'sinks/files.yaml': `sink: files\n${files.yaml}`,
    'sinks/bucket.yaml': `sink: bucket\n${bucket.yaml}`,
  });
  let restore = (): void => undefined;
  try {
    const env = { ...files.env, ...bucket.env };
    const services = await Promise.all(
      [0, 1, 2].map((n) => start(root, { env: { ...env, MILLRACE_DATA_DIR: join(root, `data${n}`) } })),
    );
    const isOver = Date.now() + ms;
    await Promise.all(
      services.map(async ({ url }, at) => {
        for (let n = 0; Date.now() < isOver; n++)
          for (const sent of [ranking(`r${at}-${n}`), click(`r${at}-${n}`)]) await post(url, sent);
      }),
    );
    for (const { child } of services) child.kill('SIGTERM');
    await Promise.all(services.map(({ ended }) => ended));
    await pause(2_000);
    restore = setVariables(bucket.env ?? {});
    const sets = await Promise.all(
      [files.env?.MILLRACE_LEDGER_DIR ?? '', 's3://rankings/live'].map((ledger, at) =>
        build(root, ledger, at),
      ),
    );
    const [ofFiles = [], ofBucket = []] = sets;
    if (ofFiles.length === 0) missed.push('three instances: the data set is empty');
    if (ofFiles.join('\n') !== ofBucket.join('\n')) missed.push('three instances: the data sets differ');
    return `Three instances: ${ofBucket.length} rows from object storage, ${ofFiles.length} from the same records in files; the data sets are ${ofFiles.join('\n') === ofBucket.join('\n') ? 'equal' : 'not equal'}.`;
  } finally {
    restore();
    await Promise.all([files.remove(), bucket.remove()]);
    await rm(root, { recursive: true, force: true });
  }
}

/** The rows of the data set of a ledger, sorted. */
async function build(root: string, ledger: string, at: number): Promise<readonly string[]> {
  const out = join(root, `set${at}`);
  const flags = [
    '--ledger',
    ledger,
    '--format',
    'csv',
    '--window',
    '1s',
    '--split',
    'hash:request:80%',
    '--out',
    out,
  ];
  const { code, stderr } = await millrace(['dataset', 'build', 'ranking', ...flags]);
  if (code !== 0) throw new Error(stderr);
  const parts = await Promise.all(
    ['train', 'holdout'].map(async (part) => {
      const [, ...rows] = (await readFile(join(out, `${part}.csv`), 'utf8')).trim().split('\n');
      return rows.map((row) => `${part},${row}`);
    }),
  );
  return parts.flat().sort();
}
