import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { JudgedPipeline } from '../../request/pipeline/types.js';
import type { Cards } from '../../state/index/cards.js';
import type { EntityIndex } from '../../state/index/entity-index.js';

/** A pipeline that is measured or compared, ready to run. */
export interface Contestant {
  /** As the user named it. */
  readonly label: string;
  readonly pipeline: JudgedPipeline;
  readonly definition: PipelineDefinition;
  readonly project: {
    readonly config: ProjectConfig;
    readonly entities: Pick<EntityIndex, 'get'>;
    readonly cards: Pick<Cards, 'orNone'>;
  };
}
