import { Command } from 'commander';
import { compileProject, ProjectInvalidError } from '../../app.js';
import type { PlanDescription } from '../../pipeline/types.js';
import type { SettingFlags } from '../../settings.js';
import { printJson, settingsOf, type CliContext } from '../context.js';
import { unknownPipeline } from '../load/target.js';
import { addSettingFlags } from '../setting-flags.js';
import { renderTable } from '../table.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function planCommand(context: CliContext): Command {
  const plan = new Command('plan')
    .description('print what a pipeline compiles to: its reads, columns and components')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .option('--json', 'print the plan as JSON')
    .action((name: string, flags: Flags) => printPlan(context, name, flags));
  return addSettingFlags(plan, ['project']);
}

async function printPlan(context: CliContext, name: string, flags: Flags): Promise<void> {
  const { pipelines, diagnostics } = await compileProject(settingsOf(context, flags).project);
  if (diagnostics.some((d) => d.severity === 'error')) throw new ProjectInvalidError(diagnostics);
  const pipeline = pipelines.find((candidate) => candidate.name === name);
  if (pipeline === undefined) {
    const names = pipelines.map((other) => other.name);
    throw unknownPipeline(name, names, 'the project');
  }
  const plan = pipeline.describe();
  if (flags.json === true) printJson(context, plan);
  else context.stdout.write(planText(plan));
}

/** The plan as tables. */
export function planText(plan: PlanDescription): string {
  const reads = renderTable(
    [{ title: 'trip', align: 'right' }, { title: 'of' }, { title: 'what' }, { title: 'wants' }],
    plan.reads.map((read) => [String(read.level), read.of, read.what, read.wants.join(', ')]),
  );
  const columns = renderTable(
    [{ title: 'slot', align: 'right' }, { title: 'name' }, { title: 'kind' }, { title: 'scope' }],
    plan.columns.map((column) => [String(column.slot), column.name, column.kind, column.scope]),
  );
  return (
    `${plan.pipeline}: ranks ${plan.rank} at POST ${plan.route}\n\n` +
    `Reads, one round trip to the store for each number\n\n${reads}\n` +
    `Columns\n\n${columns}\n` +
    `Components, in the order they run\n\n${plan.components.map(componentText).join('\n')}`
  );
}

function componentText(component: PlanDescription['components'][number]): string {
  const name = component.as === component.use ? component.use : `${component.use} as ${component.as}`;
  const facts = [
    ['reads', component.reads.join(', ')],
    ['produces', component.produces.join(', ')],
    ['when', component.when ?? ''],
    ['top', component.top === undefined ? '' : String(component.top)],
  ];
  const lines = facts.filter(([, text]) => text !== '').map(([label, text]) => `     ${label}: ${text}\n`);
  return `${String(component.step).padStart(3)}. ${name} (${component.kind})\n${lines.join('')}`;
}
