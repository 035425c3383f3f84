import { type ModelColumns, ModelFileError, type Pieces } from 'millrace/api';
import { baseScores, marginsOf } from './base-score.js';
import { readCategories } from './categories.js';
import {
  countAt,
  listAt,
  MOST_FEATURES,
  MOST_OUTPUTS,
  numbersAt,
  objectAt,
  textAt,
  type Json,
} from './json.js';
import { LinearScorer } from './linear-scorer.js';
import type { Booster } from './model.js';
import { objectiveOf } from './objective.js';
import type { Iterations, Predict } from './options.generated.js';
import { readTrees } from './saved-trees.js';

/**
 * The model of a file that `save_model` wrote.
 * @param withCovers whether the trees get their covers, which scores do not need
 * @throws ModelFileError
 */
export function* readSavedModel(
  file: Json,
  predict: Predict,
  iterations: Iterations,
  withCovers: boolean,
): Pieces<Booster> {
  const learner = objectAt(file, 'learner');
  const parameters = objectAt(learner, 'learner_model_param');
  const features = countAt(parameters, 'num_feature', undefined, MOST_FEATURES);
  const outputs = outputsOf(learner, parameters);
  const objective = objectiveOf(textAt(objectAt(learner, 'objective'), 'name'), versionOf(file));
  const base = marginsOf(objective, baseScores(parameters['base_score'], outputs));
  const booster = objectAt(learner, 'gradient_booster');
  const transform = predict === 'raw' ? undefined : objective.transform;
  const rest = { outputs, transform, isDump: false, notices: [] };
  const name = textAt(booster, 'name');
  if (name === 'gblinear') {
    if (typeof iterations === 'number') {
      throw new ModelFileError(`gblinear has no iterations, and ${iterations} are requested`);
    }
    const weights = numbersAt(objectAt(booster, 'model'), 'weights', (features + 1) * outputs);
    // XGBoost 3.1 and 3.2 have a base_score for each output, and add the first of them to all outputs.
    const first = new Array<number>(outputs).fill(base[0] ?? 0);
    const linear = new LinearScorer(features, Float32Array.from(weights), first);
    return { ...rest, scored: { linear }, columns: columnsOf(learner, features, {}) };
  }
  const isDart = name === 'dart';
  if (!isDart && name !== 'gbtree') throw new ModelFileError(`its booster is ${JSON.stringify(name)}`);
  const model = objectAt(isDart ? objectAt(booster, 'gbtree') : booster, 'model');
  const weights = isDart ? numbersAt(booster, 'weight_drop') : undefined;
  const wanted = iterations === 'best' ? bestIterations(learner) : iterations;
  const trees = yield* readTrees(model, weights, { outputs, features }, wanted, withCovers);
  return {
    ...rest,
    scored: { ensemble: { features, outputs, precision: 'float32', comparison: 'less', trees, base } },
    columns: columnsOf(learner, features, model),
  };
}

/** One output for each class or target. A file states the number of classes in several places. */
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

/** The version of XGBoost that wrote the file: the major version, plus the minor version in hundredths. */
function versionOf(file: Json): number {
  if (file['version'] === undefined) return Infinity;
  const [major = 0, minor = 0] = numbersAt(file, 'version');
  return major + minor / 100;
}

/** The number of iterations up to the best one; all if training did not stop early. */
function bestIterations(learner: Json): number | 'all' {
  const attributes = learner['attributes'] === undefined ? {} : objectAt(learner, 'attributes');
  return attributes['best_iteration'] === undefined ? 'all' : countAt(attributes, 'best_iteration') + 1;
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
