// `npm run generate` writes this file from options.schema.json.
import type { Input, ProjectFile } from 'millrace/api';

export type InputsEntryValue = Input | readonly Input[];

export type InputsEntryMissing = number | string | boolean;

export const INPUTS_ENTRY_PER = ['candidate', 'request'] as const;
export type InputsEntryPer = (typeof INPUTS_ENTRY_PER)[number];

export type InputsEntry =
  | Input
  | readonly Input[]
  | {
      /** The expression, or a list of expressions. */
      readonly value: InputsEntryValue;
      /**
       * The value to use if a value is not known. By default, floats are NaN, and a candidate that lacks a
       * value of another type is not scored.
       */
      readonly missing?: InputsEntryMissing;
      /**
       * request: the tensor has one row for all candidates. This is the default if the first dimension of
       * the model's input is 1 and no value depends on a candidate.
       */
      readonly per?: InputsEntryPer;
      /** The shape of one row; needed if more than one dimension of a row is open in the model. */
      readonly shape?: readonly number[];
    };

export type Inputs = Readonly<Record<string, InputsEntry>> | readonly Input[];

export interface Options {
  /**
   * The path in the project of the ONNX file. The file must contain its weights; external data files are
   * not supported.
   */
  readonly model: ProjectFile;
  /**
   * Expressions for the inputs of the model, by input name: one expression, or a list of expressions for
   * a tensor [N, k]. A list instead of the mapping is for the only input. An input that is not listed is
   * bound by its name.
   */
  readonly inputs?: Inputs;
  /**
   * The outputs of the step, each from an output of the model, e.g. score: probabilities[1] for the
   * second number of each row. By default, the model's only output is `score`; for a classifier with two
   * classes, score is the probability of the second class.
   */
  readonly outputs?: Readonly<Record<string, string>>;
  /** The number of threads for one run of the model. */
  readonly threads: number;
  /** The maximum number of candidates in one run of the model; by default all candidates of the request. */
  readonly batch?: number;
}
