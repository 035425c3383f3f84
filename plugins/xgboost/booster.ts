import type { ModelColumns } from '../../runtime/api/model-inputs.js';
import { atOnce, type Pieces } from '../../runtime/api/pieces.js';
import type { DecisionTree, TreeEnsemble } from '../../runtime/api/tree-ensemble.js';
import type { Transform } from '../../runtime/api/tree-model.js';
import { readCategories } from './categories.js';
import { LinearScorer } from './linear-scorer.js';
import {
  countAt,
  indexesAt,
  listAt,
  ModelFileError,
  numbersAt,
  objectAt,
  textAt,
  type Json,
} from './model.js';
import { objectiveOf } from './objective.js';
import { readTree } from './read-tree.js';
import { readUbjson } from './read-ubjson.js';

/** What a file may say that it has, since it need not hold anything of most of them. */
const MOST_FEATURES = 1_000_000;
const MOST_OUTPUTS = 10_000;

/** Which of a model's predictions is meant: `raw` is predict(output_margin=True), `objective` is predict(). */
export type Prediction = 'raw' | 'objective';
/** Iterations to use: `best` are those up to the best one if the file says which it is. */
export type Iterations = 'best' | 'all' | number;

/** A model ready to be compiled, or of booster gblinear. */
export interface Booster {
  readonly scored: { readonly ensemble: TreeEnsemble } | { readonly linear: LinearScorer };
  readonly outputs: number;
  readonly columns: ModelColumns;
  readonly transform: Transform | undefined;
}

/**
 * Reads what `save_model` writes as JSON or UBJSON (XGBoost 1.0 and later).
 * @throws ModelFileError
 */
export function readBooster(content: Buffer, prediction: Prediction, iterations: Iterations): Booster {
  return atOnce(boosterInPieces(content, prediction, iterations));
}

/** The same, laid down between trees. */
export function* boosterInPieces(
  content: Buffer,
  prediction: Prediction,
  iterations: Iterations,
): Pieces<Booster> {
  const file = readFile(content);
  const learner = objectAt(file, 'learner');
  const parameters = objectAt(learner, 'learner_model_param');
  const features = countAt(parameters, 'num_feature', undefined, MOST_FEATURES);
  const [classes, targets] = [
    countAt(parameters, 'num_class', 0, MOST_OUTPUTS),
    countAt(parameters, 'num_target', 1, MOST_OUTPUTS),
  ];
  const outputs = Math.max(1, classes, targets);
  const objective = objectiveOf(textAt(objectAt(learner, 'objective'), 'name'), versionOf(file));
  const base = baseScores(parameters['base_score'], outputs).map((score) => {
    const margin = Math.fround(objective.margin(Math.fround(score)));
    if (Number.isFinite(margin)) return margin;
    throw new ModelFileError(`its base_score ${score} does not fit its objective`);
  });
  const booster = objectAt(learner, 'gradient_booster');
  const transform = prediction === 'raw' ? undefined : objective.transform;
  const name = textAt(booster, 'name');
  if (name === 'gblinear') {
    const weights = Float32Array.from(
      numbersAt(objectAt(booster, 'model'), 'weights', (features + 1) * outputs),
    );
    if (typeof iterations === 'number') {
      throw new ModelFileError(`gblinear has no iterations, and ${iterations} are asked for`);
    }
    const linear = new LinearScorer(features, weights, base);
    return { scored: { linear }, outputs, columns: columnsOf(learner, features, {}), transform };
  }
  const isDart = name === 'dart';
  if (!isDart && name !== 'gbtree') throw new ModelFileError(`its booster is ${JSON.stringify(name)}`);
  const model = objectAt(isDart ? objectAt(booster, 'gbtree') : booster, 'model');
  const weights = isDart ? numbersAt(booster, 'weight_drop') : undefined;
  const trees = yield* readTrees(model, weights, outputs, treesOf(model, learner, outputs, iterations));
  return {
    scored: {
      ensemble: { features, outputs, precision: 'float32', comparison: 'less', trees, base },
    },
    outputs,
    columns: columnsOf(learner, features, model),
    transform,
  };
}

