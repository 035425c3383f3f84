import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError, Option, type Command } from 'commander';
import { startProgress } from '../../ground/core/progress.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';
import { DataSetProblem } from '../../learn/dataset/problem.js';
import { metricsOf, type ReportSources } from '../../learn/outcomes/report-plan.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';
import type { SettingFlags, Settings } from '../../project/settings/settings.js';
import { checkLedger } from '../../state/ledger/ledger-folder.js';
import type { CliContext } from '../context.js';
import { addSettingFlags, timeFlag } from '../setting-flags.js';
import type { FoundPlan } from '../../learn/outcomes/plan-of.js';

/** What `report` and `plan` read. */
export interface SourceFlags extends SettingFlags {
  readonly ledger?: string;
  readonly outcomes?: string;
  readonly covariates?: string;
  readonly at?: number;
  readonly effect: number;
  readonly json?: boolean;
}

const DEFAULT_EFFECT = '5%';
/** Steps of the progress bar. */
const STEPS = 1000;

export function addSourceFlags(command: Command): Command {
  command
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .option(
      '--outcomes <FILE>',
      'what units did (unit, time, value, event), instead of the feedback of the ledger',
    )
    .option('--covariates <FILE>', 'what units were before (unit, value, base), for metrics with `adjust`')
    .addOption(new Option('--at <TIME>', 'report as at this time [default: now]').argParser(timeFlag))
    .addOption(
      new Option('--effect <SHARE>', 'the relative effect that the experiment should find')
        .argParser(parseEffect)
        .default(parseEffect(DEFAULT_EFFECT), DEFAULT_EFFECT),
    );
  return addSettingFlags(command, ['project', 'dataDir']);
}

/** Reads the sources that the flags name, with a progress bar and a scratch folder. @throws CommandFailure */
export async function readSources<Found>(
  context: CliContext,
  settings: Settings,
  flags: SourceFlags,
  { plan, shown }: FoundPlan,
  read: (sources: ReportSources) => Promise<Found>,
): Promise<Found> {
  const { outcomes, covariates, at = Date.now() } = flags;
  if (outcomes !== undefined && isMixed(plan))
    throw new UsageError(
      '--outcomes: an interleaving credits events to places of pages, which only feedback names',
    );
  if (covariates !== undefined && metricsOf(plan).every(({ before }) => before === undefined))
    throw new UsageError(
      `--covariates: no metric of experiments/${plan.experiment}.yaml has \`adjust: { before: 14d }\`, which you write before the experiment starts`,
    );
  const ledger = flags.ledger ?? settings.ledgerDir;
  await checkLedger(context, ledger);
  const work = scratchFolder(context, join(tmpdir(), 'millrace-experiment-'));
  const bar = startProgress(context.stderr, 'reading', STEPS, 'steps');
  const progress = (fraction: number): void =>
    bar.update(Math.round(fraction * STEPS), Math.round(fraction * STEPS));
  const files = { outcomes, covariates, shown, stdin: context.stdin };
  try {
    return await read({ ledger, work: work.path, at, files, progress });
  } catch (error) {
    if (!(error instanceof DataSetProblem)) throw error;
    throw new CommandFailure(error.message, error.help);
  } finally {
    bar.stop();
    await work.remove();
  }
}

/** `5%` or `0.05` */
function parseEffect(text: string): number {
  const [, number, sign] = /^(\d+(?:\.\d+)?)(%?)$/.exec(text) ?? [];
  const effect = Number(number) / (sign === '%' ? 100 : 1);
  // Without the sign, 5 is rather 5 % than 500 %.
  if (!(effect > 0 && effect <= (sign === '%' ? 10 : 1)))
    throw new InvalidArgumentError('Expected a relative effect above 0, such as 5% or 0.05.');
  return effect;
}
