import type { Input } from './input.js';
import type { StepInput } from './step-input.js';

/** How a value came to be, for explanations: base + Σ amounts is the sum. */
export interface Account {
  /** The sum without what the terms read: e.g. the mean over the training rows, or a bias. Of a difference: 0. */
  readonly base: number;
  readonly terms: readonly AccountTerm[];
  /** Set it if the value of the output is another than the sum, e.g. its sigmoid. It is then the sum that was computed. */
  readonly sum?: number;
  /** How the sum was divided, if its terms are not what was added. */
  readonly method?: 'tree_shap';
  /** Set it to `float32` if the component computes the sum so: the terms then miss it by the rounding. */
  readonly precision?: 'float32' | 'float64';
}

/** The part of a sum that one input accounts for. */
export interface AccountTerm {
  readonly input: Input;
  /** The model's name of the column. */
  readonly column?: string;
  readonly amount: number;
  /**
   * Set it if the amount is this number times the input. An input that is a sum is then shown as its own terms.
   */
  readonly weight?: number;
}

/** What a component can tell about its values. It is only called for explanations. */
export interface Explained {
  /**
   * Divides the value of an output, or the score that a rule set, among the inputs: an account for each of `input.rows`.
   * It pauses at each yield; yield at least every few milliseconds.
   * @param output the output; `score` for a rule
   * @param reference the row of another candidate: the accounts then divide the differences to its value
   * @returns undefined instead of an account if the row has no value; or, as a text, why the values cannot be divided
   */
  contributions?(
    input: StepInput,
    output: string,
    reference?: number,
  ): Generator<'own slice' | undefined, readonly (Account | undefined)[] | string>;
}
