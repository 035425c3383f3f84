// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export type Inputs = Readonly<Record<string, Input>> | readonly Input[];

export const PREDICT = ['raw', 'objective'] as const;
export type Predict = (typeof PREDICT)[number];

export type Iterations = 'best' | 'all' | number;

export type BaseScore = number | readonly number[];

export interface Options {
  /**
   * The path in the project of the model file: the JSON or UBJSON of save_model, or the JSON of
   * dump_model.
   */
  readonly model: ProjectFile;
  /**
   * Expressions for the columns of the model: a mapping from the column name in the model, or a list of
   * all columns in the model's order. A column that is not listed is bound by its name.
   */
  readonly inputs?: Inputs;
  /**
   * raw: the sum of base score and trees, like predict(output_margin=True). objective: the sum after the
   * transformation of the objective, like predict(), e.g. a probability.
   */
  readonly predict: Predict;
  /**
   * The iterations to use, from the first. best: up to the best one, if training stopped early and the
   * file says so; all: all; a number: this many.
   */
  readonly iterations: Iterations;
  /**
   * For the JSON of dump_model only: the training objective of the model, e.g. binary:logistic. predict:
   * objective requires it.
   */
  readonly objective?: string;
  /**
   * For the JSON of dump_model only: the base_score of the model as XGBoost stores it (a probability for
   * binary:logistic), or one for each class. predict: objective requires it. Without it, the sum of the
   * trees starts at 0.
   */
  readonly base_score?: BaseScore;
  /** For the JSON of dump_model only: the number of classes or targets; by default 1. */
  readonly num_class?: number;
  /**
   * For the JSON of dump_model only: the number of trees per class in one iteration, as in a random
   * forest; by default 1.
   */
  readonly num_parallel_tree?: number;
}
