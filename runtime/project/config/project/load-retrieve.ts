import { parseDuration } from '../../../ground/api/duration.js';
import { didYouMean } from '../../../ground/core/nearest.js';
import { NAME_PATTERN } from '../../../ground/api/types.js';
import type {
  PipelineDefinition,
  RetrieveDefinition,
  RetrieverDefinition,
  StepDefinition,
} from '../model/pipelines.js';
import type { Section } from '../yaml/section.js';

/** The orders of the merged list that have a name. */
const FUSES = ['rrf', 'first'];

/** The share of the time limit that a retriever has without `timeout:`. The rest is for the ranking. */
const TIME_SHARE = 0.5;

/**
 * Reads `retrieve:` and `merge:`. What they name is checked when the pipeline is compiled.
 * @param readStep reads what a retriever has in common with a step
 */
export function loadRetrieve(
  pipeline: Section<'pipeline'>,
  { task, limits, params, define }: Pick<PipelineDefinition, 'task' | 'limits' | 'params' | 'define'>,
  readStep: (retriever: Section<'pipeline.retrieve'>) => StepDefinition | undefined,
): RetrieveDefinition | undefined {
  const { diagnostics } = pipeline;
  const merge = pipeline.section('merge');
  if (!pipeline.has('retrieve')) {
    if (pipeline.has('merge'))
      diagnostics.error(
        'unknown_key',
        pipeline.keyAt('merge'),
        '`merge` does nothing: the pipeline has no `retrieve`',
        'remove it, or list retrievers under `retrieve:`',
      );
    return undefined;
  }
  if (task === 'score') {
    diagnostics.error(
      'ranking_only',
      pipeline.keyAt('retrieve'),
      'a pipeline that scores one entity has no candidates to find',
      'remove `retrieve`, or write `rank:` instead of `score:`',
    );
    return undefined;
  }
  const retrievers = pipeline.items('retrieve').flatMap((item): RetrieverDefinition[] => {
    const retriever = pipeline.of('pipeline.retrieve', item);
    const step = readStep(retriever);
    return step === undefined ? [] : [{ ...step, timeoutMs: timeoutOf(retriever, limits.time) }];
  });
  const most = merge.whole('most') ?? limits.candidates;
  if (most > limits.candidates)
    merge.wrong(
      'most',
      `${most} is more than the ${limits.candidates} candidates that the pipeline takes`,
      `write \`limits: { candidates: ${most} }\`, or decrease most`,
    );
  const fuse = merge.located('fuse') ?? { value: 'rrf', at: pipeline.keyAt('retrieve') };
  const isNamed = params.has(fuse.value) || define.has(fuse.value) || !NAME_PATTERN.test(fuse.value);
  const word = isNamed ? undefined : didYouMean(fuse.value, FUSES);
  if (word !== undefined && !FUSES.includes(fuse.value))
    diagnostics.error('unknown_name', fuse.at, `\`fuse\`: nothing here is called \`${fuse.value}\``, word);
  return { retrievers, fuse, most };
}

function timeoutOf(retriever: Section<'pipeline.retrieve'>, limit: number): number {
  const ms = parseDuration(retriever.text('timeout') ?? '');
  if (ms === undefined) return limit * TIME_SHARE;
  if (ms < 1 || ms >= limit)
    retriever.wrong(
      'timeout',
      `must be at least 1ms and below ${limit}ms, the time limit of the request`,
      'decrease it, or increase `limits: { time: … }`',
    );
  return ms;
}
