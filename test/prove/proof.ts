/** A claim of docs/reliability.md and its measurement. */
export interface Proof {
  /** The argument of `npm run prove`, and the name of its block in the page. */
  readonly name: string;
  /** The page of docs that has its block; by default reliability.md. */
  readonly page?: string;
  /** One line, for the list that `npm run prove` prints. */
  readonly summary: string;
  /**
   * Measures and prints its progress.
   * @throws Error if a figure misses its bound, after all figures are printed
   */
  readonly run: (options: ProofOptions) => Promise<ProofResult>;
}

export interface ProofOptions {
  /** A run of at most one minute, for CI: fewer repetitions, but the same bounds where few repetitions can verify them. */
  readonly short: boolean;
  /** A folder with real products and judgments, for the proofs that can use it. */
  readonly data?: string | undefined;
  /** A built checkout of the earlier version, for the proof that builds one. */
  readonly earlier?: string | undefined;
  /** Runs only what the pattern matches, for the proofs that can. */
  readonly only?: RegExp | undefined;
  /** Puts known defects back, one after the other, into a copy: the proof must fail on each. For the proofs that can. */
  readonly defects?: boolean;
}

export interface ProofResult {
  /** Markdown (usually one table) for the page, lines of at most 120 characters. */
  readonly markdown: string;
  /** One line for each figure that missed its bound: the figure, the bound, the value. Empty if there are none. */
  readonly missed: readonly string[];
}
