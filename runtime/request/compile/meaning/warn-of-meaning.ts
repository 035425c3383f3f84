import type { FilterComponent, ModelComponent, RuleComponent } from '../../../ground/api/component.js';
import { spanWithin, type Span } from '../../../project/config/yaml/source.js';
import type { Operand } from '../../../language/expression/operand.js';
import { ANY, exactly, NEVER, type Values } from '../../../language/expression/values/values.js';
import type { OpenPipeline } from '../open-pipeline.js';
import type { PlannedStep } from '../plan.js';
import { factsOf, together, type Facts } from './facts.js';
import { inspect, valuesAt, type Finding, type Place } from './inspect.js';
import type { StepExpression, WrittenExpression } from './written.js';

/** What holds before a step of the pipeline. */
interface Course {
  readonly facts: Facts;
  /** `first`: no step has changed a score yet. */
  readonly scores: 'first' | 'any';
  /** The columns of outputs that no step ever writes. */
  readonly dead: ReadonlySet<number>;
}

/**
 * Warns of expressions and steps that can only be a mistake: conditions that never change, defaults that are never
 * used, rules that have nothing to change. The warnings hold for every request.
 */
export function warnOfMeaning(pipeline: OpenPipeline, steps: readonly PlannedStep[]): void {
  let course: Course = { facts: new Map(), scores: 'first', dead: new Set() };
  for (const { text, root, slot } of pipeline.names.writtenDefinitions)
    report({ text, root, slot }, placeOf(text.value, course, pipeline), pipeline, 'correct the definition');
  const models = modelsOf(steps);
  for (const step of steps) course = afterStep(step, course, models, pipeline);
}

/** What the outputs of models can be, by slot. A model that is left out for some candidates has no output for them. */
function modelsOf(steps: readonly PlannedStep[]): ReadonlyMap<number, Values> {
  const models = new Map<number, Values>();
  for (const { kind, component, outputs, when, top, onError } of steps) {
    if (kind !== 'model') continue;
    const { least } = component as ModelComponent;
    const isAlways = least !== undefined && when === undefined && top === undefined && onError === 'fail';
    const values: Values = { ...ANY, known: isAlways ? 'always' : 'sometimes', low: least ?? -Infinity };
    for (const slot of outputs.values()) models.set(slot, values);
  }
  return models;
}

function placeOf(text: string, { facts, scores, dead }: Course, { names, definition }: OpenPipeline): Place {
  const scoreSlot = names.score.source.slot;
  const first: Values = definition.task === 'rank' ? exactly(0) : NEVER;
  return {
    text,
    scoreSlot,
    facts,
    ofSource: (part) => {
      if (part.tag !== 'source') return undefined;
      if (part.slot === scoreSlot) return scores === 'first' ? first : { ...ANY, known: 'sometimes' };
      return dead.has(part.slot) ? NEVER : undefined;
    },
  };
}

function afterStep(
  step: PlannedStep,
  before: Course,
  models: ReadonlyMap<number, Values>,
  pipeline: OpenPipeline,
): Course {
  const { definition, diagnostics } = pipeline;
  const written = pipeline.written.get(step.number - 1) ?? [];
  const at = definition.components[step.number - 1]?.use.at ?? definition.at;
  const condition = conditionOf(step, written);
  for (const expression of written) {
    const place = placeOf(expression.text.value, before, pipeline);
    if (expression === condition) warnOfFilter(expression, step, place, pipeline);
    else report(expression, place, pipeline, remedyFor(expression, step));
  }
  const when = written.find(({ where }) => where === 'when');
  const isDead =
    when !== undefined && valuesAt(when.root, placeOf(when.text.value, before, pipeline)).high <= 0;
  if (isDead) return { ...before, dead: new Set([...before.dead, ...step.outputs.values()]) };
  const { kind, component } = step;
  if (kind === 'rule') {
    const { scoring } = component as RuleComponent;
    if (scoring === 'scales' && before.scores === 'first') warnOfZeroScores(step, at, pipeline);
    if (scoring === 'sets') warnOfUnscored(step, written, before, models, pipeline);
    const changes = scoring !== 'keeps' && scoring !== 'scales';
    return changes ? { ...before, scores: 'any' } : before;
  }
  if (kind !== 'filter' || condition === undefined || diagnostics.hasErrors) return before;
  return { ...before, facts: together(before.facts, factsAfter(step, condition, before, at, pipeline)) };
}

/** The expression by which a filter decides, if the filter says which one it is. */
function conditionOf(
  { kind, component }: PlannedStep,
  written: readonly StepExpression[],
): StepExpression | undefined {
  if (kind !== 'filter') return undefined;
  const slot = (component as FilterComponent).condition?.input.slot;
  return written.find((one) => one.where !== 'when' && one.slot === slot);
}

