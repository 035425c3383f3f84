import type { DecisionTree, FileNotice } from 'millrace/api';

/** What a LightGBM file says, whether it is the text or the JSON of `dump_model`. */
export interface LightGbmModel {
  readonly names: readonly string[];
  /** Trees of one iteration; the i-th tree adds to output `i % treesPerIteration`. */
  readonly treesPerIteration: number;
  /**
   * E.g. `binary sigmoid:1`; empty where the model was trained with a function of its own, undefined where the file
   * does not say.
   */
  readonly objective: string | undefined;
  /** A random forest: a prediction is the mean of its trees. */
  readonly average: boolean;
  readonly trees: readonly DecisionTree[];
  /** By column, what training saw of it. */
  readonly seen: readonly ColumnSeen[];
  /** The columns that training was told are categorical, as far as the file says so. */
  readonly toldCategorical: readonly number[];
  /** Of each pandas category column, in order, its categories; the model holds their positions. */
  readonly pandasCategories: readonly (readonly unknown[])[];
  /** Doubts about the file that do not keep it from being used. */
  readonly notices: readonly FileNotice[];
}

/** A column's category codes, or that it is of numbers, or that it was of no use, so that nothing is said of it. */
export type ColumnSeen = { readonly codes: readonly number[] } | 'numbers' | 'nothing';
