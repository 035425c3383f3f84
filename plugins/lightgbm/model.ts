import type { DecisionTree, FileNotice } from 'millrace/api';

/** The content of a LightGBM file, in either format: the text, or the JSON of `dump_model`. */
export interface LightGbmModel {
  readonly names: readonly string[];
  /** The number of trees of one iteration. Tree i adds to output `i % treesPerIteration`. */
  readonly treesPerIteration: number;
  /** E.g. `binary sigmoid:1`. Empty if training used a custom function; undefined if the file does not say. */
  readonly objective: string | undefined;
  /** Whether it is a random forest, whose prediction is the mean of its trees. */
  readonly average: boolean;
  readonly trees: readonly DecisionTree[];
  /** By column: what training saw. */
  readonly seen: readonly ColumnSeen[];
  /** The columns that training declared as categorical, if the file says so. */
  readonly toldCategorical: readonly number[];
  /** The categories of each pandas category column, in order. The model uses their positions. */
  readonly pandasCategories: readonly (readonly unknown[])[];
  /** Warnings about the file. */
  readonly notices: readonly FileNotice[];
}

/**
 * The category codes of a column; or that it has numbers; or that training did not use it, so the file says nothing.
 */
export type ColumnSeen = { readonly codes: readonly number[] } | 'numbers' | 'nothing';
