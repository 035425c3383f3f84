import {
  atOnce,
  type DecisionTree,
  type FileNotice,
  type ModelColumns,
  ModelFileError,
  OptionError,
  type Pieces,
  type Transform,
  type TreeEnsemble,
} from 'millrace/api';
import { readCategories } from './categories.js';
import { LinearScorer } from './linear-scorer.js';
import {
  asObject,
  countAt,
  indexesAt,
  listAt,
  MOST_FEATURES,
  MOST_OUTPUTS,
  numbersAt,
  objectAt,
  textAt,
  type Json,
} from './model.js';
import { objectiveOf, type Objective } from './objective.js';
import type { Iterations, Predict } from './options.generated.js';
import { readDump, DUMP_OPTIONS, type DumpOptions } from './read-dump.js';
import { readTree } from './read-tree.js';
import { readUbjson } from './read-ubjson.js';

/** A model ready to be compiled, or of booster gblinear. */
export interface Booster {
  readonly scored: { readonly ensemble: TreeEnsemble } | { readonly linear: LinearScorer };
  readonly outputs: number;
  readonly columns: ModelColumns;
  readonly transform: Transform | undefined;
  /** Of a dump: the columns are those that trees split by, and of named ones the order is not known. */
  readonly isDump: boolean;
  readonly notices: readonly FileNotice[];
}

/**
 * Reads what `save_model` writes as JSON or UBJSON (XGBoost 1.0 and later), or the JSON of `dump_model`.
 * @param told what a dump leaves out
 * @throws ModelFileError, and OptionError for what is told without need, or missing
 */
export function readBooster(
  content: Buffer,
  prediction: Predict,
  iterations: Iterations,
  told: DumpOptions = {},
): Booster {
  return atOnce(boosterInPieces(content, prediction, iterations, told));
}

/** The same, laid down between trees. */
export function* boosterInPieces(
  content: Buffer,
  prediction: Predict,
  iterations: Iterations,
  told: DumpOptions = {},
): Pieces<Booster> {
  const file = readFile(content);
  if (Array.isArray(file)) return yield* readDumped(file, prediction, iterations, told);
  for (const option of DUMP_OPTIONS) {
    if (told[option] === undefined) continue;
    throw new OptionError(
      [option],
      `\`${option}\` is given, and the model file has its own`,
      `leave \`${option}\` out: only the JSON of dump_model lacks it`,
    );
  }
  const saved = file as Json;
  const learner = objectAt(saved, 'learner');
  const parameters = objectAt(learner, 'learner_model_param');
  const features = countAt(parameters, 'num_feature', undefined, MOST_FEATURES);
  const outputs = outputsOf(learner, parameters);
  const objective = objectiveOf(textAt(objectAt(learner, 'objective'), 'name'), versionOf(saved));
  const base = marginsOf(objective, baseScores(parameters['base_score'], outputs));
  const booster = objectAt(learner, 'gradient_booster');
  const transform = prediction === 'raw' ? undefined : objective.transform;
  const rest = { outputs, transform, isDump: false, notices: [] };
  const name = textAt(booster, 'name');
  if (name === 'gblinear') {
    const weights = Float32Array.from(
      numbersAt(objectAt(booster, 'model'), 'weights', (features + 1) * outputs),
    );
    if (typeof iterations === 'number') {
      throw new ModelFileError(`gblinear has no iterations, and ${iterations} are asked for`);
    }
    // XGBoost 3.1 and 3.2, which have a base_score for each output, add the first of them to all.
    const linear = new LinearScorer(features, weights, new Array<number>(outputs).fill(base[0] ?? 0));
    return { ...rest, scored: { linear }, columns: columnsOf(learner, features, {}) };
  }
  const isDart = name === 'dart';
  if (!isDart && name !== 'gbtree') throw new ModelFileError(`its booster is ${JSON.stringify(name)}`);
  const model = objectAt(isDart ? objectAt(booster, 'gbtree') : booster, 'model');
  const weights = isDart ? numbersAt(booster, 'weight_drop') : undefined;
  const used = treesOf(model, learner, outputs, iterations);
  const trees = yield* readTrees(model, weights, { outputs, features }, used);
  return {
    ...rest,
    scored: {
      ensemble: { features, outputs, precision: 'float32', comparison: 'less', trees, base },
    },
    columns: columnsOf(learner, features, model),
  };
}

function* readDumped(
  list: readonly unknown[],
  prediction: Predict,
  iterations: Iterations,
  told: DumpOptions,
): Pieces<Booster> {
  const { objective: name, base_score: score } = told;
  if (prediction === 'objective') {
    for (const option of ['objective', 'base_score'] as const) {
      if (told[option] !== undefined) continue;
      throw new OptionError(
        ['predict'],
        `\`predict: objective\` needs \`${option}\`, which a dump of XGBoost leaves out`,
        `give \`${option}\`, or the file that save_model writes`,
      );
    }
  }
  if (score !== undefined && name === undefined) {
    throw new OptionError(
      ['base_score'],
      '`base_score` needs `objective`, which says what it means to the sum of the trees',
      'give the `objective` that the model was trained with',
    );
  }
  if (name?.startsWith('multi:') === true && told.num_class === undefined) {
    throw new OptionError(
      ['objective'],
      `\`${name}\` needs \`num_class\`, which a dump of XGBoost leaves out`,
      'give the number of classes as `num_class`',
    );
  }
  const objective = name === undefined ? undefined : objectiveOf(name, Infinity);
  const { trees, outputs, columns, notices } = yield* readDump(list, told, iterations);
  const base =
    objective === undefined
      ? new Array<number>(outputs).fill(0)
      : marginsOf(objective, score === undefined ? [] : baseScores(score, outputs), outputs);
  return {
    scored: {
      ensemble: {
        features: columns.names.length,
        outputs,
        precision: 'float32',
        comparison: 'less',
        trees,
        base,
      },
    },
    outputs,
    columns,
    transform: prediction === 'raw' ? undefined : objective?.transform,
    isDump: true,
    notices,
  };
}

