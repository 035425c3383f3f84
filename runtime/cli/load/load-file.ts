import { count } from '../../ground/core/count.js';
import { join } from 'node:path';
import { Option, type Command } from 'commander';
import { printable } from '../../ground/core/display-width.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import type { ColumnTypes } from '../../project/rows/csv.js';
import { INPUT_FORMATS, openInput, type Input, type InputFormat } from '../../project/rows/open-input.js';
import { InputError, type InputRow } from '../../project/rows/rows.js';
import type { RowOrder } from './batches.js';
import { openCheckpoint, type Checkpoint } from './checkpoint.js';
import { loadRows, type LoadReport } from './load-rows.js';
import { openTarget, type TargetFlags } from './open-target.js';
import { startProgress } from '../../ground/core/progress.js';
import type { Send } from '../../state/index/send-batch.js';
import type { DataTarget } from './target.js';

export type LoadFlags = TargetFlags & {
  readonly format?: InputFormat;
  readonly json?: boolean;
  readonly resume?: boolean;
};

/** The words of messages about an operation on rows. */
export interface JobWords {
  readonly doing: string;
  /** Also the name of the count in JSON. */
  readonly done: string;
  /** The preposition before the name of the store. */
  readonly where: string;
  /** The message if the end of the file was not reached. It precedes the remedy. */
  readonly unfinished: string;
  /** For updates: the words after the number of rows whose entities the store does not have. */
  readonly unknown?: () => string;
}

/** The most columns that a warning names. */
const SHOWN_COLUMNS = 8;
const LOADING: JobWords = {
  doing: 'loading',
  done: 'loaded',
  where: 'into',
  unfinished: 'the file was not loaded completely; loading it again is safe',
};

/** Rows of a file or of the command line, and the operation on them. */
export interface LoadJob {
  /** Undefined if the rows come from the command line. */
  readonly file: string | undefined;
  /** The kind of the rows, for messages: `product entities`. */
  readonly what: string;
  /** The default is the wording for loading. */
  readonly words?: JobWords;
  readonly order: RowOrder;
  /** The message for a row without an id, and the remedy if the file contains the id under another name. */
  readonly withoutKey?: { readonly problem: string; readonly help: string };
  columnTypes(): Promise<ColumnTypes>;
  /** For a file with a header. @throws InputError */
  checkColumns?(names: readonly string[]): void;
  send(target: DataTarget): Send<InputRow>;
}

export function addLoadFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--format <FORMAT>', 'the format of the file, if its name does not show it').choices(
        INPUT_FORMATS,
      ),
    )
    .option('--resume', 'continue an interrupted load of this file instead of starting again')
    .option('--json', 'print the counts as JSON');
}

/**
 * Loads a file and prints a summary. @throws CommandFailure if a row was rejected, or the error that stopped the load
 */
export async function loadFile(
  context: CliContext,
  flags: LoadFlags,
  job: LoadJob & { readonly file: string },
): Promise<void> {
  const input = await openInput(job.file, {
    stdin: context.stdin,
    format: flags.format,
    formatFlag: '--format',
    columnTypes: () => job.columnTypes(),
    checkColumns: (names) => job.checkColumns?.(names),
  });
  try {
    await loadInput(input, context, flags, job);
  } finally {
    await input.close();
  }
}

/** Like `loadFile`, for rows that are already open. */
export async function loadInput(
  input: Input,
  context: CliContext,
  flags: LoadFlags,
  job: LoadJob,
): Promise<void> {
  const checkpoint = await checkpointOf(context, flags, job);
  const target = await openTarget(context, flags, 'data');
  let report: LoadReport;
  try {
    const progress = startProgress(
      context.stderr,
      `${(job.words ?? LOADING).doing} ${job.what}`,
      input.totalBytes,
    );
    report = await loadRows(
      input,
      { order: job.order, send: job.send(target), shape: target.batches },
      progress,
      checkpoint,
    );
  } finally {
    checkpoint?.close();
    await target.close();
  }
  tell(context, flags, job, input, { target, report, checkpoint });
  if (report.failure !== undefined) throw report.failure;
  if (report.refused > 0)
    throw new CommandFailure(
      report.refused === 1 ? '1 row was refused' : `${count(report.refused)} rows were refused`,
      report.bad.some(({ problem }) => problem === job.withoutKey?.problem)
        ? job.withoutKey?.help
        : undefined,
    );
}

