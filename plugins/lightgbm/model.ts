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
  /** By column, what training saw of it. */
  readonly seen: readonly ColumnSeen[];
  /** The columns that training was told are categorical, as far as the file says so. */
  readonly toldCategorical: readonly number[];
  /** Of each pandas category column, in order, its categories; the model holds their positions. */
  readonly pandasCategories: readonly (readonly unknown[])[];
}

/** A column's category codes, or that it is of numbers, or that it was of no use, so that nothing is said of it. */
export type ColumnSeen = { readonly codes: readonly number[] } | 'numbers' | 'nothing';

/** What is wrong with a file; the plugin reports it at the option that names the file. */
export class ModelFileError extends Error {
  override readonly name = 'ModelFileError';
}
