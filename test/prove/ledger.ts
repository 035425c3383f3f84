import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readReport } from '../../runtime/state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../runtime/state/ledger/record-decoder.js';
import { readRecords } from '../../runtime/state/ledger/record-reader.js';
import { FLUSH_MS } from '../../runtime/state/ledger/sink-queue.js';
import { writeProject } from '../support/project.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import type { Proof, ProofOptions, ProofResult } from './proof.js';

const run = promisify(execFile);

const CANDIDATES = 20;
const CLIENTS = 4;
/** How late a timer and a write may be, because the load shares the machine; milliseconds. */
const SLACK_MS = 300;
/** The size of the disk that becomes full. */
const DISK_BYTES = 2 ** 20;

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { query: query }
components:
  - { use: score, with: { value: product.price * 2 } }
log: { candidates: all, features: all }
`,
};

/** Kills the process that writes the ledger, and fills its disk. */
export const ledger: Proof = {
  name: 'ledger',
  summary: 'the ledger after kill -9 at random, after SIGTERM, and on a full disk',
  run: prove,
};

async function prove({ short }: ProofOptions): Promise<ProofResult> {
  const missed: string[] = [];
  const killed = await killAtRandom(short ? 8 : 50, missed);
  const stopped = await stopGently(missed);
  const full = await fillDisk(short ? 500 : 5000, missed);
  return {
    markdown: [
      `A service logs every request of ${CLIENTS} clients, with ${CANDIDATES} candidates each. The clients keep the ids of the requests`,
      'that were answered; the test compares them, and the logged prices and scores, with what the ledger has.',
      '',
      '| fault | answered | in the ledger | missing | torn or damaged records read | gaps |',
      '| ----- | -------- | ------------- | ------- | ---------------------------- | ---- |',
      killed,
      stopped,
      full,
    ].join('\n'),
    missed,
  };
}

/** The clients of one service, and the requests that were answered. */
class Load {
  /** When each request was answered, by its id; milliseconds. */
  readonly answered = new Map<string, number>();
  readonly statuses = new Map<number, number>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  readonly #clients: Promise<void>[];
  #isOver = false;

  constructor(url: string, start: number) {
    let next = start;
    this.#clients = Array.from({ length: CLIENTS }, async () => {
      while (!this.#isOver) await this.#rank(url, next++);
    });
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    this.#agent.destroy();
  }

  async #rank(url: string, number: number): Promise<void> {
    const id = `r${number}`;
    const status = await this.#post(`${url}/api/v1/search`, bodyOf(number)).catch(() => 0);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status === 200) this.answered.set(id, performance.now());
    else await pause(5);
  }

  async #post(url: string, body: string): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const sent = request(url, { method: 'POST', agent: this.#agent, headers });
    sent.end(body);
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode ?? 0;
  }
}

/** Prices follow from the id of the request, so that a reader can check them. */
const priceOf = (request: number, candidate: number): number => request + candidate / 1000;

function bodyOf(number: number): string {
  return JSON.stringify({
    request_id: `r${number}`,
    query: { query: `query ${number}` },
    candidates: Array.from({ length: CANDIDATES }, (_, i) => ({
      product_id: `p${i}`,
      price: priceOf(number, i),
    })),
  });
}

interface Found {
  readonly ids: ReadonlySet<string>;
  readonly wrong: number;
  readonly gaps: number;
  readonly damaged: number;
  readonly torn: number;
}

async function readLedger(folder: string): Promise<Found> {
  const report = readReport();
  const ids = new Set<string>();
  const sequences = new Map<string, { count: number; last: number }>();
  let wrong = 0;
  for await (const record of readRecords(folder, report)) {
    const id = String(record.field('request_id')?.at(0));
    if (ids.has(id) || !isRight(record, id)) wrong++;
    ids.add(id);
    const of = sequences.get(record.instance) ?? { count: 0, last: 0 };
    sequences.set(record.instance, { count: of.count + 1, last: Math.max(of.last, record.sequence) });
  }
  let gaps = 0;
  for (const { count, last } of sequences.values()) gaps += last - count;
  return { ids, wrong, gaps, damaged: report.damaged + report.skipped, torn: report.torn };
}

function isRight(record: DecodedRecord, id: string): boolean {
  const number = Number(id.slice(1));
  const [ids, prices, scores] = [
    record.field('candidate_id'),
    record.value('product.price'),
    record.field('score'),
  ];
  if (record.rows.candidate !== CANDIDATES) return false;
  for (let row = 0; row < CANDIDATES; row++) {
    const price = priceOf(number, Number(String(ids?.at(row)).slice(1)));
    if (prices?.at(row) !== price || scores?.at(row) !== price * 2) return false;
  }
  return true;
}

interface Stage {
  readonly root: string;
  readonly ledger: string;
  readonly start: (env?: Readonly<Record<string, string>>) => Promise<ServiceProcess>;
}

async function onStage<T>(use: (stage: Stage) => Promise<T>): Promise<T> {
  const root = await writeProject(FILES);
  const folder = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
  const ledger = join(folder, 'records');
  try {
    return await use({
      root,
      ledger,
      start: (env = {}) =>
        startProcess(
          ['--project', root, '--store', 'embedded', '--data-dir', join(folder, 'data'), '--port', '0'],
          {
            MILLRACE_LEDGER_DIR: ledger,
            MILLRACE_LAME_DUCK_MS: '0',
            ...env,
          },
        ),
    });
  } finally {
    await rm(root, { recursive: true, force: true });
    await rm(folder, { recursive: true, force: true });
  }
}

function killAtRandom(times: number, missed: string[]): Promise<string> {
  return onStage(async ({ start, ledger }) => {
    const answered = new Set<string>();
    const killedAt = new Map<Load, number>();
    for (let round = 0; round < times; round++) {
      console.log(`    kill ${round + 1} of ${times}`);
      const service = await start();
      const load = new Load(service.url, round * 1_000_000);
      await pause(200 + Math.random() * 1000);
      killedAt.set(load, performance.now());
      service.child.kill('SIGKILL');
      await service.ended;
      await load.stop();
      for (const id of load.answered.keys()) answered.add(id);
    }
    const found = await readLedger(ledger);
    const lost: number[] = [];
    for (const [load, at] of killedAt)
      for (const [id, when] of load.answered) if (!found.ids.has(id)) lost.push(at - when);
    const oldest = Math.max(0, ...lost);
    checkFound('kill -9', found, missed);
    if (oldest > FLUSH_MS + SLACK_MS)
      missed.push(
        `kill -9: age of a missing record, bound ${FLUSH_MS + SLACK_MS} ms, was ${oldest.toFixed(0)} ms`,
      );
    if (lost.length > answered.size / 2)
      missed.push(`kill -9: ${lost.length} of ${answered.size} are missing`);
    return (
      `| \`kill -9\`, ${times} times | ${answered.size} | ${found.ids.size} | ${lost.length}, answered at most ${oldest.toFixed(0)} ms before ` +
      `| ${found.wrong + found.damaged} (${found.torn} torn ends skipped) | ${found.gaps} |`
    );
  });
}

