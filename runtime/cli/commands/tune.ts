import { readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { compileTunable, type CompiledTunable } from '../../app/project/compile-tunable.js';
import { openTunable } from '../../app/project/open-tunable.js';
import type { Plan } from '../../compile/plan.js';
import type { ParamDefinition } from '../../config/project/model.js';
import { changedLines, editNumbers } from '../../config/yaml/edit-numbers.js';
import { shuffled } from '../../core/shuffle.js';
import { parseMetric, type Metric } from '../../evaluation/metric-names.js';
import type { PipelineServices } from '../../pipeline/run-pipeline.js';
import type { SettingFlags } from '../../settings/settings.js';
import type { TunedParam } from '../../tuning/coordinate-ascent.js';
import { LoggedValues, type NotLogged } from '../../tuning/logged-values.js';
import { TunablePipeline } from '../../tuning/tunable-pipeline.js';
import { tune, type TuneResult } from '../../tuning/tune.js';
import { printJson, settingsOf, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { numberOption, wholeOption } from '../judge/options.js';
import {
  JUDGMENT_FORMATS,
  parseColumns,
  readJudgments,
  type Columns,
  type JudgmentFormat,
} from '../judge/read-judgments.js';
import { requestShape } from '../judge/request-shape.js';
import { startProgress } from '../load/progress.js';
import { unknownPipeline } from '../load/target.js';
import { addSettingFlags } from '../setting-flags.js';
import { readPropensities } from '../train/propensities.js';
import { openDataFolder, readRequests } from '../train/data-files.js';
import { dcgMeasure, ndcgMeasure, toLogged, type TunedMeasure } from '../tune/logged-measure.js';
import { tuningJson, tuningText, type Tuning } from '../tune/tuning-text.js';

interface Flags extends SettingFlags {
  readonly judgments?: string;
  readonly data?: string;
  readonly propensities?: string;
  readonly clip: number;
  readonly format?: JudgmentFormat;
  readonly columns?: Columns;
  readonly queryField?: string;
  readonly metric: Metric;
  readonly gain: 'exp2' | 'linear';
  readonly seed: number;
  readonly write?: boolean;
  readonly json?: boolean;
}

const DEFAULT_METRIC = 'ndcg@10';

export function tuneCommand(context: CliContext): Command {
  const command = new Command('tune')
    .description('find better values for the params of a pipeline that have a range')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/')
    .option('--judgments <FILE>', 'file with the grades of candidates by query; - for standard input')
    .option('--data <DIR>', 'instead, a data set that `millrace dataset build` wrote')
    .addOption(
      new Option('--format <FORMAT>', 'the format of the judgments, if the name does not show it').choices(
        JUDGMENT_FORMATS,
      ),
    )
    .addOption(
      new Option('--columns <NAMES>', 'columns of the file: query=NAME,id=NAME,grade=NAME').argParser(
        parseColumns,
      ),
    )
    .option('--query-field <FIELD>', 'field of the request that gets the query; also FIELD.ATTRIBUTE')
    .addOption(
      new Option('--metric <NAME>', 'what to raise')
        .argParser(tunedMetric)
        .default(tunedMetric(DEFAULT_METRIC), DEFAULT_METRIC),
    )
    .addOption(new Option('--gain <GAIN>', 'gain of NDCG').choices(['exp2', 'linear']).default('exp2'))
    .option(
      '--propensities <FILE>',
      'with --data, a JSON list: the probability that a user looks at place 1, 2, …',
    )
    .addOption(numberOption('--clip <WEIGHT>', 'largest inverse propensity weight', 10))
    .addOption(wholeOption('--seed <N>', 'seed of the search, the folds and the interval', 0))
    .option('--write', 'write the values into the file of the pipeline')
    .option('--json', 'print the result as JSON')
    .action((pipeline: string, flags: Flags) => tunePipeline(context, pipeline, flags));
  return addSettingFlags(command, ['project', 'store', 'dataDir']);
}

async function tunePipeline(context: CliContext, name: string, flags: Flags): Promise<void> {
  const { judgments, data } = flags;
  if ((judgments === undefined) === (data === undefined))
    throw new UsageError('tune needs either --judgments FILE or --data DIR');
  if (flags.propensities !== undefined && data === undefined)
    throw new UsageError('--propensities needs --data: judgments do not depend on places');
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  // The log goes to standard output, which must contain only the command's answer.
  const quiet = { ...settings, logLevel: 'silent' as const, resident: new Set<string>() };
  // A data set has all values, so that the store is not needed, and may be in use by a service.
  const opened = data === undefined ? await openTunable(quiet, name) : await compileTunable(quiet, name);
  let tuning: Tuning;
  try {
    tuning = await tuneOpen(context, name, flags, opened, settings.project);
  } finally {
    await opened.close();
  }
  if (flags.json === true) printJson(context, tuningJson(tuning));
  else context.stdout.write(tuningText(tuning, styleOf(context, context.stdout).width));
}

async function tuneOpen(
  context: CliContext,
  name: string,
  flags: Flags,
  opened: CompiledTunable & { readonly services?: PipelineServices },
  project: string,
): Promise<Tuning> {
  const { config, plan, services } = opened;
  if (plan === undefined)
    throw unknownPipeline(
      name,
      config.pipelines.map((one) => one.name),
      'the project',
    );
  const params = tunableParams(plan);
  const path = join(project, plan.definition.file.path);
  const text = await readFile(path, 'utf8');
  const pipeline = new TunablePipeline(
    plan,
    services,
    params.map((param) => param.name),
  );
  try {
    if (!pipeline.isChanged)
      throw new CommandFailure(`no step of ${name} uses ${params.map((param) => param.name).join(' or ')}`);
    const started = performance.now();
    const measure =
      flags.data === undefined
        ? await keepQueries(context, flags, flags.judgments ?? '', opened, plan, pipeline)
        : await keepLogged(context, flags, flags.data, plan, params, pipeline);
    const result = await search(context, flags.seed, params, pipeline, measure);
    const changed = changedParams(params, result);
    const edited = editNumbers(text, changed);
    const isWritten = flags.write === true && changed.length > 0 && result.outOfFold.delta > 0;
    if (isWritten) await replaceFile(path, text, edited);
    return {
      pipeline: name,
      source: flags.data === undefined ? { judgments: flags.judgments ?? '' } : { data: flags.data },
      metric: measure.name,
      seed: flags.seed,
      params: params.map(({ range, ...param }, at) => ({
        name: param.name,
        ...range,
        before: param.value,
        after: result.point[at] ?? param.value,
      })),
      queries: pipeline.queries,
      result,
      seconds: (performance.now() - started) / 1000,
      file: plan.definition.file.path,
      diff: changedLines(text, edited),
      isWanted: flags.write === true,
      isWritten,
    };
  } finally {
    await pipeline.close();
  }
}

type RangedParam = ParamDefinition & { readonly range: NonNullable<ParamDefinition['range']> };

/** The params with a range. @throws CommandFailure if there are none, or if the pipeline does not rank */
function tunableParams({ definition }: Plan): readonly RangedParam[] {
  const { name, task, params } = definition;
  if (task !== 'rank')
    throw new CommandFailure(
      `the pipeline ${name} scores one entity and has no ranking`,
      'name a pipeline with rank:',
    );
  const ranged = [...params.values()].flatMap((param) =>
    param.range === undefined ? [] : [{ ...param, range: param.range }],
  );
  if (ranged.length > 0) return ranged;
  const [first] = params.values();
  const example = `${first?.name ?? 'w_text'}: { value: ${first?.value ?? 1}, min: ${Math.min(0, first?.value ?? 0)}, max: ${Math.max(3, 2 * (first?.value ?? 1))} }`;
  throw new CommandFailure(
    `the pipeline ${name} has no param with a range`,
    `write one under params: in pipelines/${name}.yaml, for example ${example}`,
  );
}

/** Reads the judged queries from the store. */
async function keepQueries(
  context: CliContext,
  flags: Flags,
  judgments: string,
  { config }: CompiledTunable,
  { definition }: Plan,
  pipeline: TunablePipeline,
): Promise<TunedMeasure> {
  const shape = requestShape({ definition, project: { config } }, flags.queryField);
  const { queries } = await readJudgments(context, judgments, {
    format: flags.format,
    columns: flags.columns ?? {},
    candidateKey: shape.candidateKey,
    context: shape.fields,
    carried: shape.carried,
    attributes: shape.attributes,
  });
  const progress = startProgress(context.stderr, 'reading', queries.length, 'queries');
  for (const [at, query] of queries.entries()) {
    const { length } = query.candidates;
    if (length > definition.limits.candidates)
      throw new CommandFailure(
        `a query has ${length} candidates, but ${definition.name} ranks at most ${definition.limits.candidates}`,
        `raise limits.candidates in ${definition.file.path}`,
      );
    // Judgments are often sorted by grade. In that order, equal scores would be a perfect ranking.
    const candidates = shuffled(query.candidates, flags.seed + at);
    const grades = new Map(query.candidates.map(({ id, grade }) => [id, grade]));
    await pipeline.add({ body: shape.bodyOf(query, candidates), grades });
    progress.update(at + 1, at + 1);
  }
  progress.stop();
  return ndcgMeasure(flags.metric, flags.gain);
}

/** Takes the requests of a data set. */
async function keepLogged(
  context: CliContext,
  flags: Flags,
  folder: string,
  plan: Plan,
  params: readonly RangedParam[],
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
  const progress = startProgress(context.stderr, 'reading', data.rows.train, 'rows');
  const measure = weighing === undefined ? ndcgMeasure(flags.metric, flags.gain) : dcgMeasure(flags);
  let rows = 0;
  for await (const request of readRequests(data, 'train')) {
    rows += request.rows.length;
    progress.update(rows, rows);
    const logged = toLogged(request, flags, pipeline.queries, weighing);
    if (logged === undefined) continue;
    await pipeline.addLogged(logged, values);
    measure.learn(logged.grades);
  }
  progress.stop();
  return measure;
}

function notLogged(missing: readonly NotLogged[], { definition }: Plan): CommandFailure {
  const texts = missing.map(({ step, why, values }) =>
    why === 'removes'
      ? `the params change the filter ${step}, and a data set has only the candidates that it kept`
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

async function search(
  context: CliContext,
  seed: number,
  params: readonly RangedParam[],
  pipeline: TunablePipeline,
  measure: TunedMeasure,
): Promise<TuneResult> {
  const tuned: TunedParam[] = params.map(({ name, range }) => ({ name, ...range }));
  const progress = startProgress(context.stderr, 'tuning', 1, 'evaluations');
  try {
    return await tune(
      tuned,
      (point) =>
        pipeline.measure(
          new Map(tuned.map(({ name }, at) => [name, point[at] ?? 0])),
          measure.depth,
          (ranking) => measure.of(ranking),
        ),
      {
        seed,
        start: params.map(({ value }) => value),
        onProgress: (done, total, evaluations) => progress.update(done / total, evaluations),
      },
    );
  } catch (error) {
    if (error instanceof RangeError) throw new CommandFailure(error.message, undefined, { cause: error });
    throw error;
  } finally {
    progress.stop();
  }
}

function changedParams(
  params: readonly RangedParam[],
  { point }: TuneResult,
): { readonly path: readonly string[]; readonly value: number }[] {
  return params.flatMap(({ name, value }, at) => {
    const found = point[at] ?? value;
    return found === value ? [] : [{ path: ['params', name, 'value'], value: found }];
  });
}

/**
 * Replaces a file at once, so that a reader never sees a part of it. A link stays a link.
 * @throws CommandFailure if the file is no longer as it was read
 */
async function replaceFile(path: string, before: string, after: string): Promise<void> {
  const target = await realpath(path);
  if ((await readFile(target, 'utf8')) !== before)
    throw new CommandFailure(`${path} was changed while it was tuned; nothing is written`, 'tune it again');
  const beside = `${target}.${String(process.pid)}.tmp`;
  await writeFile(beside, after, { mode: (await stat(target)).mode });
  await rename(beside, target);
}

/** @throws UsageError for a metric that cannot be raised */
function tunedMetric(name: string): Metric {
  const metric = parseMetric(name);
  if ('problem' in metric) throw new UsageError(`--metric ${name}: ${metric.problem}; ${metric.help}`);
  if (!name.startsWith('ndcg'))
    throw new UsageError(`--metric ${name}: tuning raises NDCG; write ndcg, or ndcg@10 with any number`);
  return metric;
}
