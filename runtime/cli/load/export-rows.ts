import { count } from '../../ground/core/count.js';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import type { Command } from 'commander';
import { MillraceError } from '../../ground/api/errors.js';
import { printable } from '../../ground/core/display-width.js';
import type { Settings } from '../../project/settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { openTarget, type TargetFlags } from './open-target.js';
import { startProgress } from '../../ground/core/progress.js';
import type { DataTarget, ScannedPage } from './target.js';

export type ExportFlags = TargetFlags & {
  readonly out?: string;
  readonly resume?: boolean;
  readonly json?: boolean;
};

export interface ExportJob {
  /** The kind of the exported records, for messages: `product entities`. */
  readonly what: string;
  /** The message about changed records; it follows their number. */
  readonly changed: string;
  page(target: DataTarget, cursor: string | undefined): Promise<ScannedPage>;
}

/** Maximum number of ids of unreadable records that are printed. */
const IDS_SHOWN = 20;

export function addExportFlags(command: Command): Command {
  return command
    .option(
      '--out <FILE>',
      'the file to write; it appears when the export is complete [default: standard output]',
    )
    .option('--resume', 'continue an interrupted export to this file instead of starting again')
    .option('--json', 'print the counts as JSON');
}

/** The progress of an export. */
interface Reached {
  readonly exported: number;
  readonly changed: number;
  readonly unreadable: number;
  /** Undefined at the start. */
  readonly cursor: string | undefined;
  /** Length of the file up to the cursor. */
  readonly bytes: number;
}

const START: Reached = { exported: 0, changed: 0, unreadable: 0, cursor: undefined, bytes: 0 };

/** Exports records as JSON lines and prints the counts. @throws CommandFailure if some records cannot be read */
export async function exportRows(context: CliContext, flags: ExportFlags, job: ExportJob): Promise<void> {
  if (flags.out === undefined && flags.resume === true)
    throw new UsageError('an export to standard output cannot be resumed; name a file with --out');
  if (flags.out === undefined && flags.json === true)
    throw new UsageError(
      'standard output is for the records; name a file with --out to print the counts as JSON',
    );
  const target = await openTarget(context, flags, 'data');
  try {
    const sink =
      flags.out === undefined ? streamSink(context) : await fileSink(context, flags, job, flags.out);
    const started = performance.now();
    const progress = startProgress(context.stderr, `exporting ${job.what}`, undefined);
    const ids: string[] = [];
    let reached = sink.start;
    try {
      do {
        const page = await pageOf(job, target, reached.cursor);
        const lines = page.records.map((record) => `${JSON.stringify(record)}\n`).join('');
        reached = {
          exported: reached.exported + page.records.length,
          changed: reached.changed + page.changed,
          unreadable: reached.unreadable + page.unreadable.length,
          cursor: page.cursor,
          bytes: reached.bytes + Buffer.byteLength(lines),
        };
        await sink.write(lines, reached);
        ids.push(...page.unreadable.slice(0, IDS_SHOWN - ids.length));
        progress.update(reached.exported, reached.exported);
      } while (reached.cursor !== undefined);
      sink.finish();
    } finally {
      progress.stop();
      sink.close();
    }
    tell(context, flags, job, {
      ...{ from: target.name, reached, ids },
      seconds: (performance.now() - started) / 1000,
    });
  } finally {
    await target.close();
  }
}

async function pageOf(job: ExportJob, target: DataTarget, cursor: string | undefined): Promise<ScannedPage> {
  try {
    return await job.page(target, cursor);
  } catch (error) {
    const isStale =
      error instanceof MillraceError && error.violations.some(({ pointer }) => pointer === '/cursor');
    if (!isStale) throw error;
    throw new CommandFailure(
      error.violations[0]?.detail.replace(/^cursor: /, '') ?? error.message,
      'export again from the start, without --resume',
      { cause: error },
    );
  }
}

interface Sink {
  readonly start: Reached;
  write(lines: string, reached: Reached): Promise<void>;
  finish(): void;
  close(): void;
}

function streamSink({ stdout }: CliContext): Sink {
  return {
    start: START,
    async write(lines) {
      if (lines !== '' && !stdout.write(lines)) await once(stdout, 'drain');
    },
    finish: () => undefined,
    close: () => undefined,
  };
}