/** Standard input cannot be read again, so only a file can be resumed. */
async function checkpointOf(
  context: CliContext,
  flags: LoadFlags,
  job: LoadJob,
): Promise<Checkpoint | undefined> {
  if (job.file === undefined || job.file === '-') {
    const what = job.file === undefined ? 'rows of the command line' : 'standard input';
    if (flags.resume === true) throw new UsageError(`${what} cannot be resumed; use a file`);
    return undefined;
  }
  const { store, prefix, dataDir, redisUrl, redisCluster, redisSentinels } = await settingsOf(context, flags);
  const into = flags.url ?? JSON.stringify([store, prefix, dataDir, redisUrl, redisCluster, redisSentinels]);
  const folder = join(dataDir, 'loads');
  const checkpoint = await openCheckpoint(
    { folder, file: job.file, load: [job.what, into, ...(job.words === undefined ? [] : [job.words.doing])] },
    flags.resume === true,
  );
  if (flags.resume === true) {
    context.stderr.write(
      checkpoint.after === 0
        ? `there is no interrupted load of ${job.file}; loading it from the start\n`
        : `continuing after row ${count(checkpoint.after)}\n`,
    );
  }
  return checkpoint;
}

interface FinishedLoad {
  readonly target: Pick<DataTarget, 'name' | 'coerced'>;
  readonly report: LoadReport;
  readonly checkpoint: Checkpoint | undefined;
}

function tell(
  context: CliContext,
  flags: LoadFlags,
  job: LoadJob,
  input: Input,
  { target: { name: target, coerced }, report, checkpoint }: FinishedLoad,
): void {
  for (const { name, near } of report.loaded > 0 ? input.misspelt() : [])
    context.stderr.write(
      `warning: the project does not declare ${printable(name)}, so no pipeline reads that column; did you mean ${near}?\n`,
    );
  const undeclared = report.loaded > 0 ? input.undeclared() : [];
  if (undeclared.length > 0) {
    const shown = undeclared.slice(0, SHOWN_COLUMNS).map(printable).join(', ');
    const more = undeclared.length > SHOWN_COLUMNS ? ' …' : '';
    context.stderr.write(
      `warning: the project declares nothing of this file but the id, and not ${shown}${more}; name the columns as the schema does\n`,
    );
  }
  for (const { line, problem } of report.bad)
    context.stderr.write(`${input.unit} ${String(line)}: ${printable(problem)}\n`);
  const hidden = report.refused - report.bad.length;
  if (hidden > 0) context.stderr.write(`… and ${count(hidden)} more\n`);
  const { loaded, refused, older, expired, unknown, duplicates } = report;
  const { done, where, unfinished, unknown: unknownWords } = job.words ?? LOADING;
  if (expired > 0 && expired === loaded)
    context.stderr.write(
      `warning: every row that was ${done} is older than the ttl of its view, so rankings read all of them as expired; check event_time\n`,
    );
  const seconds = Number(report.seconds.toFixed(3));
  if (flags.json === true) {
    const ofLoad = {
      ...(job.words === undefined && { expired, duplicates }),
      ...(coerced > 0 && { coerced }),
    };
    const ofUpdate = unknownWords === undefined ? {} : { unknown };
    printJson(context, { [done]: loaded, refused, older, ...ofLoad, ...ofUpdate, seconds });
    return;
  }
  const rate = Math.round(loaded / Math.max(seconds, 0.001));
  const left = older === 0 ? '' : `, ${count(older)} older than the stored row`;
  const late = expired === 0 ? '' : `, ${count(expired)} older than the ttl of the view`;
  const repeated = duplicates === 0 ? '' : `, ${count(duplicates)} repeated an id`;
  const missing = unknown === 0 ? '' : `, ${count(unknown)} ${unknownWords?.() ?? ''}`;
  const converted = coerced === 0 ? '' : `, ${count(coerced)} values converted`;
  context.stdout.write(
    `${count(loaded)} ${job.what} ${done} ${where} ${target} in ${seconds.toFixed(1)} s (${count(rate)}/s), ` +
      `${count(refused)} refused${left}${late}${missing}${repeated}${converted}\n`,
  );
  if (report.failure !== undefined)
    context.stderr.write(`${unfinished}${afterFailure(report.failure, checkpoint)}\n`);
}

function afterFailure(failure: Error, checkpoint: Checkpoint | undefined): string {
  // A corrected file counts as a different file, so it cannot be resumed.
  if (checkpoint === undefined || failure instanceof InputError) return '';
  return checkpoint.fault === undefined
    ? ', and --resume continues from here'
    : `; its progress could not be saved: ${checkpoint.fault.message}`;
}
