import { once } from 'node:events';
import { Command, Option } from 'commander';
import { parseDuration } from '../../ground/api/duration.js';
import { timestampOf } from '../../ground/core/timestamp.js';
import { followRecords } from '../../state/ledger/follow-records.js';
import { readReport, type ReadReport } from '../../state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../state/ledger/record-decoder.js';
import { recordJson } from '../../state/ledger/record-json.js';
import { readRecords } from '../../state/ledger/record-reader.js';
import { RECORD_KINDS, type RecordKind } from '../../ground/api/ledger.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { settingsOf, type CliContext } from '../context.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly kind?: RecordKind;
  readonly request?: string;
  readonly since?: string;
  readonly follow?: boolean;
}

export function ledgerCatCommand(context: CliContext): Command {
  const command = new Command('cat')
    .description('print records as JSON lines')
    .argument('[PATH...]', 'folders or files with the records [default: the ledger of the project]')
    .addOption(new Option('--kind <KIND>', 'only records of this kind').choices(RECORD_KINDS))
    .option('--request <ID>', 'only the ranking and the feedback of the request with this id')
    .option('--since <TIME>', 'only records written since then: 2026-11-22T09:00Z, or 2h for two hours ago')
    .option('--follow', 'wait for further records, until the command is stopped')
    .action((paths: string[], flags: Flags) => print(context, paths, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function print(context: CliContext, paths: readonly string[], flags: Flags): Promise<void> {
  const since = flags.since === undefined ? -Infinity : sinceOf(flags.since);
  const sources = paths.length > 0 ? paths : [(await settingsOf(context, flags)).ledgerDir];
  for (const source of sources) await checkLedger(context, source);
  const report = readReport();
  let printed = 0;
  for await (const record of recordsOf(context, sources, flags, report)) {
    if (record.time < since || (flags.kind !== undefined && record.kind !== flags.kind)) continue;
    if (flags.request !== undefined && record.field('request_id')?.at(0) !== flags.request) continue;
    if (!context.stdout.write(`${JSON.stringify(recordJson(record))}\n`)) await once(context.stdout, 'drain');
    printed++;
  }
  if (printed === 0) context.stderr.write('note: no record was found\n');
  tell(context, report);
}

async function* recordsOf(
  context: CliContext,
  sources: readonly string[],
  { follow }: Flags,
  report: ReadReport,
): AsyncGenerator<DecodedRecord, void> {
  if (follow === true) yield* followRecords(sources, report, context.stopSignal());
  else for (const source of sources) yield* readRecords(source, report);
}

/** What could not be read, for people. A torn end alone is normal: the writer is still at work, or was killed. */
function tell(context: CliContext, { torn, damaged, ended, skipped }: ReadReport): void {
  const say = (count: number, one: string, many: string): void => {
    if (count > 0) context.stderr.write(`warning: ${count === 1 ? one : many.replace('N', String(count))}\n`);
  };
  say(
    torn,
    'a segment ends within a record: it is still being written, or its process was killed',
    'N segments end within a record: they are still being written, or their processes were killed',
  );
  say(damaged, 'a damaged record was left out', 'N damaged records were left out');
  say(
    ended,
    'a segment could not be read to its end because of damage',
    'N segments could not be read to their ends because of damage',
  );
  say(
    skipped,
    'a record was left out: a newer version of Millrace wrote it, or its schema is damaged',
    'N records were left out: a newer version of Millrace wrote them, or their schemas are damaged',
  );
}

/** @throws UsageError if it is neither a time nor a duration */
function sinceOf(text: string): number {
  const duration = parseDuration(text);
  const time = duration === undefined ? timestampOf(text) : Date.now() - duration;
  if (Number.isNaN(time))
    throw new UsageError(
      `--since: expected a time such as 2026-11-22T09:00Z or a duration such as 2h, found ${text}`,
    );
  return time;
}
