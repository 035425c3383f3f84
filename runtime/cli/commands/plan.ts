import { Command } from 'commander';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import { compileProject, ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { renderDiagnostics } from '../../project/config/diagnostics/render.js';
import type { BindingDescription, PlanDescription } from '../../request/pipeline/types.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { addSettingFlags } from '../setting-flags.js';
import { renderTable } from '../report/table.js';
import { wrap } from '../../ground/core/wrap.js';

type Flags = SettingFlags & { readonly json?: boolean };

export function planCommand(context: CliContext): Command {
  const plan = new Command('plan')
    .description('print the compiled plan of a pipeline: its reads, columns and components')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .option('--json', 'print the plan as JSON')
    .action((name: string, flags: Flags) => printPlan(context, name, flags));
  return addSettingFlags(plan, ['project']);
}

async function printPlan(context: CliContext, name: string, flags: Flags): Promise<void> {
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const compiled = await compileProject(settings.project, settings);
  await compiled.close();
  const { pipelines, diagnostics } = compiled;
  if (diagnostics.some((d) => d.severity === 'error')) throw new ProjectInvalidError(diagnostics);
  const pipeline = pipelines.find((candidate) => candidate.name === name);
  if (pipeline === undefined) {
    const names = pipelines.map((other) => other.name);
    throw unknownPipeline(name, names, 'the project');
  }
  if (diagnostics.length > 0)
    context.stderr.write(`${renderDiagnostics(diagnostics, styleOf(context, context.stderr))}\n\n`);
  const plan = pipeline.describe();
  if (flags.json === true) printJson(context, plan);
  else context.stdout.write(planText(plan, styleOf(context, context.stdout).width));
}

/** Renders the plan as text, at most `width` columns wide. */
export function planText(plan: PlanDescription, width: number): string {
  const columns = renderTable(
    { slot: 'right', name: 'left', kind: 'left', scope: 'left' },
    plan.columns.map((column) => [column.slot, column.name, column.kind, column.scope]),
  );
  return [
    `${plan.pipeline}: ${plan.rank === undefined ? `scores ${plan.score ?? ''}` : `ranks ${plan.rank}`} at POST ${plan.route}\n`,
    ...paramText(plan),
    ...retrievalText(plan, width),
    `Reads; reads with the same number share a round trip to the store\n`,
    ...plan.reads.map((read) => readText(read, width)),
    `Columns\n`,
    columns,
    `Components, in the order they run\n`,
    ...plan.components.map((component) => componentText(component, width)),
    ...answerText(plan, width),
  ].join('\n');
}

function paramText({ params = {} }: PlanDescription): string[] {
  const rows = Object.entries(params).map(([name, { value, min, max }]) => [
    name,
    String(value),
    min === undefined || max === undefined ? '' : `${min} to ${max}`,
  ]);
  if (rows.length === 0) return [];
  const columns = [{ title: 'name' }, { title: 'value', align: 'right' as const }, { title: 'range' }];
  return [`Params\n`, renderTable(columns, rows)];
}

function retrievalText({ retrieval }: PlanDescription, width: number): string[] {
  if (retrieval === undefined) return [];
  return [
    `Retrievers of a request without candidates, which run at the same time after their reads\n`,
    ...retrieval.reads.map((read) => readText(read, width)),
    ...retrieval.components.map((component) => componentText(component, width)),
  ];
}

function answerText({ answer = {} }: PlanDescription, width: number): string[] {
  const lines = Object.entries(answer).map(([name, text]) => wrap(`${name}: ${text}`, 5, width));
  return lines.length === 0
    ? []
    : [`Values that the answer contains in addition to the score\n`, lines.join('')];
}

function readText({ level, what, wants }: PlanDescription['reads'][number], width: number): string {
  return `${String(level).padStart(3)}  ${what}\n${wrap(wants.join(', '), 5, width)}`;
}

function componentText(component: PlanDescription['components'][number], width: number): string {
  const { step, use, as, kind, reads, produces, version, when, top, notes = [] } = component;
  const facts = [
    reads.length === 0 ? '' : `reads: ${reads.join(', ')}`,
    produces.length === 0 ? '' : `produces: ${produces.join(', ')}`,
    version === undefined ? '' : `version: ${version}`,
    when === undefined ? '' : `when: ${when}`,
    top === undefined ? '' : `top: ${String(top)}`,
    ...notes,
  ];
  const name = as === use ? use : `${use} as ${as}`;
  const table = bindingsText(component.bindings, width);
  return `${String(step).padStart(3)}. ${name} (${kind})\n${facts.map((fact) => wrap(fact, 5, width)).join('')}${table}`;
}

/** Of a model: a row for each column, below the facts of its step. */
function bindingsText(bindings: readonly BindingDescription[] = [], width: number): string {
  if (bindings.length === 0) return '';
  const indent = '     ';
  const rest = 30;
  const max = Math.max(12, Math.floor((width - indent.length - rest) / 2));
  const hasCategories = bindings.some(({ categories }) => categories !== undefined);
  const hasDefaults = bindings.some((one) => one.default !== undefined);
  const rows = bindings.map(({ column, value, type, categories, default: otherwise }) => [
    column,
    value,
    type,
    ...(hasCategories ? [categories === undefined ? '' : String(categories)] : []),
    ...(hasDefaults ? [otherwise === undefined ? '' : JSON.stringify(otherwise)] : []),
  ]);
  const columns = [
    { title: 'column', max },
    { title: 'reads', max },
    { title: 'type', max: 16 },
    ...(hasCategories ? [{ title: 'cats', align: 'right' as const }] : []),
    ...(hasDefaults ? [{ title: 'default', max: 8 }] : []),
  ];
  return renderTable(columns, rows).replace(/^(?=.)/gm, indent);
}
