import { newCounter } from './new-counter.js';
import { newCuration } from './new-curation.js';
import { newEntity } from './new-entity.js';
import type { NewKind } from './new-kind.js';
import { newExperiment } from './new-experiment.js';
import { newPipeline } from './new-pipeline.js';
import { newSink } from './new-sink.js';
import { newSource } from './new-source.js';
import { newTest } from './new-test.js';
import { newView } from './new-view.js';

/** What `millrace new` makes, by the word that names it. */
export const NEW_KINDS: ReadonlyMap<string, NewKind> = new Map([
  ['pipeline', newPipeline],
  ['entity', newEntity],
  ['view', newView],
  ['counter', newCounter],
  ['test', newTest],
  ['sink', newSink],
  ['source', newSource],
  ['experiment', newExperiment],
  ['curation', newCuration],
]);