function readFile(content: Buffer): Json {
  if (/^tree\r?\n/.test(content.toString('latin1', 0, 6)))
    throw new ModelFileError('it is one of LightGBM; write `use: lightgbm`');
  // UBJSON's objects start like JSON's, and go on with the length of a key, never with white space or a quote.
  const isJson = content[0] === 0x7b && /^\{\s*["}]/.test(content.toString('latin1', 0, 64));
  if (!isJson && content[0] !== 0x7b) {
    throw new ModelFileError(
      'it is neither JSON nor UBJSON; a file of the old binary format has to be saved again as JSON',
    );
  }
  const read = isJson ? parseJson(content.toString('utf8')) : readUbjson(content);
  if (typeof read === 'object' && read !== null) {
    if ('tree_info' in read && !('learner' in read))
      throw new ModelFileError('it is one of LightGBM; write `use: lightgbm`');
    return read as Json;
  }
  throw new ModelFileError('it is not an object');
}

/** Of the XGBoost that wrote the file: major, and minor in hundredths. */
function versionOf(file: Json): number {
  if (file['version'] === undefined) return Infinity;
  const [major = 0, minor = 0] = numbersAt(file, 'version');
  return major + minor / 100;
}

/** What is no JSON, by what reads as it, or stands for it. */
const BEYOND_JSON: ReadonlyMap<string, string> = new Map([
  ['NaN', 'null'],
  ['Infinity', '1e999'],
]);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // XGBoost writes NaN among training statistics, and Infinity as a threshold too; texts stay as they are.
    const plain = text.replace(/"(?:[^"\\]|\\.)*"|NaN|Infinity/g, (found) =>
      found.startsWith('"') ? found : (BEYOND_JSON.get(found) ?? found),
    );
    if (plain !== text) return JSON.parse(plain);
    throw new ModelFileError(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** One score for all outputs or one for each, written as 0.5, "5E-1", "[5E-1]" or "[3E-1,3E-1,4E-1]". */
function baseScores(written: unknown, outputs: number): number[] {
  const words: readonly unknown[] = Array.isArray(written)
    ? written
    : typeof written === 'string'
      ? written.replace(/^\s*\[|\]\s*$/g, '').split(',')
      : [written ?? 0.5];
  const scores = words.map((word) => {
    if (typeof word === 'number') return word;
    return typeof word === 'string' && word.trim() !== '' ? Number(word) : NaN;
  });
  if (scores.every(Number.isFinite)) {
    if (scores.length === outputs) return scores;
    if (scores.length === 1) return new Array<number>(outputs).fill(scores[0] ?? NaN);
  }
  throw new ModelFileError(
    typeof written === 'string'
      ? `its base_score is ${JSON.stringify(written)}`
      : `its base_score is neither one number nor ${outputs}`,
  );
}

/** How many trees, from the first, to use. */
function treesOf(model: Json, learner: Json, outputs: number, iterations: Iterations): number {
  const count = listAt(model, 'trees').length;
  if (iterations === 'all') return count;
  const attributes = learner['attributes'] === undefined ? {} : objectAt(learner, 'attributes');
  if (iterations === 'best' && attributes['best_iteration'] === undefined) return count;
  const wanted = iterations === 'best' ? countAt(attributes, 'best_iteration') + 1 : iterations;
  const parallel = Math.max(1, countAt(objectAt(model, 'gbtree_model_param'), 'num_parallel_tree', 1));
  // Files since XGBoost 2.0 say where each iteration starts.
  const starts = model['iteration_indptr'] === undefined ? undefined : indexesAt(model, 'iteration_indptr');
  const held = starts === undefined ? count / (parallel * outputs) : starts.length - 1;
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > held) {
    throw new ModelFileError(`it has ${held} iterations, and ${wanted} are asked for`);
  }
  const used = starts === undefined ? wanted * parallel * outputs : (starts[wanted] ?? count);
  if (used >= 0 && used <= count) return used;
  throw new ModelFileError(`\`iteration_indptr\` has an iteration end at tree ${used} of ${count}`);
}

function* readTrees(
  model: Json,
  weights: readonly number[] | undefined,
  outputs: number,
  used: number,
): Pieces<DecisionTree[]> {
  const written = Array.from(listAt(model, 'trees'));
  const groups = indexesAt(model, 'tree_info', written.length);
  if (weights !== undefined && weights.length !== written.length) {
    throw new ModelFileError('`weight_drop` has not a weight for each tree');
  }
  const trees: DecisionTree[] = [];
  for (const [index, tree] of written.slice(0, used).entries()) {
    yield;
    try {
      const weight = weights === undefined ? 1 : Math.fround(weights[index] ?? 1);
      trees.push(...readTree(objectAt({ tree }, 'tree'), outputs, groups[index] ?? 0, weight));
    } catch (error) {
      if (error instanceof ModelFileError) throw new ModelFileError(`tree ${index}: ${error.message}`);
      throw error;
    }
  }
  return trees;
}

function columnsOf(learner: Json, features: number, model: Json): ModelColumns {
  const written =
    learner['feature_names'] === undefined
      ? []
      : Array.from(listAt(learner, 'feature_names'), (name) => {
          if (typeof name === 'string') return name;
          throw new ModelFileError('a name of `feature_names` is not a text');
        });
  const unnamed = written.length === 0;
  if (!unnamed && written.length !== features) {
    throw new ModelFileError(`it has ${features} features and ${written.length} names of features`);
  }
  const names = unnamed ? Array.from({ length: features }, (_, i) => `f${i}`) : written;
  return { names, unnamed, categories: readCategories(model) };
}