/** Writes the records to FILE.part and the progress to FILE.resume. At the end, it renames FILE.part to FILE. */
async function fileSink(context: CliContext, flags: ExportFlags, job: ExportJob, out: string): Promise<Sink> {
  const [part, resume] = [`${out}.part`, `${out}.resume`];
  const source = sourceOfExport(job.what, flags.url, await settingsOf(context, flags));
  const start = flags.resume === true ? readReached(part, resume, source) : undefined;
  if (flags.resume === true) {
    context.stderr.write(
      start === undefined
        ? `no interrupted export to ${out} is known; it starts from the beginning\n`
        : `going on after ${count(start.exported)} ${job.what}\n`,
    );
  }
  const file = openSync(part, start === undefined ? 'w' : 'r+');
  // The bytes after the last recorded page are dropped and written again.
  if (start !== undefined) ftruncateSync(file, start.bytes);
  let at = start?.bytes ?? 0;
  return {
    start: start ?? START,
    write(lines, reached) {
      const bytes = Buffer.from(lines);
      for (let done = 0; done < bytes.length;)
        done += writeSync(file, bytes, done, bytes.length - done, at + done);
      at += bytes.length;
      if (reached.cursor !== undefined) {
        writeFileSync(`${resume}.new`, JSON.stringify({ source, ...reached }));
        renameSync(`${resume}.new`, resume);
      }
      return Promise.resolve();
    },
    finish() {
      fsyncSync(file);
      renameSync(part, out);
      rmSync(resume, { force: true });
    },
    close: () => closeSync(file),
  };
}

/** Identifies an export, because a cursor is valid only for the same records and the same store. */
export function sourceOfExport(what: string, url: string | undefined, settings: Settings): string {
  const { store, prefix, dataDir, redisUrl, redisCluster, redisSentinels } = settings;
  const from = url ?? [store, prefix, dataDir, redisUrl, redisCluster, redisSentinels];
  return createHash('sha256')
    .update(JSON.stringify([what, from]))
    .digest('hex');
}

/**
 * Reads the progress of an interrupted export; undefined if there is none.
 * @throws CommandFailure if the interrupted export has other records or another store
 */
function readReached(part: string, resume: string, source: string): Reached | undefined {
  if (!existsSync(part) || !existsSync(resume)) return undefined;
  const { source: found, ...reached } = JSON.parse(readFileSync(resume, 'utf8')) as Reached & {
    readonly source: string;
  };
  if (found === source) return reached;
  throw new CommandFailure(
    `${resume} is of an export of other records, or from another store`,
    'export to another file, or leave out --resume to start again',
  );
}

interface FinishedExport {
  /** The name of the store or the service. */
  readonly from: string;
  readonly reached: Reached;
  readonly seconds: number;
  /** Those of records that could not be read. */
  readonly ids: readonly string[];
}

function tell(
  context: CliContext,
  flags: ExportFlags,
  job: ExportJob,
  { from, reached, seconds, ids }: FinishedExport,
): void {
  const { exported, changed, unreadable } = reached;
  if (changed > 0) context.stderr.write(`warning: ${count(changed)} ${job.what} ${job.changed}\n`);
  for (const id of ids) context.stderr.write(`unreadable: ${printable(id)}\n`);
  const rounded = Number(seconds.toFixed(3));
  if (flags.json === true) printJson(context, { exported, changed, unreadable, seconds: rounded });
  else {
    const rate = count(Math.round(exported / Math.max(rounded, 0.001)));
    const stream = flags.out === undefined ? context.stderr : context.stdout;
    stream.write(
      `${count(exported)} ${job.what} exported from ${from} in ${rounded.toFixed(1)} s (${rate}/s), ${count(unreadable)} unreadable\n`,
    );
  }
  if (unreadable > 0)
    throw new CommandFailure(
      `${count(unreadable)} ${unreadable === 1 ? 'record' : 'records'} could not be read and ${unreadable === 1 ? 'is' : 'are'} not in the export`,
      'millrace store check lists every damaged record; load these records again from their source',
    );
}
