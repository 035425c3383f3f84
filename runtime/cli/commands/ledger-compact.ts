import { join } from 'node:path';
import { Command } from 'commander';
import { compactLedger } from '../../learn/dataset/compact/compact.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { count, counted } from '../../ground/core/count.js';
import { startProgress } from '../../ground/core/progress.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function ledgerCompactCommand(context: CliContext): Command {
  const command = new Command('compact')
    .description('turn closed segments into Parquet files by day and pipeline')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .option('--out <DIR>', 'folder of the files [default: parquet in the folder of the data]')
    .option('--json', 'print the counts as JSON')
    .action((flags: Flags) => compact(context, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function compact(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const ledger = flags.ledger ?? settings.ledgerDir;
  const out = flags.out ?? join(settings.dataDir, 'parquet');
  await checkLedger(context, ledger);
  const progress = startProgress(context.stderr, 'compacting', 1, 'segments');
  let segments = 0;
  try {
    const report = await compactLedger(ledger, out, (fraction) => progress.update(fraction, segments++));
    if (flags.json === true) {
      printJson(context, { ...report, out });
      return;
    }
    const { rows } = report;
    const lines = [
      `${counted(report.segments, 'segment')} → ${counted(report.written, 'Parquet file')} in ${out}`,
      `rows: ${Object.entries(rows)
        .map(([table, number]) => `${count(number)} ${table}`)
        .join(', ')}`,
      ...(report.before > 0
        ? [`${counted(report.before, 'segment was', 'segments were')} compacted before`]
        : []),
      ...stillOpen(report.open),
      ...(report.damaged > 0
        ? [`warning: ${counted(report.damaged, 'record is', 'records are')} torn or damaged, and left out`]
        : []),
    ];
    context.stdout.write(`${lines.join('\n')}\n`);
  } finally {
    progress.stop();
  }
}

function stillOpen(segments: number): string[] {
  if (segments === 0) return [];
  const are = counted(segments, 'segment is', 'segments are');
  return [`${are} still being written; compact ${segments === 1 ? 'it' : 'them'} later`];
}
