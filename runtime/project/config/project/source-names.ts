import { didYouMean } from '../../../ground/core/nearest.js';
import type { EntityType } from '../model/entities.js';
import type { EventKind } from '../model/events.js';
import type { FeatureView } from '../model/views.js';
import type { PipelineDefinition } from '../model/pipelines.js';

/** What the files of sources can name. */
export interface SourceNames {
  readonly entities: ReadonlyMap<string, EntityType>;
  /** Also those whose files have errors. */
  readonly entityNames: ReadonlySet<string>;
  readonly views: ReadonlyMap<string, FeatureView>;
  readonly viewNames: ReadonlySet<string>;
  readonly events: ReadonlyMap<string, EventKind>;
  readonly pipelines: readonly PipelineDefinition[];
}

/** The nearest name, or all of them. */
export function help(found: string, names: Iterable<string>, all: string): string {
  const known = [...new Set(names)];
  return didYouMean(found, known) ?? `${all} ${known.join(', ')}`;
}
