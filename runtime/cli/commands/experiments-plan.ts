import { Command } from 'commander';
import { styleOf } from '../../ground/core/console.js';
import { sizePlan } from '../../learn/outcomes/size-plan.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { findPlan } from '../experiments/find-plan.js';
import { addSourceFlags, readSources, type SourceFlags } from '../experiments/sources.js';
import { reportText } from '../report/report.js';
import { sizeJson, sizeParts } from '../report/size-plan.js';

export function experimentsPlanCommand(context: CliContext): Command {
  const command = new Command('plan')
    .description('say how many units and days an experiment needs, from the log of its pipeline')
    .argument('<NAME>', 'name of an experiment, a file of experiments/')
    .option('--json', 'print the plan as JSON')
    .action((name: string, flags: SourceFlags) => plan(context, name, flags));
  return addSourceFlags(command);
}

async function plan(context: CliContext, name: string, flags: SourceFlags): Promise<void> {
  const settings = await settingsOf(context, flags);
  const found = await findPlan(settings, context.env, name);
  if (isMixed(found.plan))
    throw new CommandFailure(
      `${name} interleaves, and how many units prefer an arm is not known before`,
      'start with a few hundred requests: the table in docs/experiments/reports.md compares it with a split',
    );
  const effects = [0.5, 1, 2].map((times) => flags.effect * times);
  const sized = await readSources(context, settings, flags, found, (sources) =>
    sizePlan(found.plan, found, sources, effects),
  );
  for (const warning of sized.warnings) context.stderr.write(`warning: ${warning}\n`);
  if (flags.json === true) printJson(context, sizeJson(sized));
  else context.stdout.write(reportText(sizeParts(sized), styleOf(context, context.stdout).width));
}
