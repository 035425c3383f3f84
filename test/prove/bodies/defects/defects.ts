/** A defect that was mended: edits of compiled files that bring it back. */
export interface Defect {
  readonly name: string;
  /** The cases to run, as a pattern. */
  readonly only: string;
  /** What a line must match that tells of the defect. */
  readonly tells: string;
  readonly edits: readonly { readonly file: string; readonly find: string; readonly put: string }[];
}

export const DEFECTS: readonly Defect[] = [];
