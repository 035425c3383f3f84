import type { DecisionTree } from '../../runtime/api/tree-ensemble.js';

/** What a LightGBM file says, whether it is the text or the JSON of `dump_model`. */
export interface LightGbmModel {
  readonly names: readonly string[];
  /** Trees of one iteration; the i-th tree adds to output `i % treesPerIteration`. */
  readonly treesPerIteration: number;
  /** E.g. `binary sigmoid:1`; empty where the model was trained with a function of its own. */
  readonly objective: string;
  /** A random forest: a prediction is the mean of its trees. */
  readonly average: boolean;
  readonly trees: readonly DecisionTree[];
  /** The columns with categorical splits or values, in order. */
  readonly categorical: readonly number[];
  /** Of each pandas category column, in order, its categories; the model holds their positions. */
  readonly pandasCategories: readonly (readonly unknown[])[];
}

/** What is wrong with a file; the plugin reports it at the option that names the file. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';
}
