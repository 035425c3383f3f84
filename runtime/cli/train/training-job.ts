import { join } from 'node:path';
import { localFolder } from '../../ground/core/stored-files.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import type { Split } from '../../learn/training/data-files.js';
import type { LearnedStep } from '../../learn/training/learned-step.js';
import type { ColumnFiles, PreparedColumns } from '../../learn/training/prepare-columns.js';
import { readPropensities } from '../../learn/training/propensities.js';
import type { TrainingJob } from '../../learn/training/run-python.js';
import type { Directions, TrainingFlags } from './training-options.js';

/**
 * What Python gets.
 * @param folder for its results
 * @param scored which rows to score with the library
 * @throws CommandFailure
 */
export async function trainingJob(
  folder: string,
  flags: TrainingFlags,
  { plugin, options }: LearnedStep,
  prepared: PreparedColumns & { readonly files: ColumnFiles },
  scored: Split,
): Promise<TrainingJob> {
  const library = plugin.name;
  return {
    data: await localFolder(flags.data, join(folder, 'data')),
    lib: library,
    columns: prepared.columns.map((column, at) => {
      const { input, feature } = prepared.inputs[at] ?? {};
      const type = input?.kind === 'text' ? 'text' : 'number';
      const values = prepared.files.get(column);
      return {
        name: column.name,
        type,
        ...(feature === undefined ? {} : { feature: feature.name }),
        ...(values === undefined ? {} : { values }),
      };
    }),
    rounds: flags.rounds ?? null,
    early_stopping: flags.earlyStopping,
    seed: flags.seed,
    params: flags.param,
    debias: flags.debias,
    propensities: flags.propensities === undefined ? null : await readPropensities(flags.propensities),
    clip: flags.clip,
    threads: flags.threads === 0 ? null : (flags.threads ?? null),
    folds: flags.folds ?? null,
    budget: flags.budget === undefined ? null : flags.budget / 1000,
    monotone: directionsOf(prepared, flags.monotone),
    curve: flags.curve === true,
    importance: flags.importance === true,
    transformed: options.predict === 'objective',
    iterations: typeof options.iterations === 'number' ? options.iterations : null,
    scored,
    mlflow: flags.mlflow === true,
    model: join(folder, library === 'lightgbm' ? 'model.txt' : 'model.json'),
    scores: join(folder, 'scores.bin'),
    result: join(folder, 'result.json'),
  };
}

/** By column of the model. @throws CommandFailure for a column that it does not have */
function directionsOf({ columns, inputs }: PreparedColumns, given: Directions): Directions {
  return Object.fromEntries(
    Object.entries(given).map(([name, direction]) => {
      const at = columns.findIndex((one) => one.name === name || one.text === name);
      if (at === -1)
        throw new CommandFailure(
          `--monotone ${name}: the model has no such column`,
          didYouMean(
            name,
            columns.flatMap((one) => [one.text, one.name]),
            AS_WORD,
          ),
        );
      if (inputs[at]?.input.kind === 'text')
        throw new CommandFailure(`--monotone ${name}: it is a text, which has no direction`);
      return [columns[at]?.name ?? name, direction];
    }),
  );
}
