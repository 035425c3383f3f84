// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export type Inputs = Readonly<Record<string, Input>> | readonly Input[];

export const PREDICT = ['raw', 'objective'] as const;
export type Predict = (typeof PREDICT)[number];

export interface Options {
  /** The path in the project of the model file: the output of save_model, or the JSON of dump_model. */
  readonly model: ProjectFile;
  /**
   * Expressions for the columns of the model: a mapping from the column name in the model, or a list of
   * all columns in the model's order. A column that is not listed is bound by its name.
   */
  readonly inputs?: Inputs;
  /**
   * raw: the sum of the trees, like predict(raw_score=True). objective: the sum after the transformation
   * of the objective, like predict(), e.g. a probability, or the mean of a random forest.
   */
  readonly predict: Predict;
  /**
   * The number of iterations to use, from the first; by default all iterations in the file. If training
   * stopped early, the file ends at the best one.
   */
  readonly iterations?: number;
}
