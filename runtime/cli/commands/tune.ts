import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { compileTunable, type CompiledTunable } from '../../serve/app/project/compile-tunable.js';
import { openTunable } from '../../serve/app/project/open-tunable.js';
import { changedLines, editNumbers } from '../../project/config/yaml/edit-numbers.js';
import { parseMetric, type Metric } from '../../learn/evaluation/metric-names.js';
import type { PipelineServices } from '../../request/pipeline/pipeline-services.js';
import type { SettingFlags } from '../../project/settings/settings.js';
import type { TunedParam } from '../../learn/tuning/coordinate-ascent.js';
import { TunablePipeline } from '../../learn/tuning/tunable-pipeline.js';
import { DEFAULT_RESTARTS, tune, type MeasureQueries, type TuneResult } from '../../learn/tuning/tune.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { numberOption, spanOption, wholeOption } from '../../learn/judge/options.js';
import { addJudgmentsOptions } from '../../learn/judge/judgments-options.js';
import { startProgress } from '../../ground/core/progress.js';
import { addSettingFlags } from '../setting-flags.js';
import { keepLogged, keepQueries, type RequestFlags } from '../../learn/judge/keep-requests.js';
import type { TunedMeasure } from '../../learn/judge/logged-measure.js';
import { rangedParams, type RangedParam } from '../../learn/judge/ranged-params.js';
import { numberText } from '../../learn/report/evaluation-tree.js';
import { tuningJson, tuningText, type Tuning } from '../report/tuning-text.js';
import { writeWhole } from '../../ground/core/write-whole.js';

interface Flags extends SettingFlags, RequestFlags {
  readonly restarts: number;
  readonly budget: number;
  readonly write?: boolean;
  readonly json?: boolean;
}

const DEFAULT_METRIC = 'ndcg@10';
const DEFAULT_BUDGET = '2m';
/** The longest time that the event loop waits for a signal. */
const LONGEST_TURN_MS = 50;

export function tuneCommand(context: CliContext): Command {
  const command = new Command('tune')
    .description('find better values for the params of a pipeline that have a range')
    .argument('<PIPELINE>', 'name of a pipeline, a file of pipelines/');
  addJudgmentsOptions(command)
    .option('--data <DIR>', 'instead, a data set that `millrace dataset build` wrote')
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
    .addOption(
      spanOption(
        '--budget <SPAN>',
        'how long the search may take; Ctrl-C also ends it, with the best values so far',
        DEFAULT_BUDGET,
      ),
    )
    .addOption(wholeOption('--restarts <N>', 'searches from random values', DEFAULT_RESTARTS))
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
  const params = rangedParams(plan.definition);
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
        ? await keepQueries(context, flags, plan.definition, config, pipeline)
        : await keepLogged(context, flags, flags.data, { plan, params }, pipeline);
    const result = await search(context, flags, params, pipeline, measure);
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

async function search(
  context: CliContext,
  { seed, restarts, budget }: Flags,
  params: readonly RangedParam[],
  pipeline: TunablePipeline,
  measure: TunedMeasure,
): Promise<TuneResult> {
  const tuned: TunedParam[] = params.map(({ name, range }) => ({ name, ...range }));
  const progress = startProgress(context.stderr, 'tuning', 1, 'evaluations', true);
  let turn = performance.now();
  const measureOn =
    (isExact: boolean): MeasureQueries =>
    async (point, on) => {
      if (performance.now() - turn > LONGEST_TURN_MS) {
        await setImmediate();
        turn = performance.now();
      }
      const values = new Map(tuned.map(({ name }, at) => [name, point[at] ?? 0]));
      return pipeline.measure(values, measure.depth, (ranking) => measure.of(ranking), on, isExact);
    };
  try {
    await pipeline.takeSums(
      params.map(({ name, value, range }) => ({ name, value, ...range })),
      measure.depth,
      (ranking) => measure.of(ranking),
    );
    return await tune(tuned, measureOn(false), {
      ...{ seed, restarts, budgetMs: budget, signal: context.stopSignal(), exact: measureOn(true) },
      start: params.map(({ value }) => value),
      onProgress: (done, evaluations, best) =>
        progress.update(done, evaluations, `${measure.name} ${numberText(best)}`),
    });
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
  await writeWhole(target, after, (await stat(target)).mode);
}

/** @throws UsageError for a metric that cannot be raised */
function tunedMetric(name: string): Metric {
  const metric = parseMetric(name);
  if ('problem' in metric) throw new UsageError(`--metric ${name}: ${metric.problem}; ${metric.help}`);
  if (!name.startsWith('ndcg'))
    throw new UsageError(`--metric ${name}: tuning raises NDCG; write ndcg, or ndcg@10 with any number`);
  return metric;
}
