import { eachNumber, ModelFileError, softmax, type Transform } from 'millrace/api';

/** How an objective transforms the sum of the trees to a prediction, and base_score to the start value of that sum. */
export interface Objective {
  readonly transform: Transform | undefined;
  /** The start value for a base_score, which a file stores as a prediction. */
  readonly margin: (score: number) => number;
}

const same = (score: number): number => score;
/** Computed in float32, like XGBoost. A score of 0 or 1 (all labels are equal) is moved slightly inside the range. */
const logit = (score: number): number => {
  if (score < 0 || score > 1) return NaN;
  const inside = Math.fround(Math.min(Math.max(score, 1e-6), 1 - 1e-6));
  return -Math.log(Math.fround(Math.fround(1 / inside) - 1));
};
const sigmoid = eachNumber((x) => Math.fround(1 / (1 + Math.exp(-x))));
const exponential = eachNumber((x) => Math.fround(Math.exp(x)));

/** XGBoost's own prediction for multi:softmax is only the number of the largest class. */
const CLASSES: Objective = { transform: softmax(Math.fround), margin: same };
const PLAIN: Objective = { transform: undefined, margin: same };
const LOGISTIC: Objective = { transform: sigmoid, margin: logit };
const LOG: Objective = { transform: exponential, margin: Math.log };

/** PredTransform and ProbToMargin of XGBoost's objectives. */
const OBJECTIVES: ReadonlyMap<string, Objective> = new Map([
  ['reg:squarederror', PLAIN],
  ['reg:linear', PLAIN],
  ['reg:squaredlogerror', PLAIN],
  ['reg:pseudohubererror', PLAIN],
  ['reg:absoluteerror', PLAIN],
  ['reg:quantileerror', PLAIN],
  ['reg:expectileerror', PLAIN],
  ['reg:logistic', LOGISTIC],
  ['binary:logistic', LOGISTIC],
  ['binary:logitraw', PLAIN],
  ['binary:hinge', { transform: eachNumber((x) => (x > 0 ? 1 : 0)), margin: same }],
  ['count:poisson', LOG],
  ['reg:gamma', LOG],
  ['reg:tweedie', LOG],
  ['survival:cox', LOG],
  ['survival:aft', LOG],
  ['multi:softprob', CLASSES],
  ['multi:softmax', CLASSES],
  ['rank:pairwise', PLAIN],
  ['rank:ndcg', PLAIN],
  ['rank:map', PLAIN],
]);

/**
 * @param version the version of XGBoost that wrote the file: the major version, plus the minor version in hundredths
 * @throws ModelFileError for an unknown objective, because base_score then has no meaning
 */
export function objectiveOf(name: string, version: number): Objective {
  const objective = OBJECTIVES.get(name);
  // Up to XGBoost 1.2 the base_score of this objective was a probability too.
  if (name === 'binary:logitraw' && version < 1.03) return { transform: undefined, margin: logit };
  if (objective === undefined) throw new ModelFileError(`its objective \`${name}\` is not known`);
  return objective;
}
