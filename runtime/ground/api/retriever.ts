/**
 * The contract of a retriever: a plugin of the kind `retriever`, which finds the candidates of a request that sends none. A
 * pipeline lists retrievers under `retrieve:`. They run at the same time, and a failure of one leaves the candidates of the
 * others.
 */
import type { ComponentLife } from './component-life.js';
import type { StepInput } from './step-input.js';

export interface RetrieverComponent extends ComponentLife {
  /**
   * The numbers that it returns for each candidate: `as:<output>` in the pipeline. The runtime adds `as:place`, the place of
   * the candidate in the list, from 1. Cells of candidates that it did not find are absent.
   */
  readonly outputs: Readonly<Record<string, 'number'>>;
  /** Finds candidates. What it throws, or the end of its time, is reported in the answer and the metrics. */
  retrieve(input: RetrieverInput): Found | Promise<Found>;
}

/** What a retriever can read of a request. The columns of its options have one row. */
export interface RetrieverInput extends Pick<StepInput, 'now' | 'signal' | 'trace' | 'column'> {
  /** The most candidates that the request can have. Further ones are left out. */
  readonly most: number;
  /** The time that is left, in milliseconds. `signal` aborts after it. */
  readonly timeoutMs: number;
}

/** What a retriever found. */
export interface Found {
  /** Best first. Of an id that occurs twice, the first counts. */
  readonly ids: readonly string[];
  /** By output: a number for each id, in the order of `ids`. NaN: it is not known. A column that is missing is not known. */
  readonly columns: Readonly<Record<string, Float64Array>>;
  /** Why the answer is not whole, if it is not: one line without a full stop. The candidates are used all the same. */
  readonly problem?: string;
}
