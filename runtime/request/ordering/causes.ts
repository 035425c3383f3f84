import type { CausedChange } from '../../ground/api/ranking-edit.js';

/** Rows that one rule changed, one after another. */
interface Run {
  readonly rule: string;
  readonly rows: number[];
}

type RulesByRow = ReadonlyMap<number, ReadonlySet<string>>;

/**
 * Which rules inside a step changed which rows. It is written for every change, and read only by explanations, events and
 * logs, which want the rules of a row: they are looked up when they are first read.
 */
export class Causes {
  readonly #runs: Record<CausedChange, Run[]> = { score: [], place: [], hidden: [] };
  readonly #read: Partial<Record<CausedChange, RulesByRow>> = {};

  add(row: number, rule: string, what: CausedChange): void {
    const runs = this.#runs[what];
    const last = runs[runs.length - 1];
    if (last?.rule === rule) last.rows.push(row);
    else runs.push({ rule, rows: [row] });
  }

  /** The rules that changed a row in one way, in the order applied; undefined if none did. Nothing is added afterwards. */
  of(row: number, what: CausedChange): readonly string[] | undefined {
    const rules = (this.#read[what] ??= rulesByRow(this.#runs[what])).get(row);
    return rules && [...rules];
  }
}

function rulesByRow(runs: readonly Run[]): RulesByRow {
  const byRow = new Map<number, Set<string>>();
  for (const { rule, rows } of runs)
    for (const row of rows) {
      const rules = byRow.get(row);
      if (rules === undefined) byRow.set(row, new Set([rule]));
      else rules.add(rule);
    }
  return byRow;
}