function stopGently(missed: string[]): Promise<string> {
  return onStage(async ({ start, ledger }) => {
    const service = await start();
    const load = new Load(service.url, 0);
    await pause(1000);
    service.child.kill('SIGTERM');
    await service.ended;
    await load.stop();
    const found = await readLedger(ledger);
    const lost = [...load.answered.keys()].filter((id) => !found.ids.has(id)).length;
    checkFound('SIGTERM', found, missed);
    if (lost > 0) missed.push(`SIGTERM: missing records, bound 0, was ${lost}`);
    return `| SIGTERM | ${load.answered.size} | ${found.ids.size} | ${lost} | ${found.wrong + found.damaged} | ${found.gaps} |`;
  });
}

/** Fills the disk of the ledger under load, and makes room again. */
function fillDisk(hold: number, missed: string[]): Promise<string> {
  return onStage(async ({ start, ledger }) => {
    const disk = await tinyDisk(ledger);
    try {
      const service = await start(disk.env);
      await disk.limit(service.pid);
      const load = new Load(service.url, 0);
      const began = performance.now();
      while ((await counts(service.url)).full === 0 && performance.now() - began < 30_000) await pause(100);
      await pause(hold);
      const during = await counts(service.url);
      await disk.makeRoom(service.pid);
      while ((await counts(service.url)).written <= during.written && performance.now() - began < 60_000)
        await pause(100);
      await load.stop();
      await pause(2 * FLUSH_MS);
      const { added, written, full, dropped } = await counts(service.url);
      const found = await readLedger(ledger);
      const logged = service.lines.map(({ msg }) => msg).filter((msg) => msg.includes('sink')).length;
      service.child.kill('SIGTERM');
      await service.ended;
      checkFound('full disk', { ...found, gaps: 0 }, missed);
      const others = [...load.statuses].filter(([status]) => status !== 200);
      if (others.length > 0) missed.push(`full disk: answers other than 200, bound 0, was ${String(others)}`);
      if (full === 0) missed.push('full disk: it did not fill');
      if (written <= during.written) missed.push('full disk: nothing was written after there was room');
      if (added !== written + dropped)
        missed.push(`full disk: ${added} records, but ${written} written and ${dropped} dropped`);
      if (found.ids.size !== written)
        missed.push(`full disk: ${written} counted as written, ${found.ids.size} read`);
      if (logged === 0) missed.push('full disk: nothing in the log');
      const lost = load.answered.size - found.ids.size;
      return (
        `| full disk (${disk.name}), then room | ${load.answered.size} | ${found.ids.size} | ${lost}, counted as dropped: ${dropped} ` +
        `| ${found.wrong + found.damaged} | ${found.gaps}: each a dropped record |`
      );
    } finally {
      await disk.remove();
    }
  });
}

