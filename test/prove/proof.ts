/** One claim of docs/reliability.md, and the measurement behind it. */
export interface Proof {
  /** The argument of `npm run prove`, and the name of its block in docs/reliability.md. */
  readonly name: string;
  /** One line, for the list that `npm run prove` prints. */
  readonly summary: string;
  /**
   * Measures and prints its progress.
   * @throws Error when a figure misses its bound, after all figures are printed
   */
  readonly run: (options: ProofOptions) => Promise<ProofResult>;
}

export interface ProofOptions {
  /** A run of at most a minute, for CI: fewer repetitions, the same bounds wherever few repetitions can show them. */
  readonly short: boolean;
}

export interface ProofResult {
  /** Markdown (usually one table) for the page, lines of at most 120 characters. */
  readonly markdown: string;
  /** One line for each figure that missed its bound: the figure, the bound, the value. Empty when all held. */
  readonly missed: readonly string[];
}
