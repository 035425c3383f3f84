/** What one step, or the answer, uses by name. It is filled while its expressions are compiled. */
export class NameUse {
  /** Names that it reads. */
  readonly reads = new Set<string>();
  readsScore = false;
  /** Index of a later step whose output it reads. That step must be compiled first. */
  waitsFor: number | undefined;

  /** @param waiting indexes of steps: each waits for the next, and the last is the one that uses the names */
  constructor(readonly waiting: readonly number[] = []) {}
}
