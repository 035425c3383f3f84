import type { RuleComponent } from '../../ground/api/component.js';
import { nearest } from '../../ground/core/nearest.js';
import type { Located } from '../../project/config/yaml/source.js';
import type { Environment } from '../../language/expression/environment.js';
import { ANYTHING, compileText } from './compile-input.js';
import { NameUse } from './name-use.js';
import type { OpenPipeline } from './open-pipeline.js';
import type { LoggedValues, NamedColumn, PlannedStep } from './plan.js';
import { shownColumns } from './shown-columns.js';

/** Stands for what models and the score read. */
const MODELS = 'models';

/** The name of a value, a view or a step. */
const NAME = /^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(:[a-z][a-z0-9_]*)?$/;

/**
 * Resolves the names under `log: features`. What only the log names is read and computed, too. Private values are left
 * out; it is an error to name one. Without `log:` the plan reads and computes nothing more.
 * @param answered the values under `answer:`
 * @param without what a pipeline without `log:` logs, as the arm of another pipeline
 */
export function compileLog(
  pipeline: OpenPipeline,
  steps: readonly PlannedStep[],
  answered: readonly NamedColumn[],
  without: 'all' | typeof MODELS,
): LoggedValues {
  const { layout } = pipeline.reads;
  const wanted = pipeline.definition.log?.features ?? without;
  const found =
    wanted === 'all'
      ? everyValue(pipeline, steps, answered)
      : wanted === MODELS
        ? valuesOfModels(pipeline, steps)
        : wanted.flatMap((name) =>
            name.value === 'all' ? everyValue(pipeline, steps, answered) : valuesNamed(name, pipeline, steps),
          );
  const values = new Map<string, NamedColumn>();
  const hidden = new Set<string>();
  for (const value of found) {
    if (layout.columns[value.slot]?.isPrivate === true) hidden.add(value.name);
    else if (!values.has(value.name)) values.set(value.name, value);
  }
  return Object.freeze({
    values: Object.freeze([...values.values()]),
    hidden: Object.freeze([...hidden]),
    kernels: pipeline.names.takeKernels(),
  });
}

/** What the plan reads and computes, and all definitions. The ids of the candidates are fields of the record. */
function everyValue(
  pipeline: OpenPipeline,
  steps: readonly PlannedStep[],
  answered: readonly NamedColumn[],
): readonly NamedColumn[] {
  const { definition, reads, names } = pipeline;
  // A logged pipeline uses all its definitions.
  if (definition.log !== undefined)
    for (const [name, { at }] of definition.define) columnOf({ value: name, at }, pipeline);
  const { request, candidate } = shownColumns(reads.layout, names.definitions, steps);
  const { ids } = reads.hydration.candidates;
  return [...request, ...candidate, ...answered].filter(({ slot }) => slot !== ids);
}

/** What the steps read that predict or set the score. */
function valuesOfModels(pipeline: OpenPipeline, steps: readonly PlannedStep[]): readonly NamedColumn[] {
  const { definition, names } = pipeline;
  return steps.flatMap(({ kind, component, reads, computes }) => {
    const isModel = kind === 'model';
    if (!isModel && !(kind === 'rule' && (component as RuleComponent).scoring === 'sets')) return [];
    const read = reads.flatMap((name) =>
      name === 'score' || names.params.has(name)
        ? []
        : columnOf({ value: name, at: definition.at }, pipeline),
    );
    // An expression of the score is the score itself. An expression of a model is one of its inputs.
    return isModel ? [...read, ...computes] : read;
  });
}

/** The values that one line under `features:` stands for. */
function valuesNamed(
  name: Located<string>,
  pipeline: OpenPipeline,
  steps: readonly PlannedStep[],
): readonly NamedColumn[] {
  const { names, reads, diagnostics } = pipeline;
  if (name.value === MODELS) return valuesOfModels(pipeline, steps);
  if (!NAME.test(name.value)) {
    const message = '`features`: expected the name of a value, found an expression';
    diagnostics.error('wrong_type', name.at, message, 'give the expression a name under `define:`');
    return [];
  }
  if (name.value === 'score' || names.params.has(name.value)) {
    const why =
      name.value === 'score'
        ? 'the score is logged always'
        : `\`${name.value}\` is a param: it has the same value in every request`;
    diagnostics.error('reserved_name', name.at, `\`features\`: ${why}`, 'remove it');
    return [];
  }
  const all = [...reads.bindings.features(), ...names.outputs.names].filter((full) =>
    full.startsWith(`${name.value}:`),
  );
  const columns = (all.length > 0 ? all : [name.value]).flatMap((full) =>
    columnOf({ value: full, at: name.at }, pipeline),
  );
  for (const { name: full, slot } of columns)
    if (reads.layout.columns[slot]?.isPrivate === true)
      diagnostics.error(
        'private_value',
        name.at,
        `\`features\`: \`${full}\` is private, so it is not logged`,
        'remove it, or remove `private: true`',
      );
  return columns;
}

function columnOf(name: Located<string>, { names, diagnostics }: OpenPipeline): NamedColumn[] {
  const environment = withModels(names.environment(new NameUse()));
  const compiled = compileText(name, ANYTHING, environment, diagnostics);
  return compiled === undefined ? [] : [{ name: name.value, slot: compiled.slot }];
}

/** Adds the help "did you mean `models`?" to the problem of a name that is nearly `models`. */
function withModels(environment: Environment): Environment {
  return {
    ...environment,
    name: (name) => {
      const found = environment.name(name);
      if (!('problem' in found)) return found;
      return nearest(name, [MODELS]) === undefined
        ? found
        : { ...found, help: `did you mean \`${MODELS}\`?` };
    },
  };
}
