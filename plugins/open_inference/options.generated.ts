// `npm run generate` writes this file from options.schema.json.
import type { Input } from 'millrace/api';

export type InputsEntryValue = Input | readonly Input[];

export type InputsEntryMissing = number | string | boolean;

export const INPUTS_ENTRY_PER = ['candidate', 'request'] as const;
export type InputsEntryPer = (typeof INPUTS_ENTRY_PER)[number];

export const INPUTS_ENTRY_DATATYPE = [
  'BOOL',
  'UINT8',
  'UINT16',
  'UINT32',
  'UINT64',
  'INT8',
  'INT16',
  'INT32',
  'INT64',
  'FP32',
  'FP64',
  'BYTES',
] as const;
export type InputsEntryDatatype = (typeof INPUTS_ENTRY_DATATYPE)[number];

export type InputsEntry =
  | Input
  | readonly Input[]
  | {
      /** The expression, or a list of expressions. */
      readonly value: InputsEntryValue;
      /**
       * The value to use if a value is not known. By default, a candidate that lacks the value is not
       * scored, because JSON has no NaN.
       */
      readonly missing?: InputsEntryMissing;
      /** request: the tensor has one row for all candidates, and uses only values of the request. */
      readonly per?: InputsEntryPer;
      /** The shape of one row; by default [k] for k expressions. Use [] for a tensor of shape [N]. */
      readonly shape?: readonly number[];
      /** The datatype of the input; by default FP32 for numbers and BYTES for texts. */
      readonly datatype?: InputsEntryDatatype;
    };

export const CHECK = ['reachable', 'required', 'off'] as const;
export type Check = (typeof CHECK)[number];

export interface Options {
  /**
   * The address of the server, e.g. http://models:8080; the step appends /v2/models/….
   * MILLRACE_MODEL_HOSTS must list its host.
   */
  readonly url: string;
  /** The name of the model on the server. */
  readonly model: string;
  /** The version of the model on the server; by default the server chooses. */
  readonly version?: string;
  /**
   * Expressions for the inputs of the model, by input name: one expression, or a list of expressions for
   * a tensor [N, k].
   */
  readonly inputs: Readonly<Record<string, InputsEntry>>;
  /**
   * The outputs of the step, each from an output of the model, e.g. score: probabilities[1] for the
   * second number of each row. By default, the model's only output is `score`.
   */
  readonly outputs?: Readonly<Record<string, string>>;
  /** HTTP headers of every call, e.g. Authorization: Bearer ${MODEL_TOKEN}. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The time limit of one call, including its retry. The deadline of the request can end it earlier. */
  readonly timeout: string;
  /** The maximum number of candidates in one call; more candidates are split into concurrent calls. */
  readonly batch: number;
  /** The maximum number of connections of this step, and so of concurrent calls. */
  readonly connections: number;
  /** The maximum size of an answer in bytes. */
  readonly max_bytes: number;
  /**
   * Whether to compare the model's metadata with the step before it serves. reachable: only if the
   * server answers; required: a server that does not answer is an error; off: never.
   */
  readonly check: Check;
}
