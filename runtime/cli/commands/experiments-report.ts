import { Command } from 'commander';
import { styleOf } from '../../ground/core/console.js';
import { experimentReport } from '../../learn/outcomes/experiment-report.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { findPlan } from '../experiments/find-plan.js';
import { addSourceFlags, readSources, type SourceFlags } from '../experiments/sources.js';
import { reportJson } from '../../learn/report/experiment-json.js';
import { reportTree } from '../../learn/report/experiment-tree.js';
import { writeReport } from '../report/write-report.js';
import { reportText } from '../report/report.js';

interface Flags extends SourceFlags {
  readonly html?: string;
}

export function experimentsReportCommand(context: CliContext): Command {
  const command = new Command('report')
    .description('report what an experiment did: effects, guards, and a decision')
    .argument('<NAME>', 'name of an experiment, a file of experiments/')
    .option('--json', 'print the report as JSON')
    .option('--html <FILE>', 'write the report as one HTML page')
    .action((name: string, flags: Flags) => report(context, name, flags));
  return addSourceFlags(command);
}

async function report(context: CliContext, name: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const plan = await findPlan(settings, context.env, name);
  const found = await readSources(context, settings, flags, plan, (sources) =>
    experimentReport(plan.plan, sources, flags.effect),
  );
  for (const warning of found.warnings) context.stderr.write(`warning: ${warning}\n`);
  if (flags.html !== undefined) await writeReport(context, flags.html, reportTree(found));
  if (flags.json === true) printJson(context, reportJson(found));
  else context.stdout.write(reportText(reportTree(found).parts, styleOf(context, context.stdout).width));
}
