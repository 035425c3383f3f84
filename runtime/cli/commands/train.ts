import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import type { JsonObject } from '../../ground/api/types.js';
import { trainingJob } from '../train/training-job.js';
import { addTrainingOptions, type TrainingFlags } from '../train/training-options.js';
import { openLearned, type OpenLearned } from '../train/open-learned.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { PYTHON, type SettingFlags } from '../../project/settings/settings.js';
import { styleOf } from '../../ground/core/console.js';
import { printJson, settingsOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../../project/config/diagnostics/failure.js';
import { fileProblem } from '../../ground/core/file-problem.js';
import { startProgress, type Progress } from '../../ground/core/progress.js';
import { scratchFolder } from '../../ground/core/scratch-folder.js';
import { addSettingFlags } from '../setting-flags.js';
import { openDataFolder, type DataFolder } from '../../learn/training/data-files.js';
import {
  constantColumns,
  prepareColumns,
  writeComputed,
  type PreparedColumns,
} from '../../learn/training/prepare-columns.js';
import { numberText } from '../../learn/report/evaluation-tree.js';
import { prove } from '../../learn/training/prove.js';
import { runPython, type TrainingJob } from '../../learn/training/run-python.js';
import { cardMarkdown } from '../report/model-card.js';
import {
  libraryName,
  proofText,
  trainingText,
  type LoggedRun,
  type ModelCard,
  type Training,
} from '../report/training-text.js';
import { writeWhole } from '../../ground/core/write-whole.js';

interface Flags extends SettingFlags, TrainingFlags {
  readonly lib?: string;
  readonly columns?: readonly string[];
  readonly python?: string;
  readonly json?: boolean;
}

export function trainCommand(context: CliContext): Command {
  const command = new Command('train')
    .description('train the model of a step on a data set, with Python')
    .argument('<PIPELINE:STEP>', 'a step that uses lightgbm or xgboost, e.g. search:ltr')
    .requiredOption('--data <DIR>', 'data set that `millrace dataset build` wrote')
    .requiredOption('--out <FILE>', 'the file of the model')
    .addOption(
      new Option('--lib <LIBRARY>', 'the library; it must be that of the step').choices([
        'lightgbm',
        'xgboost',
      ]),
    )
    .addOption(
      new Option(
        '--columns <NAMES>',
        'values for the model, separated by commas; all: all numbers [default: as the step or the old model says, or all numbers]',
      ).argParser((text: string) => text.split(',').map((name) => name.trim())),
    );
  addTrainingOptions(command)
    .option('--python <PATH>', `Python with the library [${PYTHON}, default python3]`)
    .option('--json', 'print the result as JSON')
    .action((target: string, flags: Flags) => trainStep(context, target, flags));
  return addSettingFlags(command, ['project']);
}

async function trainStep(context: CliContext, target: string, flags: Flags): Promise<void> {
  const [, pipeline = '', stepName = ''] = /^([^:]+):([^:]+)$/.exec(target) ?? [];
  if (pipeline === '')
    throw new UsageError(`${target} is not a step; expected PIPELINE:STEP, for example search:ltr`);
  if (flags.mlflow === true && !context.env.MLFLOW_TRACKING_URI)
    throw new UsageError(
      '--mlflow needs MLFLOW_TRACKING_URI in the environment, for example http://mlflow:5000 or sqlite:////srv/mlflow.db',
    );
  const settings = await settingsOf(context, flags);
  tellStrayErrors(context, settings);
  const opened = await openLearned({ ...settings, logLevel: 'silent' }, pipeline, stepName);
  if ('lacks' in opened) throw noStep(opened, pipeline, stepName);
  const { step } = opened;
  if (flags.lib !== undefined && flags.lib !== step.plugin.name)
    throw new CommandFailure(
      `the step ${stepName} uses ${step.plugin.name}, and --lib is ${flags.lib}`,
      `write \`use: ${flags.lib}\` in ${step.definition.file.path}, or leave --lib out`,
    );
  const data = await openDataFolder(flags.data);
  const prepared = prepareColumns(step, data, flags.columns);
  if (prepared.old.length > 0)
    context.stderr.write(
      `note: the new model has no column ${prepared.old.join(', ')}, which ${step.modelPath} has\n`,
    );
  const constant = constantColumns(prepared);
  if (constant.length > 0)
    context.stderr.write(
      `warning: ${constant.join(', ')} ${constant.length === 1 ? 'has' : 'have'} one value in all rows, so the model learns nothing from ${constant.length === 1 ? 'it' : 'them'}; look at the statuses in ${join(flags.data, 'manifest.json')}\n`,
    );
  const scratch = scratchFolder(context, join(tmpdir(), 'millrace-train-'));
  let training: Training;
  try {
    training = await trainIn(scratch.path, context, flags, opened, {
      data,
      prepared,
      project: settings.project,
    });
  } finally {
    await scratch.remove();
  }
  if (flags.json === true) printJson(context, trainingJson(training));
  else context.stdout.write(trainingText(training, styleOf(context, context.stdout).width));
}

interface TrainingInput {
  readonly data: DataFolder;
  readonly prepared: PreparedColumns;
  /** The folder of the project. */
  readonly project: string;
}

/** @param folder for temporary files */
async function trainIn(
  folder: string,
  context: CliContext,
  flags: Flags,
  { step, services, check }: OpenLearned,
  { data, prepared, project }: TrainingInput,
): Promise<Training> {
  const total = data.rows.train + data.rows.holdout;
  const reading = startProgress(context.stderr, 'reading', total);
  const files = await writeComputed(prepared, data, folder, (rows) => reading.update(rows, rows)).finally(
    () => reading.stop(),
  );
  const library = step.plugin.name;
  const scored = data.rows.holdout > 0 ? 'holdout' : 'train';
  const job = await trainingJob(folder, flags, step, { ...prepared, files }, scored);
  const python = flags.python ?? (context.env[PYTHON] || 'python3');
  const card = await runJob(context, python, job);
  const content = await readFile(job.model);
  const proof = await prove(step, prepared, data, { split: scored, content, scores: job.scores }, services);
  if (proof.different > 0)
    throw new CommandFailure(
      `${proofText(proof, libraryName(library))}; nothing is written`,
      'this is a fault of Millrace: report it with the versions of Python and of the library',
    );
  const diagnostics = await check(content);
  if (diagnostics.some(({ severity }) => severity === 'error')) throw new ProjectInvalidError(diagnostics);
  const out = resolve(flags.out);
  const training: Training = {
    pipeline: step.definition.name,
    step: step.name,
    card: card as unknown as ModelCard,
    texts: Object.fromEntries(prepared.columns.map(({ name, text }) => [name, text])),
    proof,
    out: flags.out,
    modelPath: step.modelPath,
    isInPlace: out === resolve(project, step.modelPath),
  };
  await writeModel(out, content, training);
  if (flags.mlflow !== true) return training;
  const logged = await runPython(
    python,
    {
      logged: out,
      name: `${training.pipeline}:${training.step}`,
      folder: resolve('.'),
      result: join(folder, 'logged.json'),
    },
    context.env,
  );
  return { ...training, mlflow: logged as unknown as LoggedRun };
}

/** Shows the rounds of training, and the points of a search. */
async function runJob(context: CliContext, python: string, job: TrainingJob): Promise<JsonObject> {
  const start = {
    round: () => startProgress(context.stderr, 'training', undefined, 'rounds'),
    points: () => startProgress(context.stderr, 'searching', 1, 'points', true),
  };
  let shown: { readonly what: keyof typeof start; readonly progress: Progress } | undefined;
  const show = (what: keyof typeof start): Progress => {
    if (shown?.what === what) return shown.progress;
    shown?.progress.stop();
    shown = { what, progress: start[what]() };
    return shown.progress;
  };
  // Without a search, Ctrl-C ends the command.
  const stop = job.budget === null ? undefined : context.stopSignal();
  try {
    return await runPython(
      python,
      job,
      context.env,
      (news) => {
        if ('round' in news) show('round').update(news.round, news.round);
        else show('points').update(news.share, news.points, `best ${numberText(news.best)}`);
      },
      stop,
    );
  } finally {
    shown?.progress.stop();
  }
}

/** The card first: a model that is there always has one. */
async function writeModel(out: string, content: Buffer, training: Training): Promise<void> {
  try {
    await writeWhole(`${out}.card.json`, `${JSON.stringify(trainingJson(training), null, 2)}\n`);
    await writeWhole(`${out}.card.md`, cardMarkdown(training));
    await writeWhole(out, content);
  } catch (error) {
    throw new CommandFailure(`cannot write ${training.out}: ${fileProblem(error)}`, undefined, {
      cause: error,
    });
  }
}

function trainingJson({ pipeline, step, card, texts, proof, out, mlflow }: Training): JsonObject {
  return {
    pipeline,
    step,
    model: out,
    version: proof.version,
    proof,
    values: texts,
    ...card,
    ...(mlflow === undefined ? {} : { mlflow }),
  } as unknown as JsonObject;
}

function noStep(
  why: Exclude<Awaited<ReturnType<typeof openLearned>>, OpenLearned>,
  pipeline: string,
  step: string,
): Error {
  switch (why.lacks) {
    case 'pipeline':
      return unknownPipeline(pipeline, why.pipelines, 'the project');
    case 'step':
      return new CommandFailure(
        `the pipeline ${pipeline} has no step ${step}`,
        why.near !== undefined
          ? `did you mean ${pipeline}:${why.near}?`
          : why.steps.length > 0
            ? `its steps with a model that can be trained are ${why.steps.join(', ')}`
            : `add a step, for example { use: lightgbm, as: ${step}, with: { model: models/${step}.txt } }; the file need not exist`,
      );
    case 'library':
      return new CommandFailure(
        `the step ${step} uses ${why.use}, and only models of lightgbm and xgboost are trained`,
      );
  }
}
