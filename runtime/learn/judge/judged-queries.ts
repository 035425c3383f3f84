import type { ProjectConfig } from '../../project/config/model/project.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { JudgedQuery } from '../evaluation/judgments.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readJudgments, type FileFlags } from './read-judgments.js';
import { requestShape, type RequestShape } from './request-shape.js';

/**
 * Reads the judged queries that a pipeline ranks whole.
 * @param queryField see `requestShape`
 * @throws as `readJudgments` and `requestShape`; CommandFailure if a query has more candidates than the pipeline ranks
 */
export async function readJudgedQueries(
  context: Console,
  path: string,
  flags: FileFlags,
  queryField: string | undefined,
  { definition, config }: { readonly definition: PipelineDefinition; readonly config: ProjectConfig },
): Promise<{ readonly queries: readonly JudgedQuery[]; readonly shape: RequestShape }> {
  const shape = requestShape({ definition, project: { config } }, queryField);
  const { queries } = await readJudgments(context, path, flags, shape);
  const { name, limits, file } = definition;
  const tooLong = queries.find(({ candidates }) => candidates.length > limits.candidates);
  if (tooLong !== undefined)
    throw new CommandFailure(
      `a query has ${tooLong.candidates.length} candidates, but ${name} ranks at most ${limits.candidates}`,
      `raise limits.candidates in ${file.path}`,
    );
  return { queries, shape };
}
