import type { Input } from '../../ground/api/input.js';
import type { Diagnostics } from '../../project/config/diagnostics/diagnostics.js';
import { viewsOfCounters } from '../../project/config/project/load-counters.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { FrameLayout } from '../../language/frame/frame-layout.js';
import { FeatureBindings } from './feature-bindings.js';
import { HistoryReads } from './history-reads.js';
import { HydrationBuilder } from './hydration-builder.js';
import { levelsOf } from './levels.js';
import type { NeededFeature, Plan } from './plan.js';
import { attributesOf } from './shown-columns.js';

/** What a pipeline reads. Every part grows while names are resolved, and `finishReads` completes it. */
export interface PipelineReads {
  /** The columns. */
  readonly layout: FrameLayout;
  /** Entities and their attributes. */
  readonly hydration: HydrationBuilder;
  /** Features. */
  readonly bindings: FeatureBindings;
  /** Interactions. */
  readonly histories: HistoryReads;
}

export function openReads(
  definition: PipelineDefinition,
  { entities, views, counters, events }: ProjectConfig,
  diagnostics: Diagnostics,
): PipelineReads {
  const layout = new FrameLayout();
  const hydration = new HydrationBuilder(definition, entities, layout);
  const all = new Map([...views, ...viewsOfCounters(counters)]);
  const bindings = new FeatureBindings(definition, all, hydration, layout, diagnostics);
  return { layout, hydration, bindings, histories: new HistoryReads(hydration, events) };
}

/** Groups all reads into store round trips. Nothing may be resolved afterwards. */
export function finishReads(
  { hydration, bindings, histories }: PipelineReads,
  prefix: string,
): Pick<Plan, 'nodes' | 'levels' | 'attributes'> {
  // First, because the keys of features may need attributes that nothing else reads.
  const features = bindings.build();
  const nodes = hydration.build(prefix);
  return {
    nodes: Object.freeze(nodes),
    levels: Object.freeze(levelsOf(nodes, features, histories.build(prefix))),
    attributes: Object.freeze(attributesOf(nodes)),
  };
}

/** How `getFeature` finds the cells of a name that a component needs. */
export function neededFeature(
  name: string,
  { slot }: Input,
  { layout, hydration, bindings }: PipelineReads,
): NeededFeature {
  const [first = ''] = name.split(/[:.]/);
  const bound = name.includes(':') ? bindings.needed(first, slot) : undefined;
  if (bound !== undefined) return bound;
  // A value of the request belongs to the entity that its path starts from. It is the same for every candidate.
  const scope = layout.columns[slot]?.shape.scope ?? 'candidate';
  const of = scope === 'candidate' ? hydration.candidates : hydration.roots.get(first);
  return {
    slot,
    scope,
    types: of === undefined ? [] : [of.entity.name],
    ids: of === undefined ? [] : [of.ids],
  };
}
