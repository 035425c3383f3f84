// `npm run generate` writes this file from options.schema.json.
import type { KeyedOption, ProjectFile } from 'millrace/api';

export type WeightsEntryMissing = 'absent' | number;

export type WeightsEntry =
  | number
  | {
      /** The weight. */
      readonly weight: number;
      /** The value to use if this input is missing. */
      readonly missing?: WeightsEntryMissing;
    };

export type Missing = 'absent' | number;

export interface Options {
  /**
   * The inputs, from expression to weight, e.g. { product.rating: 0.2 }. A weight can also name the
   * value for a missing input: { weight: 0.2, missing: 3.5 }.
   */
  readonly weights?: readonly KeyedOption<'number', WeightsEntry>[];
  /** The start value of the sum; by default 0. */
  readonly bias?: number;
  /**
   * The value to use for missing inputs. With absent (the default), the candidate has no score of this
   * model.
   */
  readonly missing?: Missing;
  /**
   * The path in the project of a JSON file with bias, missing and weights; use it instead of the options
   * above.
   */
  readonly model?: ProjectFile;
}