/** Where the sums start: at 0 where no base_score is known. */
function marginsOf(objective: Objective, scores: readonly number[], outputs = scores.length): number[] {
  if (scores.length === 0) return new Array<number>(outputs).fill(0);
  return scores.map((score) => {
    const margin = Math.fround(objective.margin(Math.fround(score)));
    if (Number.isFinite(margin)) return margin;
    throw new ModelFileError(`its base_score ${score} does not fit its objective`);
  });
}

/** One for each class or target, which a file counts in several places. */
function outputsOf(learner: Json, parameters: Json): number {
  const classes = countAt(parameters, 'num_class', 0, MOST_OUTPUTS);
  const targets = countAt(parameters, 'num_target', 1, MOST_OUTPUTS);
  const objective = objectAt(learner, 'objective');
  const softmax = objective['softmax_multiclass_param'];
  const told =
    softmax === undefined ? classes : countAt(objectAt(objective, 'softmax_multiclass_param'), 'num_class');
  if (told !== classes) throw new ModelFileError(`it has ${classes} classes, and its objective ${told}`);
  return Math.max(1, classes, targets);
}

/** An object, or the list of a dump. */
function readFile(content: Buffer): Json | readonly unknown[] {
  const head = content.toString('latin1', 0, 64);
  if (/^tree *\r?\n/.test(head)) throw new ModelFileError('it is one of LightGBM', 'write `use: lightgbm`');
  // UBJSON's objects start like JSON's, and go on with the length of a key, never with white space or a quote.
  const isJson = /^\s*(\{\s*["}]|\[)/.test(head);
  if (!isJson && content[0] !== 0x7b) throw new ModelFileError('it is neither JSON nor UBJSON');
  const read = isJson ? parseJson(content.toString('utf8')) : readUbjson(content);
  if (Array.isArray(read)) return read as readonly unknown[];
  if (typeof read === 'object' && read !== null) {
    if ('tree_info' in read && !('learner' in read))
      throw new ModelFileError('it is one of LightGBM', 'write `use: lightgbm`');
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
  const parameters = objectAt(model, 'gbtree_model_param');
  const told = countAt(parameters, 'num_trees', count);
  if (told !== count) throw new ModelFileError(`\`num_trees\` is ${told}, and it has ${count} trees`);
  const starts = iterationStarts(
    model,
    count,
    Math.max(1, countAt(parameters, 'num_parallel_tree', 1)),
    outputs,
  );
  if (iterations === 'all') return count;
  const attributes = learner['attributes'] === undefined ? {} : objectAt(learner, 'attributes');
  if (iterations === 'best' && attributes['best_iteration'] === undefined) return count;
  const wanted = iterations === 'best' ? countAt(attributes, 'best_iteration') + 1 : iterations;
  const used = Number.isInteger(wanted) && wanted >= 1 ? starts[wanted] : undefined;
  if (used !== undefined) return used;
  throw new ModelFileError(`it has ${starts.length - 1} iterations, and ${wanted} are asked for`);
}

/** The first tree of each iteration, and the number of trees last. Files since XGBoost 2.0 have it. */
function iterationStarts(model: Json, count: number, parallel: number, outputs: number): readonly number[] {
  if (model['iteration_indptr'] !== undefined) {
    const starts = indexesAt(model, 'iteration_indptr');
    const ascend = starts.every((start, i) => (i === 0 ? start === 0 : start > (starts[i - 1] ?? 0)));
    if (ascend && starts.at(-1) === count) return starts;
    throw new ModelFileError(`\`iteration_indptr\` does not ascend from 0 to ${count}, the number of trees`);
  }
  // Trees whose leaves are vectors are of all outputs.
  const isVector =
    countAt(objectAt(asObject(listAt(model, 'trees')[0] ?? {}), 'tree_param', {}), 'size_leaf_vector', 1) > 1;
  const each = isVector ? parallel : parallel * outputs;
  if (count % each !== 0) throw new ModelFileError(`it has ${count} trees, ${each} for each iteration`);
  return Array.from({ length: count / each + 1 }, (_, iteration) => iteration * each);
}

function* readTrees(
  model: Json,
  weights: readonly number[] | undefined,
  of: { readonly outputs: number; readonly features: number },
  used: number,
): Pieces<DecisionTree[]> {
  const written = Array.from(listAt(model, 'trees'));
  const groups = indexesAt(model, 'tree_info', written.length);
  if (weights !== undefined && weights.length !== written.length) {
    throw new ModelFileError('`weight_drop` has not a weight for each tree');
  }
  const trees: DecisionTree[] = [];
  for (const [index, one] of written.entries()) {
    yield;
    try {
      const tree = asObject(one);
      if (countAt(tree, 'id', index) !== index)
        throw new ModelFileError(`its \`id\` is ${String(tree['id'])}`);
      const weight = weights === undefined ? 1 : Math.fround(weights[index] ?? 1);
      const read = readTree(tree, of, groups[index] ?? 0, weight);
      if (index < used) trees.push(...read);
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
  const types = learner['feature_types'] === undefined ? 0 : listAt(learner, 'feature_types').length;
  if (types !== 0 && types !== features) {
    throw new ModelFileError(`it has ${features} features and ${types} types of features`);
  }
  const names = unnamed ? Array.from({ length: features }, (_, i) => `f${i}`) : written;
  return { names, unnamed, categories: readCategories(model, features) };
}
