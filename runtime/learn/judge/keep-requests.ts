import type { Plan } from '../../request/compile/plan.js';
import type { PipelineDefinition } from '../../project/config/model/pipelines.js';
import type { ProjectConfig } from '../../project/config/model/project.js';
import { shuffled } from '../../ground/core/shuffle.js';
import type { Metric } from '../evaluation/metric-names.js';
import { LoggedValues, type NotLogged } from '../tuning/logged-values.js';
import type { TunablePipeline } from '../tuning/tunable-pipeline.js';
import type { Console } from '../../ground/core/console.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readJudgedQueries } from './judged-queries.js';
import type { JudgmentsFlags } from './judgments-options.js';
import { startProgress } from '../../ground/core/progress.js';
import { openDataFolder, readRequests } from '../training/data-files.js';
import { readPropensities } from '../training/propensities.js';
import { dcgMeasure, ndcgMeasure, toLogged, type Gain, type TunedMeasure } from './logged-measure.js';
import type { RangedParam } from './ranged-params.js';

/** What the user says about the requests to tune on. */
export interface RequestFlags extends JudgmentsFlags {
  readonly data?: string;
  readonly propensities?: string;
  readonly clip: number;
  readonly metric: Metric;
  readonly gain: Gain;
  readonly seed: number;
}

/** Gives judged queries to the pipeline, with their values from the store. */
export async function keepQueries(
  context: Console,
  flags: RequestFlags,
  definition: PipelineDefinition,
  config: ProjectConfig,
  pipeline: TunablePipeline,
): Promise<TunedMeasure> {
  const { queries, shape } = await readJudgedQueries(
    context,
    flags.judgments ?? '',
    flags,
    flags.queryField,
    { definition, config },
  );
  const progress = startProgress(context.stderr, 'reading', queries.length, 'queries', true);
  try {
    for (const [at, query] of queries.entries()) {
      // Judgments are often sorted by grade. In that order, equal scores would be a perfect ranking.
      const candidates = shuffled(query.candidates, flags.seed + at);
      const grades = new Map(query.candidates.map(({ id, grade }) => [id, grade]));
      await pipeline.add({ body: shape.bodyOf(query, candidates), grades });
      progress.update(at + 1, at + 1);
    }
  } finally {
    progress.stop();
  }
  return ndcgMeasure(flags.metric, flags.gain);
}

/** Gives the requests of a data set to the pipeline. The store is not needed. */
export async function keepLogged(
  context: Console,
  flags: RequestFlags,
  folder: string,
  { plan, params }: { readonly plan: Plan; readonly params: readonly RangedParam[] },
  pipeline: TunablePipeline,
): Promise<TunedMeasure> {
  const data = await openDataFolder(folder);
  if (data.pipeline !== plan.definition.name)
    context.stderr.write(
      `note: the data set is of the pipeline ${data.pipeline}, and ${plan.definition.name} is tuned\n`,
    );
  const values = new LoggedValues(
    plan,
    params.map(({ name }) => name),
    data.features,
  );
  if (values.missing.length > 0) throw notLogged(values.missing, plan);
  const propensities =
    flags.propensities === undefined ? data.propensities : await readPropensities(flags.propensities);
  if (propensities !== undefined && !data.mayWeigh)
    throw new CommandFailure(
      `the rows of ${folder} were chosen by the clicks, so propensities cannot be used`,
      'build the data set with --examined page',
    );
  const weighing = propensities && { propensities, clip: flags.clip };
  const progress = startProgress(context.stderr, 'reading', data.rows.train, 'rows', true);
  const measure = weighing === undefined ? ndcgMeasure(flags.metric, flags.gain) : dcgMeasure(flags);
  let rows = 0;
  try {
    for await (const request of readRequests(data, 'train')) {
      rows += request.rows.length;
      progress.update(rows, rows);
      const logged = toLogged(request, flags, pipeline.queries, weighing);
      if (logged === undefined) continue;
      await pipeline.addLogged(logged, values);
      measure.learn(logged.grades);
    }
  } finally {
    progress.stop();
  }
  return measure;
}

function notLogged(missing: readonly NotLogged[], { definition }: Plan): CommandFailure {
  const texts = missing.map(({ step, why, values }) =>
    why === 'removes'
      ? `the params change the filter ${step}, and a data set has only the candidates that it kept`
      : why === 'interactions'
        ? `the step ${step} reads interactions, which a data set does not have`
        : `the step ${step} reads ${values.join(', ')}, which the data set does not have`,
  );
  const lacking = [...new Set(missing.flatMap(({ values }) => values))];
  return new CommandFailure(
    texts.join('\n'),
    lacking.length === 0
      ? 'tune on judgments instead'
      : `log these values: \`log: { features: [models, ${lacking.join(', ')}] }\` in ${definition.file.path}`,
  );
}
