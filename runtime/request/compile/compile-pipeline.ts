import type { RuleComponent } from '../../ground/api/component.js';
import { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { FramePool } from '../../language/frame/frame.js';
import { compileAnswer } from './compile-answer.js';
import { compileLog } from './compile-log.js';
import { compileRetrieval } from './compile-retrieval.js';
import { compileSteps } from './compile-steps.js';
import { closeComponents } from './component-life.js';
import { warnOfDeadParts } from './dead-parts.js';
import { checkExploration } from './exploration.js';
import { comparedIds } from './meaning/compared-ids.js';
import { openPipeline, type OpenPipeline } from './open-pipeline.js';
import { finishReads } from './pipeline-reads.js';
import { phasesOf } from './phases.js';
import type { Plan } from './plan.js';
import type { CompileSettings, PluginRegistry } from './step-tools.js';
import { shownColumns } from './shown-columns.js';

/**
 * Compiles a pipeline to its plan: names become slots, expressions become kernels, options become components.
 * @returns undefined if there were errors; they are in `diagnostics`
 */
export async function compilePipeline(
  definition: PipelineDefinition,
  config: ProjectConfig,
  plugins: PluginRegistry,
  settings: CompileSettings,
  diagnostics: Diagnostics,
): Promise<Plan | undefined> {
  const problems = new Diagnostics();
  const pipeline = openPipeline(definition, config, plugins, problems, settings.tunable);
  const found = await compileRetrieval(pipeline, config, plugins, settings);
  const steps = await compileSteps(pipeline, { ...settings, plugins });
  checkExploration(pipeline, steps);
  const { expressions, ...answer } = compileAnswer(pipeline);
  const log = compileLog(pipeline, steps, answer.named, settings.logsAll === true ? 'all' : 'models');
  const unusedDefinitions = pipeline.names.checkUnusedDefinitions();
  if (!problems.hasErrors) warnOfDeadParts(pipeline, steps, unusedDefinitions, log, found?.uses);
  diagnostics.addAll(problems.all);

  const candidateType = config.entities.get(definition.candidateType.value);
  if (problems.hasErrors || candidateType === undefined) {
    const all = [...steps, ...(found?.retrieval?.plan.steps ?? [])];
    await closeComponents(all.map(({ component }) => component));
    return undefined;
  }
  const { layout } = pipeline.reads;
  const definitions = pipeline.names.definitions;
  const bringing = steps.filter(
    ({ component }) => (component as Partial<RuleComponent>).brings !== undefined,
  );
  const reads = finishReads(pipeline.reads, settings.prefix);
  const { columns } = pipeline;
  const plan: Plan = Object.freeze({
    definition,
    candidateType,
    entities: config.entities,
    layout,
    ...reads,
    phases: phasesOf({ definition, layout, levels: reads.levels, steps, answer, log }),
    definitions: Object.freeze(definitions),
    shown: shownColumns(layout, definitions, steps),
    steps: Object.freeze(steps),
    comparedIds: comparedIds([
      ...pipeline.names.writtenDefinitions,
      ...[...pipeline.written.values()].flat(),
      ...expressions,
    ]),
    answer: Object.freeze(answer),
    log,
    ...(bringing.length === 0
      ? {}
      : {
          brings: () =>
            bringing.some(({ component }) => (component as Partial<RuleComponent>).mayBring?.() !== false),
        }),
    hasEffects: steps.some(({ kind }) => kind === 'effect'),
    retrieval: found?.retrieval,
    ...(settings.tunable !== undefined && settings.tunable !== false
      ? {
          open: Object.freeze({
            slots: pipeline.names.params.slots,
            set: setOf(definition, pipeline.names.params.slots),
            isWhole: settings.tunable === true,
            fixed: found === undefined ? [] : usedParams(definition, found.uses),
            readsOfDefinitions: pipeline.names.readsOfDefinitions,
          }),
        }
      : {}),
    prefix: settings.prefix,
    frames: new FramePool(layout),
    ...(steps.some(({ slots }) => slots === undefined) ? { columns } : {}),
  });
  columns.finish(plan);
  return plan;
}

function usedParams(
  { params }: PipelineDefinition,
  { names }: Pick<OpenPipeline, 'names'>,
): readonly string[] {
  const unused = new Set(names.params.unused.map(({ name }) => name));
  return [...params.keys()].filter((name) => !unused.has(name));
}

/** The values of the open params, by slot. */
export function setOf(
  { params }: Pick<PipelineDefinition, 'params'>,
  slots: ReadonlyMap<string, number>,
): { readonly slot: number; readonly value: number }[] {
  return Array.from(slots, ([name, slot]) => ({ slot, value: params.get(name)?.value ?? NaN }));
}