interface Disk {
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  limit(pid: number): Promise<unknown>;
  makeRoom(pid: number): Promise<unknown>;
  remove(): Promise<unknown>;
}

/** A small file system at a path; without the right to mount one, a limit of the size of files. */
async function tinyDisk(path: string): Promise<Disk> {
  const nothing = (): Promise<void> => Promise.resolve();
  try {
    await run('mkdir', [path]);
    await run('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'tmpfs', path]);
    await writeFile(join(path, 'other'), Buffer.alloc(DISK_BYTES / 2));
    return {
      name: 'ENOSPC',
      env: {},
      limit: nothing,
      makeRoom: () => rm(join(path, 'other')),
      remove: () => run('umount', [path]),
    };
  } catch {
    // The signal would end the process; the write then fails with EFBIG.
    const ignore = `data:text/javascript,${encodeURIComponent('process.on("SIGXFSZ", () => {});')}`;
    const limit = (pid: number, bytes: string): Promise<unknown> =>
      run('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]);
    return {
      name: 'EFBIG',
      env: { NODE_OPTIONS: `--import ${ignore}` },
      limit: (pid) => limit(pid, String(DISK_BYTES / 2)),
      makeRoom: (pid) => limit(pid, 'unlimited'),
      remove: nothing,
    };
  }
}

interface Counts {
  readonly added: number;
  readonly written: number;
  readonly dropped: number;
  readonly full: number;
}

async function counts(url: string): Promise<Counts> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sum = (pattern: RegExp): number =>
    [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    added: sum(/^millrace_ledger_records_total\{[^}]*\} (\d+)/gm),
    written: sum(/^millrace_ledger_written_records_total\{[^}]*\} (\d+)/gm),
    dropped: sum(/^millrace_ledger_dropped_records_total\{[^}]*\} (\d+)/gm),
    full: sum(/^millrace_ledger_dropped_records_total\{[^}]*disk_full[^}]*\} (\d+)/gm),
  };
}

function checkFound(name: string, { wrong, damaged, gaps }: Found, missed: string[]): void {
  if (wrong > 0) missed.push(`${name}: records with other values than were served, bound 0, was ${wrong}`);
  if (damaged > 0) missed.push(`${name}: damaged records, bound 0, was ${damaged}`);
  if (gaps > 0) missed.push(`${name}: gaps in the sequences, bound 0, was ${gaps}`);
}
