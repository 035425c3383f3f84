import { typeText, type ValueType } from '../../../ground/api/types.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { Located, Span } from '../yaml/source.js';
import type { ArmDefinition, ExperimentDefinition, ExperimentMetric } from '../model/experiments.js';
import type { EventKind } from '../model/events.js';
import type { PipelineDefinition, RequestField } from '../model/pipelines.js';
import { checkLayers } from './check-layers.js';
import { paramProblem } from './param-values.js';
import { EXPERIMENT_MODES } from '../model/experiment-modes.js';

/** What experiments may name. */
export interface ExperimentNames {
  readonly pipelines: readonly PipelineDefinition[];
  /** Includes pipelines whose files have errors. */
  readonly pipelineNames: ReadonlySet<string>;
  readonly events: ReadonlyMap<string, EventKind>;
}

/** Checks what experiments name, and that experiments that change the same thing exclude one another. */
export function checkExperiments(
  experiments: readonly ExperimentDefinition[],
  names: ExperimentNames,
  diagnostics: Diagnostics,
): void {
  for (const experiment of experiments) {
    checkArms(experiment, names, diagnostics);
    checkMetrics(experiment, names, diagnostics);
    EXPERIMENT_MODES[experiment.mode].check?.(experiment, diagnostics);
  }
  checkLayers(experiments, diagnostics);
}

function checkArms(
  { pipeline, unit, assign, arms }: ExperimentDefinition,
  names: ExperimentNames,
  diagnostics: Diagnostics,
): void {
  const definition = pipelineOf(pipeline, names, diagnostics);
  const [control, ...others] = arms.values();
  if (control !== undefined && (control.params.size > 0 || control.pipeline !== undefined))
    diagnostics.error(
      'invalid_arm',
      control.at,
      `\`${control.name}\`: the first arm is the control, so it cannot change anything`,
      'write the control first, for example `control: {}`',
    );
  if (definition === undefined) return;
  if (definition.task === 'score')
    diagnostics.error(
      'ranking_only',
      pipeline.at,
      `the pipeline \`${definition.name}\` scores one entity; experiments need a pipeline that ranks`,
    );
  checkUnit(unit, definition, diagnostics);
  if (assign !== undefined) checkAssign(assign, definition, diagnostics);
  for (const arm of others) checkArm(arm, definition, unit.value, names, diagnostics);
}

function checkArm(
  { name, params, pipeline, at }: ArmDefinition,
  definition: PipelineDefinition,
  unit: string,
  names: ExperimentNames,
  diagnostics: Diagnostics,
): void {
  if (pipeline !== undefined && params.size > 0)
    diagnostics.error(
      'invalid_arm',
      at,
      `\`${name}\`: an arm changes params or names a pipeline, not both`,
      'put the values under `params:` of that pipeline',
    );
  for (const [param, { value, at: place }] of params) {
    const problem = paramProblem(definition, param, value);
    if (problem !== undefined) diagnostics.error('invalid_arm', place, problem.message, problem.help);
  }
  const other = pipeline && pipelineOf(pipeline, names, diagnostics);
  if (other === undefined || pipeline === undefined) return;
  const fault = unfit(other, definition, unit);
  if (fault !== undefined) diagnostics.error('invalid_arm', pipeline.at, `\`${name}\`: ${fault}`);
}

/** Why a pipeline cannot answer the requests of another. */
function unfit(other: PipelineDefinition, called: PipelineDefinition, unit: string): string | undefined {
  const { name, candidateType, request } = called;
  if (other.name === name)
    return `\`${name}\` is the pipeline of the experiment itself; leave \`pipeline\` out`;
  if (other.task !== 'rank') return `\`${other.name}\` scores one entity`;
  if (other.candidateType.value !== candidateType.value)
    return `\`${other.name}\` ranks ${other.candidateType.value}, but \`${name}\` ranks ${candidateType.value}`;
  for (const [field, own] of other.request.fields) {
    const { optional } = own;
    const known = request.fields.get(field);
    if (known === undefined && !optional) return `\`${other.name}\` needs \`${field}\` in the request`;
    if (known !== undefined && (!holds(own, known) || (known.optional && !optional)))
      return `\`${field}\` of the request is not the same in \`${other.name}\` and \`${name}\``;
  }
  if (!other.request.fields.has(unit)) return `the request of \`${other.name}\` has no \`${unit}\``;
  return refused(other, called);
}

/** Whether a field can have every value that another one can have. */
function holds(own: RequestField, known: RequestField): boolean {
  if (own.kind === 'entity') return known.kind === 'entity' && known.entity === own.entity;
  return known.kind === 'scalar' && holdsType(own.type, known.type);
}

function holdsType(own: ValueType, known: ValueType): boolean {
  return typeText(own) === typeText(known) || (own.kind === 'float' && known.kind === 'int');
}