/** What holds after a filter that every candidate passes. */
function factsAfter(
  { when, top, onError, component }: PlannedStep,
  { root, text }: StepExpression,
  before: Course,
  at: Span,
  pipeline: OpenPipeline,
): Facts {
  if (when !== undefined || top !== undefined || onError !== 'fail') return new Map();
  // A filter that removes everything has its own warning. What comes after it would only repeat it.
  if (valuesAt(root, placeOf(text.value, before, pipeline)).high <= 0) return new Map();
  const isTrue = (component as FilterComponent).condition?.absent === 'drop';
  return factsOf(root, pipeline.names.score.source.slot, isTrue, at);
}

function report(
  { text, root }: WrittenExpression,
  place: Place,
  { diagnostics }: OpenPipeline,
  remedy: string | ((finding: Finding) => string),
): void {
  for (const finding of inspect(root, place)) {
    const { code, start, end, message, help } = finding;
    const otherwise = typeof remedy === 'string' ? remedy : remedy(finding);
    diagnostics.warning(code, spanWithin(text, start, end), message, help ?? otherwise);
  }
}

function remedyFor({ where }: StepExpression, { kind, use }: PlannedStep): (finding: Finding) => string {
  return ({ code, isWhole }) => {
    if (code === 'always_absent') return 'correct the expression, or remove it';
    if (code === 'always_true') return 'correct the condition, or remove it';
    if (isWhole && where === 'when') return `the step never runs: correct the condition, or remove the step`;
    if (isWhole && kind === 'rule' && where.length === 1)
      return `\`${use}\` never changes a candidate: correct the condition, or remove the step`;
    return 'correct the condition, or remove it';
  };
}

function warnOfFilter(
  expression: StepExpression,
  { component }: PlannedStep,
  place: Place,
  pipeline: OpenPipeline,
): void {
  const { text, root } = expression;
  const { high, known } = valuesAt(root, place);
  const isNever = known === 'never' || high <= 0;
  if (!isNever) {
    report(expression, place, pipeline, 'correct the condition, or remove the step');
    return;
  }
  const drops = (component as FilterComponent).condition?.absent === 'drop' || known === 'always';
  const [finding] = inspect(root, place);
  const why = finding === undefined ? '' : `, because ${finding.message}`;
  pipeline.diagnostics.warning(
    'removes_all',
    finding === undefined ? text.at : spanWithin(text, finding.start, finding.end),
    drops
      ? `this filter removes every candidate${why}`
      : `this filter removes every candidate that has the values it reads${why}`,
    'correct the condition: a filter keeps the candidates for which it is true',
  );
}

/** A candidate without a score has 0 at first, which is above what a model can predict for others. */
function warnOfUnscored(
  { number }: PlannedStep,
  written: readonly StepExpression[],
  before: Course,
  models: ReadonlyMap<number, Values>,
  pipeline: OpenPipeline,
): void {
  const { definition, diagnostics } = pipeline;
  if (definition.task !== 'rank' || definition.components[number - 1]?.unscored !== undefined) return;
  for (const { where, text, root } of written) {
    const place = placeOf(text.value, before, pipeline);
    const read = new Set<number>();
    const ofSource = (part: Operand): Values | undefined => {
      const ofModel = part.tag === 'source' ? models.get(part.slot) : undefined;
      if (part.tag !== 'source') return undefined;
      if (ofModel !== undefined) read.add(part.slot);
      // A value that falls back to the score so far is what `keep` keeps.
      if (part.slot === place.scoreSlot) return { ...ANY, known: 'always' };
      return ofModel ?? place.ofSource(part);
    };
    const { low, known } = valuesAt(root, { ...place, ofSource });
    if (where === 'when' || read.size === 0 || low >= 0 || known !== 'sometimes') continue;
    diagnostics.warning(
      'unscored_above',
      text.at,
      `\`${text.value}\` can be absent, and negative: a candidate without it keeps its score and ranks above negative ones`,
      'add `unscored: last` to the step, or `unscored: keep` if it is meant',
    );
  }
}

function warnOfZeroScores(step: PlannedStep, at: Span, { definition, diagnostics }: OpenPipeline): void {
  const later = definition.components.findIndex(
    ({ use }, index) => index > step.number - 1 && use.value === 'score',
  );
  const line =
    later < 0 ? undefined : definition.file.position(definition.components[later]?.at.start ?? 0).line;
  diagnostics.warning(
    'zero_score',
    at,
    definition.task === 'rank'
      ? `\`${step.use}\` multiplies the score, but no earlier step sets it: it is still 0 for every candidate`
      : `\`${step.use}\` multiplies the score, but no earlier step sets it`,
    line === undefined ? 'add a step `score` before it' : `move it below the step \`score\` in line ${line}`,
  );
}
