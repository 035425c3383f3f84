import { Command } from 'commander';
import { findExperiment, type ExperimentState } from '../../request/experiments/experiment-states.js';
import { printJson, type CliContext } from '../context.js';
import { readSchemas } from '../project-types.js';
import { openTarget, type TargetFlags } from '../load/open-target.js';
import { experimentsPlanCommand } from './experiments-plan.js';
import { experimentsReportCommand } from './experiments-report.js';
import { addTargetFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';
import { EXPERIMENT_MODES, type ModeTraits } from '../../project/config/model/experiment-modes.js';

type Flags = TargetFlags & { readonly json?: boolean };

export function experimentsCommand(context: CliContext): Command {
  const list = new Command('list')
    .description('list the experiments of the project, with their states')
    .option('--json', 'print them as JSON')
    .action((flags: Flags) => listExperiments(context, flags));
  const stop = new Command('stop')
    .description('stop an experiment at once, on all instances, without a deployment')
    .argument('<NAME>', 'name of the experiment')
    .option('--json', 'print its state as JSON')
    .action((name: string, flags: Flags) => changeState(context, name, 'stop', flags));
  const resume = new Command('resume')
    .description('go on with a stopped experiment; every unit gets the arm that it had')
    .argument('<NAME>', 'name of the experiment')
    .option('--json', 'print its state as JSON')
    .action((name: string, flags: Flags) => changeState(context, name, 'resume', flags));
  const command = new Command('experiments')
    .description('list, plan, stop and resume experiments on live traffic, and see what they did')
    .addCommand(experimentsPlanCommand(context))
    .addCommand(experimentsReportCommand(context));
  for (const one of [list, stop, resume]) command.addCommand(addTargetFlags(one));
  return command;
}

async function listExperiments(context: CliContext, flags: Flags): Promise<void> {
  const target = await openTarget(context, flags, 'data');
  try {
    const { experiments } = await target.experiments();
    if (flags.json === true) printJson(context, { experiments });
    else if (experiments.length === 0) context.stdout.write('the project has no experiments\n');
    else context.stdout.write(renderTable(COLUMNS, experiments.map(rowOf)));
  } finally {
    await target.close();
  }
}

const COLUMNS = ['Experiment', 'Pipeline', 'Layer', 'Share', 'State'].map((title) => ({ title }));

function rowOf({ experiment, pipeline, layer, share, assign, state }: ExperimentState): string[] {
  const place = assign === undefined ? [layer, `${Number((share * 100).toFixed(6))}%`] : ['-', '-'];
  return [experiment, pipeline, ...place, state];
}

/** Another version of the service may have more modes. */
const MODES: Readonly<Partial<Record<string, ModeTraits>>> = EXPERIMENT_MODES;

/** A stop of a shadow experiment is kept for the day when the file has another mode. */
const NOTHING_LIVE =
  'note: this experiment has mode: shadow, so no request is assigned to its arms; a running `millrace shadow` goes on until Ctrl+C\n';

async function changeState(
  context: CliContext,
  name: string,
  verb: 'stop' | 'resume',
  flags: Flags,
): Promise<void> {
  // A misspelt name is told whether or not the store answers.
  if (flags.url === undefined) findExperiment(name, (await readSchemas(context, flags)).experiments);
  const target = await openTarget(context, flags, 'data');
  try {
    const state = await target.changeExperiment(verb, name);
    if (flags.json === true) printJson(context, state);
    else context.stdout.write(`${state.experiment}: ${state.state}\n`);
    if (MODES[state.mode]?.isLive === false) context.stderr.write(NOTHING_LIVE);
  } finally {
    await target.close();
  }
}