/** Which requests a pipeline refuses that another one answers. Such a request would fail in one arm alone. */
function refused(
  { name: arm, request: own, page, limits }: PipelineDefinition,
  { name, request, page: otherPage, limits: otherLimits }: PipelineDefinition,
): string | undefined {
  for (const [attribute, { type }] of own.candidates) {
    const known = request.candidates.get(attribute);
    if (known !== undefined && !holdsType(type, known.type))
      return `\`${attribute}\` of the candidates is not the same in \`${arm}\` and \`${name}\``;
  }
  const lacks = [...request.fields.keys()].find((field) => !own.fields.has(field));
  const lacking = lacks ?? [...request.candidates.keys()].find((one) => !own.candidates.has(one));
  if (own.unknown === 'refuse' && (request.unknown !== 'refuse' || lacking !== undefined))
    return `\`${arm}\` refuses ${lacking === undefined ? 'unknown fields' : `\`${lacking}\``}, but \`${name}\` does not`;
  if (own.duplicates === 'refuse' && request.duplicates !== 'refuse')
    return `\`${arm}\` refuses duplicate candidates, but \`${name}\` does not`;
  if (page.maxSize < otherPage.maxSize)
    return `a page of \`${arm}\` has at most ${page.maxSize} candidates, but one of \`${name}\` ${otherPage.maxSize}`;
  if (limits.candidates < otherLimits.candidates)
    return `\`${arm}\` takes at most ${limits.candidates} candidates, but \`${name}\` ${otherLimits.candidates}`;
  return undefined;
}

function checkUnit(
  unit: Located<string>,
  { name, request }: PipelineDefinition,
  diagnostics: Diagnostics,
): void {
  const field = request.fields.get(unit.value);
  if (field?.kind === 'entity') return;
  const known = [...request.fields.values()].flatMap((one) => (one.kind === 'entity' ? [one.name] : []));
  const all =
    known.length === 0
      ? 'add one under `request:`, such as `user: optional(user)`'
      : `it has ${known.join(', ')}`;
  diagnostics.error(
    'unknown_name',
    unit.at,
    `\`unit\`: the request of \`${name}\` has no entity called \`${unit.value}\``,
    didYouMean(unit.value, known) ?? all,
  );
}

function checkAssign(
  { value, at }: Located<string>,
  { name, request }: PipelineDefinition,
  diagnostics: Diagnostics,
): void {
  const texts = [...request.fields.values()].flatMap((field) =>
    field.kind === 'scalar' && field.type.kind === 'string' ? [field.name] : [],
  );
  if (texts.includes(value)) return;
  diagnostics.error(
    'unknown_name',
    at,
    `\`assign\`: the request of \`${name}\` has no text called \`${value}\``,
    didYouMean(value, texts) ??
      (texts.length > 0
        ? `it has ${texts.join(', ')}`
        : 'add one under `request:`, such as `variant: optional(string)`'),
  );
}

function checkMetrics(
  { metrics }: ExperimentDefinition,
  names: ExperimentNames,
  diagnostics: Diagnostics,
): void {
  if (metrics === undefined) return;
  const { primary, secondary, guard } = metrics;
  const listed = new Set<string>();
  const checkOnce = (name: string, at: Span, key: string): void => {
    if (listed.has(key))
      diagnostics.error('duplicate_name', at, `\`${name}\` is listed twice`, 'remove one of them');
    listed.add(key);
  };
  for (const metric of [primary, ...secondary]) {
    checkMetric(metric, names, diagnostics);
    const { at, ...rule } = metric;
    checkOnce(metric.event, at, JSON.stringify(rule));
  }
  for (const { metric, at } of guard) checkOnce(metric, at, metric);
}

function checkMetric(
  { event, over, value, at }: ExperimentMetric,
  { events }: ExperimentNames,
  diagnostics: Diagnostics,
): void {
  const kinds = [...events.keys()];
  for (const name of over === undefined ? [event] : [event, over])
    if (!events.has(name))
      diagnostics.error(
        'unknown_name',
        wordIn(at, name),
        `there is no kind of feedback \`${name}\``,
        didYouMean(name, kinds) ?? `the kinds are ${kinds.join(', ')}`,
      );
  const values = [...(events.get(event)?.values.keys() ?? [])];
  if (value.kind === 'sum' && events.has(event) && !values.includes(value.of))
    diagnostics.error(
      'unknown_name',
      wordIn(at, value.of),
      `events of the kind \`${event}\` carry no \`${value.of}\``,
      didYouMean(value.of, values) ??
        `declare it under \`events:\` of millrace.yaml, as in \`${event}: { ${value.of}: float }\``,
    );
}

/** @returns undefined if there is none, which is reported, or if its file has errors */
export function pipelineOf(
  { value, at }: Located<string>,
  { pipelines, pipelineNames }: Pick<ExperimentNames, 'pipelines' | 'pipelineNames'>,
  diagnostics: Diagnostics,
): PipelineDefinition | undefined {
  const found = pipelines.find(({ name }) => name === value);
  if (found !== undefined || pipelineNames.has(value)) return found;
  const known = pipelines.map(({ name }) => name);
  const help = didYouMean(value, known) ?? `the pipelines are ${known.join(', ')}`;
  diagnostics.error('unknown_pipeline', at, `there is no pipeline \`${value}\``, help);
  return undefined;
}

/** The place of a word in the lines that begin at a place. */
function wordIn({ file, start, end }: Span, word: string): Span {
  const found = new RegExp(`\\b${word}\\b`, 'g');
  found.lastIndex = start;
  const at = found.exec(file.text)?.index;
  return at === undefined ? { file, start, end } : { file, start: at, end: at + word.length };
}
