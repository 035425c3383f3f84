import type { CausedChange } from '../../api/ranking-edit.js';

/** Which rules inside a step changed which rows. It holds only the rows that rules changed. */
export class Causes {
  readonly #rules: Record<CausedChange, Map<number, Set<string>>> = {
    score: new Map(),
    place: new Map(),
    hidden: new Map(),
  };

  add(row: number, rule: string, what: CausedChange): void {
    const rules = this.#rules[what].get(row);
    if (rules === undefined) this.#rules[what].set(row, new Set([rule]));
    else rules.add(rule);
  }

  /** The rules that changed a row in one way, in the order applied; undefined if none did. */
  of(row: number, what: CausedChange): readonly string[] | undefined {
    const rules = this.#rules[what].get(row);
    return rules && [...rules];
  }
}
