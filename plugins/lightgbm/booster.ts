import {
  atOnce,
  eachNumber,
  type FileNotice,
  type ModelColumns,
  ModelFileError,
  type Pieces,
  type Transform,
  type TreeEnsemble,
} from 'millrace/api';
import { columnsOf } from './columns.js';
import type { LightGbmModel } from './model.js';
import { objectiveTransform } from './objective.js';
import type { Predict } from './options.generated.js';
import { readJson } from './read-json.js';
import { readText } from './read-text.js';

/** A model that is ready to compile. */
export interface Booster {
  readonly ensemble: TreeEnsemble;
  readonly outputs: number;
  readonly columns: ModelColumns;
  readonly transform: Transform | undefined;
  readonly notices: readonly FileNotice[];
}

/**
 * @param iterations how many iterations to use, from the first; by default all of the file
 * @param withCovers whether the trees get their covers, which scores do not need
 * @throws ModelFileError
 */
export function readBooster(
  content: Buffer,
  prediction: Predict,
  iterations?: number,
  withCovers?: boolean,
): Booster {
  return atOnce(boosterInPieces(content, prediction, iterations, withCovers));
}

/** Does the same and yields between trees. */
export function* boosterInPieces(
  content: Buffer,
  prediction: Predict,
  iterations: number | undefined,
  withCovers = false,
): Pieces<Booster> {
  const model = yield* readModel(content, withCovers);
  const { treesPerIteration: outputs } = model;
  const held = model.trees.length / outputs;
  if (!Number.isInteger(held) || held <= 0) {
    throw new ModelFileError(`it has ${model.trees.length} trees, ${outputs} for each iteration`);
  }
  const used = iterations ?? held;
  if (used > held) throw new ModelFileError(`it has ${held} iterations, and ${used} are requested`);
  return {
    outputs,
    ensemble: {
      features: model.names.length,
      outputs,
      precision: 'float64',
      comparison: 'less_or_equal',
      trees: model.trees.slice(0, used * outputs),
      base: new Array<number>(outputs).fill(0),
    },
    columns: columnsOf(model),
    transform: prediction === 'raw' ? undefined : transformOf(model, used),
    notices: model.notices,
  };
}

function* readModel(content: Buffer, withCovers: boolean): Pieces<LightGbmModel> {
  const text = content.toString('utf8');
  if (!/^\s*\{/.test(text.slice(0, 200))) return yield* readText(text, withCovers);
  try {
    return yield* readJson(JSON.parse(text), withCovers);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ModelFileError(`it is not JSON: ${error.message}`);
    throw error;
  }
}

function transformOf({ objective, average }: LightGbmModel, iterations: number): Transform | undefined {
  if (objective === undefined) {
    throw new ModelFileError(
      'it has no `objective`, so only raw scores are possible',
      'write `predict: raw`, or give the text file that save_model writes; dump_model omits a custom objective, and in LightGBM 2.0 and 2.1 every objective',
    );
  }
  const convert = objectiveTransform(objective);
  if (!average) return convert;
  const mean = eachNumber((sum) => sum / iterations);
  return (outputs, rows) => {
    mean(outputs, rows);
    convert?.(outputs, rows);
  };
}
