/** One recipe of CONTRIBUTING.md, carried out. */
export interface Recipe {
  /** The heading in CONTRIBUTING.md. */
  readonly title: string;
  /** The most files that it may touch beside tests and docs. The folder of an engine is one. */
  readonly most: number;
  readonly edits: readonly Edit[];
  /** Compiled test files that must pass on the copy. */
  readonly tests: readonly string[];
  /** Test files whose golden files the recipe rewrites first. */
  readonly golden?: readonly string[];
  /**
   * Fails if the addition does not work.
   * @param load imports a compiled module of the copy
   */
  check(load: (path: string) => Promise<unknown>): Promise<void>;
}

export interface Edit {
  readonly file: string;
  /** What is replaced; it stands in the file once. Without it, the file is new. */
  readonly find?: string;
  readonly put: string;
}
