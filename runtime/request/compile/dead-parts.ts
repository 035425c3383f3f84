import type { RuleComponent } from '../../ground/api/component.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import { keyBefore } from '../../project/config/yaml/source.js';
import { warnOfMeaning } from './meaning/warn-of-meaning.js';
import { warnOfPlaces } from './meaning/warn-of-places.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { LoggedValues, PlannedStep } from './plan.js';

/** Warns of parts of a pipeline that have no effect: its author has most likely forgotten a step or a name. */
export function warnOfDeadParts(
  pipeline: OpenPipeline,
  steps: readonly PlannedStep[],
  unusedDefinitions: readonly string[],
  { values: logged }: LoggedValues,
  retrieval: Pick<OpenPipeline, 'names' | 'reads'> | undefined,
): void {
  const { definition, reads, names, diagnostics } = pipeline;
  reads.bindings.warnOfUnused(diagnostics, retrieval?.reads.bindings);
  const retrieved = retrieval?.names.unusedDefinitions ?? unusedDefinitions;
  for (const name of unusedDefinitions.filter((one) => retrieved.includes(one))) {
    const at = definition.define.get(name)?.at ?? definition.at;
    const message = `the definition \`${name}\` has no effect: no step or answer uses it`;
    diagnostics.warning('unused_definition', keyBefore(at, name), message, 'remove the line, or use it');
  }
  const unusedParams = retrieval?.names.params.unused ?? names.params.unused;
  for (const { name, at } of names.params.unused.filter((one) => unusedParams.includes(one))) {
    const message = `the param \`${name}\` has no effect: no step or answer uses it`;
    diagnostics.warning('unused_param', at, message, 'remove the line, or use it');
  }
  for (const step of steps) {
    const [first] = step.outputs.keys();
    if (first === undefined || names.outputs.isRead(step.as)) continue;
    if (definition.log !== undefined && logged.some(({ slot }) => isOutput(step, slot))) continue;
    const outputs = [...step.outputs.keys()].map((output) => `\`${step.as}:${output}\``).join(', ');
    diagnostics.warning(
      'unused_output',
      definition.components[step.number - 1]?.use.at ?? definition.at,
      `this step computes outputs that nothing reads: ${outputs}`,
      'use an output in a later step, or remove the step; only events and explanations show them',
    );
  }
  warnOfPlaces(pipeline, steps);
  const isOrdered = retrieval !== undefined || steps.some(givesScore);
  if (definition.task === 'rank' && !isOrdered) warnOfNoScore(definition, steps, diagnostics);
  else warnOfMeaning(pipeline, steps);
}

function isOutput({ outputs }: PlannedStep, slot: number): boolean {
  return [...outputs.values()].includes(slot);
}

/** Whether a step can change the scores, which are 0 at the start. */
function givesScore({ kind, component }: PlannedStep): boolean {
  if (kind !== 'rule') return false;
  const { scoring } = component as RuleComponent;
  return scoring !== 'keeps' && scoring !== 'scales';
}

function warnOfNoScore(
  definition: PipelineDefinition,
  steps: readonly PlannedStep[],
  diagnostics: Diagnostics,
): void {
  const scorer = steps.findLast(({ outputs }) => outputs.has('score'));
  const value = scorer === undefined ? '…' : `${scorer.as}:score`;
  diagnostics.warning(
    'no_score',
    definition.at,
    `no step of \`${definition.name}\` sets the score, so it is 0 for every candidate`,
    `add a step: \`- use: score\` with \`value: ${value}\``,
  );
}
