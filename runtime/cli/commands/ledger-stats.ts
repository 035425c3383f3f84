import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import { MANIFEST_FORMAT, type Manifest } from '../../learn/dataset/manifest.js';
import { ledgerStats, type LedgerStats } from '../../learn/dataset/stats/ledger-stats.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { jsonProblem } from '../../ground/core/json-problem.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import { startProgress } from '../../ground/core/progress.js';
import { statsText } from '../report/stats-text.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly against?: string;
  readonly json?: boolean;
}

export function ledgerStatsCommand(context: CliContext): Command {
  const command = new Command('stats')
    .description('count what a ledger holds, what is missing, and what has moved')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .option('--against <DIR>', 'compare the values with those of this data set')
    .option('--json', 'print the counts as JSON')
    .action((flags: Flags) => stats(context, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function stats(context: CliContext, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const ledger = flags.ledger ?? settings.ledgerDir;
  await checkLedger(context, ledger);
  const manifest = flags.against === undefined ? undefined : await readManifest(flags.against);
  const progress = startProgress(context.stderr, 'counting', undefined, 'records');
  let found: LedgerStats;
  try {
    found = await ledgerStats(ledger, manifest, (records) => {
      if (records % 1000 === 0) progress.update(records, records);
    });
  } finally {
    progress.stop();
  }
  if (flags.json === true) printJson(context, statsJson(found));
  else context.stdout.write(statsText(found, styleOf(context, context.stdout).width));
}

async function readManifest(folder: string): Promise<Manifest> {
  const path = join(folder, 'manifest.json');
  let manifest: Partial<Manifest>;
  try {
    manifest = JSON.parse(await readFile(path, 'utf8')) as Partial<Manifest>;
  } catch (error) {
    const problem = error instanceof SyntaxError ? jsonProblem(error) : fileProblem(error);
    throw new CommandFailure(`cannot read ${path}: ${problem}`, 'name the folder that dataset build wrote');
  }
  if (manifest.format === MANIFEST_FORMAT && Array.isArray(manifest.features)) return manifest as Manifest;
  throw new CommandFailure(`${path} is not the manifest of a data set of this version`);
}

function statsJson({
  counts,
  sequences,
  failed,
  degraded,
  statuses,
  candidates,
  ...rest
}: LedgerStats): object {
  const plain = (map: ReadonlyMap<string, unknown>): object =>
    Object.fromEntries(
      Array.from(map, ([key, value]) => [
        key,
        value instanceof Map ? plain(value as ReadonlyMap<string, unknown>) : value,
      ]),
    );
  return {
    counts: {
      ranking: plain(counts.ranking),
      feedback: plain(counts.feedback),
      history: plain(counts.history),
    },
    sequences,
    failed: plain(failed),
    degraded: plain(degraded),
    candidates: plain(candidates),
    statuses: plain(statuses),
    ...rest,
  };
}
