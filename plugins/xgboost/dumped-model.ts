import { OptionError, type Pieces } from 'millrace/api';
import { baseScores, marginsOf } from './base-score.js';
import type { Booster } from './model.js';
import { objectiveOf } from './objective.js';
import type { Iterations, Predict } from './options.generated.js';
import { readDump, type DumpOptions } from './read-dump.js';

/**
 * The model of a dump, whose base score and objective come from the options. Without a base score, sums start at 0.
 * @throws ModelFileError, and OptionError for an option that is missing
 */
export function* readDumpedModel(
  list: readonly unknown[],
  predict: Predict,
  iterations: Iterations,
  given: DumpOptions,
  withCovers: boolean,
): Pieces<Booster> {
  checkOptions(predict, given);
  const { objective: name, base_score: score } = given;
  const objective = name === undefined ? undefined : objectiveOf(name, Infinity);
  const { trees, outputs, columns, notices } = yield* readDump(list, given, iterations, withCovers);
  const base =
    objective === undefined || score === undefined
      ? new Array<number>(outputs).fill(0)
      : marginsOf(objective, baseScores(score, outputs));
  const features = columns.names.length;
  return {
    scored: { ensemble: { features, outputs, precision: 'float32', comparison: 'less', trees, base } },
    outputs,
    columns,
    transform: predict === 'raw' ? undefined : objective?.transform,
    isDump: true,
    notices,
  };
}

function checkOptions(predict: Predict, given: DumpOptions): void {
  if (predict === 'objective') {
    for (const option of ['objective', 'base_score'] as const) {
      if (given[option] !== undefined) continue;
      throw new OptionError(
        ['predict'],
        `\`predict: objective\` needs \`${option}\`, which a dump of XGBoost lacks`,
        `give \`${option}\`, or the file that save_model writes`,
      );
    }
  }
  if (given.base_score !== undefined && given.objective === undefined) {
    throw new OptionError(
      ['base_score'],
      '`base_score` needs `objective`, which defines what it means for the sum of the trees',
      'give the `objective` that the model was trained with',
    );
  }
  if (given.objective?.startsWith('multi:') === true && given.num_class === undefined) {
    throw new OptionError(
      ['objective'],
      `\`${given.objective}\` needs \`num_class\`, which a dump of XGBoost lacks`,
      'give the number of classes as `num_class`',
    );
  }
}
