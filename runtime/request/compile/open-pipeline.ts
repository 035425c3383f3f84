import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { eventNumbers } from '../../project/config/project/load-events.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { StepPlaces } from './meaning/step-places.js';
import type { StepExpression } from './meaning/written.js';
import { PipelineNames } from './pipeline-names.js';
import { PlanColumns } from './plan-columns.js';
import { openReads, type PipelineReads } from './pipeline-reads.js';
import { StepOrder } from './step-order.js';
import type { PluginRegistry, StepTools } from './step-tools.js';

/** A pipeline while it is compiled. */
export interface OpenPipeline {
  readonly definition: PipelineDefinition;
  /** What the plan reads; it grows when a name is resolved. */
  readonly reads: PipelineReads;
  /** What rules of curation can add to the plan. */
  readonly columns: PlanColumns;
  /** What names mean. It learns the outputs of each step that is compiled. */
  readonly names: PipelineNames;
  /** The expressions of the steps that are compiled, by the index of the step. */
  readonly written: Map<number, readonly StepExpression[]>;
  /** What the places of a step come from, by the index of the step. */
  readonly places: Map<number, StepPlaces>;
  /** See `BuildContext.eventKinds`. */
  readonly eventKinds: ReadonlyMap<string, number>;
  /** The problems of this pipeline. */
  readonly diagnostics: Diagnostics;
}

/**
 * Gives every name of a pipeline its meaning. Outputs of steps get theirs when the step is compiled.
 * @param open which params stay open: all, or those of a set
 */
export function openPipeline(
  definition: PipelineDefinition,
  config: ProjectConfig,
  plugins: PluginRegistry,
  diagnostics: Diagnostics,
  open: StepTools['tunable'],
): OpenPipeline {
  const reads = openReads(definition, config, diagnostics);
  const order = new StepOrder(definition.components, (use) => plugins.get(use)?.kind);
  const names = new PipelineNames(definition, reads, order, diagnostics, open);
  return {
    definition,
    reads,
    columns: new PlanColumns(reads),
    names,
    written: new Map(),
    places: new Map(),
    eventKinds: eventNumbers(config.events),
    diagnostics,
  };
}
