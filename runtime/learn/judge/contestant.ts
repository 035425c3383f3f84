import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import type { PipelineAnswer } from '../../request/pipeline/answer-types.js';
import type { Pipeline, RequestContext, RunReport } from '../../request/pipeline/types.js';
import type { Cards } from '../../state/index/cards.js';
import type { EntityIndex } from '../../state/index/entity-index.js';

/** What measuring needs of a pipeline. */
export interface JudgedPipeline extends Pick<Pipeline, 'name' | 'task' | 'explain'> {
  /** @throws as `Pipeline.run` */
  run(
    body: unknown,
    context: RequestContext,
  ): Promise<{
    readonly answer: PipelineAnswer;
    readonly report: Pick<RunReport, 'degraded' | 'missingEntities'>;
  }>;
}

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
