import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { DataSetProblem } from '../../learn/dataset/problem.js';
import { experimentReport, type ExperimentReport } from '../../learn/outcomes/experiment-report.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, styleOf, type CliContext } from '../context.js';
import { findPlan } from '../experiments/find-plan.js';
import { reportJson } from '../experiments/report-json.js';
import { reportPage } from '../experiments/report-page.js';
import { reportText } from '../experiments/report-text.js';
import { CommandFailure } from '../failure.js';
import { writeOutput } from '../judge/output.js';
import { checkLedger } from '../ledger-folder.js';
import { startProgress } from '../load/progress.js';
import { scratchFolder } from '../scratch-folder.js';
import { addSettingFlags } from '../setting-flags.js';

interface Flags extends SettingFlags {
  readonly ledger?: string;
  readonly effect: number;
  readonly json?: boolean;
  readonly html?: string;
}

/** Steps of the progress bar. */
const STEPS = 1000;
const DEFAULT_EFFECT = '5%';

export function experimentsReportCommand(context: CliContext): Command {
  const command = new Command('report')
    .description('report what an experiment did: effects, guards, and a decision')
    .argument('<NAME>', 'name of an experiment, a file of experiments/')
    .option('--ledger <DIR>', 'folder of the ledger [default: that of the project]')
    .addOption(
      new Option('--effect <SHARE>', 'the relative effect that the experiment should find')
        .argParser(parseEffect)
        .default(parseEffect(DEFAULT_EFFECT), DEFAULT_EFFECT),
    )
    .option('--json', 'print the report as JSON')
    .option('--html <FILE>', 'write the report as one HTML page')
    .action((name: string, flags: Flags) => report(context, name, flags));
  return addSettingFlags(command, ['project', 'dataDir']);
}

async function report(context: CliContext, name: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const plan = await findPlan(settings.project, context.env, name);
  const ledger = flags.ledger ?? settings.ledgerDir;
  await checkLedger(context, ledger);
  const work = scratchFolder(context, join(tmpdir(), 'millrace-experiment-'));
  const progress = startProgress(context.stderr, 'reading', STEPS, 'steps');
  let found: ExperimentReport;
  try {
    found = await experimentReport(ledger, work.path, plan, flags.effect, (fraction) => {
      progress.update(Math.round(fraction * STEPS), Math.round(fraction * STEPS));
    });
  } catch (error) {
    if (!(error instanceof DataSetProblem)) throw error;
    throw new CommandFailure(error.message, error.help);
  } finally {
    progress.stop();
    await work.remove();
  }
  for (const warning of found.warnings) context.stderr.write(`warning: ${warning}\n`);
  if (flags.html !== undefined) await writeOutput(flags.html, reportPage(found));
  if (flags.json === true) printJson(context, reportJson(found));
  else context.stdout.write(reportText(found, styleOf(context, context.stdout).width));
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
