import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { unknownPipeline } from '../../serve/app/project/unknown-pipeline.js';
import type { JsonObject } from '../../ground/api/types.js';
import { openLearned, type OpenLearned } from '../train/open-learned.js';
import { ProjectInvalidError } from '../../serve/app/project/compile-project.js';
import { PYTHON, type SettingFlags } from '../../project/settings/settings.js';
import { printJson, settingsOf, styleOf, tellStrayErrors, type CliContext } from '../context.js';
import { CommandFailure, UsageError } from '../failure.js';
import { fileProblem } from '../file-problem.js';
import { numberOption, wholeOption } from '../judge/options.js';
import { startProgress } from '../load/progress.js';
import { scratchFolder } from '../scratch-folder.js';
import { addSettingFlags } from '../setting-flags.js';
import { openDataFolder, type DataFolder } from '../train/data-files.js';
import { prepareColumns, writeComputed, type PreparedColumns } from '../train/prepare-columns.js';
import { readPropensities } from '../train/propensities.js';
import { prove } from '../train/prove.js';
import { runPython, type TrainingJob } from '../train/run-python.js';
import {
  cardMarkdown,
  libraryName,
  proofText,
  trainingText,
  type ModelCard,
  type Training,
} from '../train/training-text.js';
import { writeWhole } from '../../ground/core/write-whole.js';

interface Flags extends SettingFlags {
  readonly data: string;
  readonly out: string;
  readonly lib?: string;
  readonly columns?: readonly string[];
  readonly rounds: number;
  readonly earlyStopping: number;
  readonly param: JsonObject;
  readonly debias: 'auto' | 'none';
  readonly propensities?: string;
  readonly clip: number;
  readonly threads?: number;
  readonly seed: number;
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
        'values for the model, separated by commas [default: as the step or the old model says, or all numbers]',
      ).argParser((text: string) => text.split(',').map((name) => name.trim())),
    )
    .addOption(wholeOption('--rounds <N>', 'most rounds of boosting', 1000))
    .addOption(
      wholeOption(
        '--early-stopping <N>',
        'stop after so many rounds without a gain on the hold-out; 0: never',
        50,
      ),
    )
    .addOption(
      new Option('--param <NAME=VALUE>', 'parameter of the library, e.g. num_leaves=63; several times')
        .argParser(addParam)
        .default({}, 'none'),
    )
    .addOption(
      new Option('--debias <HOW>', 'treat the bias of positions as the library can, or not at all')
        .choices(['auto', 'none'])
        .default('auto'),
    )
    .option('--propensities <FILE>', 'JSON list: the probability that a user looks at place 1, 2, …')
    .addOption(numberOption('--clip <WEIGHT>', 'largest inverse propensity weight', 10))
    .addOption(wholeOption('--threads <N>', 'threads of the library; 0: as the library chooses', 0))
    .addOption(wholeOption('--seed <N>', 'seed of the training and of the intervals', 0))
    .option('--python <PATH>', `Python with the library [${PYTHON}, default python3]`)
    .option('--json', 'print the result as JSON')
    .action((target: string, flags: Flags) => trainStep(context, target, flags));
  return addSettingFlags(command, ['project']);
}

async function trainStep(context: CliContext, target: string, flags: Flags): Promise<void> {
  const [, pipeline = '', stepName = ''] = /^([^:]+):([^:]+)$/.exec(target) ?? [];
  if (pipeline === '')
    throw new UsageError(`${target} is not a step; expected PIPELINE:STEP, for example search:ltr`);
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
  const scratch = scratchFolder(context, join(tmpdir(), 'millrace-train-'));
  let training: Training;
  try {
    training = await trainIn(scratch.path, context, flags, opened, data, prepared, settings.project);
  } finally {
    await scratch.remove();
  }
  if (flags.json === true) printJson(context, trainingJson(training));
  else context.stdout.write(trainingText(training, styleOf(context, context.stdout).width));
}

/** @param folder for temporary files */
async function trainIn(
  folder: string,
  context: CliContext,
  flags: Flags,
  { step, services, check }: OpenLearned,
  data: DataFolder,
  prepared: PreparedColumns,
  project: string,
): Promise<Training> {
  const total = data.rows.train + data.rows.holdout;
  const reading = startProgress(context.stderr, 'reading', total);
  const files = await writeComputed(prepared, data, folder, (rows) => reading.update(rows, rows));
  reading.stop();
  const library = step.plugin.name;
  const scored = data.rows.holdout > 0 ? 'holdout' : 'train';
  const job: TrainingJob = {
    data: resolve(flags.data),
    lib: library,
    columns: prepared.columns.map((column, at) => {
      const { input, feature } = prepared.inputs[at] ?? {};
      const type = input?.kind === 'text' ? 'text' : 'number';
      const values = files.get(column);
      return {
        name: column.name,
        type,
        ...(feature === undefined ? {} : { feature: feature.name }),
        ...(values === undefined ? {} : { values }),
      };
    }),
    rounds: flags.rounds,
    early_stopping: flags.earlyStopping,
    seed: flags.seed,
    params: flags.param,
    debias: flags.debias,
    propensities: flags.propensities === undefined ? null : await readPropensities(flags.propensities),
    clip: flags.clip,
    threads: flags.threads === 0 ? null : (flags.threads ?? null),
    transformed: step.options.predict === 'objective',
    iterations: typeof step.options.iterations === 'number' ? step.options.iterations : null,
    scored,
    model: join(folder, library === 'lightgbm' ? 'model.txt' : 'model.json'),
    scores: join(folder, 'scores.bin'),
    result: join(folder, 'result.json'),
  };
  const spec = join(folder, 'job.json');
  await writeFile(spec, JSON.stringify(job));
  const python = flags.python ?? (context.env[PYTHON] || 'python3');
  const progress = startProgress(context.stderr, 'training', flags.rounds, 'rounds');
  const card = await runPython(python, job, spec, context.env, (round) =>
    progress.update(round, round),
  ).finally(() => progress.stop());
  const content = await readFile(job.model);
  const proof = await prove(step, prepared, data, scored, content, job.scores, services);
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
  return training;
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

function trainingJson({ pipeline, step, card, texts, proof, out }: Training): JsonObject {
  return {
    pipeline,
    step,
    model: out,
    version: proof.version,
    proof,
    values: texts,
    ...card,
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

function addParam(text: string, before: JsonObject): JsonObject {
  const [, name = '', value = ''] = /^([A-Za-z_][\w]*)=(.+)$/.exec(text) ?? [];
  if (name === '') throw new InvalidArgumentError('Expected NAME=VALUE.');
  let parsed: JsonObject[string];
  try {
    parsed = JSON.parse(value) as JsonObject[string];
  } catch {
    parsed = value;
  }
  return { ...before, [name]: parsed };
}
