import type {
  Bound,
  Diversity,
  Exploration,
  Grouping,
  PinSource,
  RankingEdit,
  Slot,
} from '../../ground/api/ranking-edit.js';
import { bestRows } from '../../request/pipeline/components/best-rows.js';
import { applyReorders, placeRows, settleRules } from '../../request/pipeline/components/final-order.js';
import {
  BURIED,
  checkRule,
  type OrderRule,
  rulesOf,
  winningPins,
} from '../../request/pipeline/components/order-rules.js';

/** A ranking that a rule changes. The candidates are p0, p1, … */
export class FakeRanking implements RankingEdit {
  readonly scores: Float64Array;
  readonly hidden: number[] = [];
  readonly buried: number[] = [];
  /** From row to position. */
  readonly pins = new Map<number, number>();
  readonly curatedPins = new Map<number, number>();
  /** What the rule asked of the order, besides pins. */
  readonly rules: OrderRule[] = [];
  /** How the rule draws places. `final` is the order without it. */
  explored: Exploration | undefined;

  constructor(scores: readonly number[]) {
    this.scores = Float64Array.from(scores);
  }

  /** By row: the rules that the component named. */
  readonly causes = new Map<number, string[]>();

  cause(row: number, rule: string): void {
    this.causes.set(row, [...(this.causes.get(row) ?? []), rule]);
  }

  hide(row: number): void {
    this.hidden.push(row);
  }

  bury(row: number): void {
    this.buried.push(row);
  }

  pin(row: number, position: number, source: PinSource = 'pipeline'): void {
    const pins = source === 'pipeline' ? this.pins : this.curatedPins;
    pins.delete(row);
    pins.set(row, position);
  }

  reserve(slot: Slot): void {
    this.#add({ kind: 'slot', step: 1, slot });
  }

  keepOne(grouping: Grouping): void {
    this.#add({ kind: 'group', step: 1, grouping });
  }

  limit(bound: Bound): void {
    this.#add({ kind: 'limit', step: 1, bound });
  }

  diversify(diversity: Diversity): void {
    this.#add({ kind: 'diversify', step: 1, diversity });
  }

  explore(exploration: Exploration): void {
    this.explored = exploration;
  }

  reorder(rows: Int32Array | readonly number[]): void {
    this.#add({ kind: 'reorder', step: 1, rows: Int32Array.from(rows) });
  }

  rowOf(id: string): number | undefined {
    const row = Number(/^p(\d+)$/.exec(id)?.[1] ?? NaN);
    return row < this.scores.length ? row : undefined;
  }

  order(): Int32Array {
    return applyReorders(this.#best(), this.scores.length, rulesOf(this.rules, 'reorder'));
  }

  /**
   * The rows in the final order, with everything that the rule asked for. Rows that it removed are missing.
   * @param pageSize for rules that count by page
   */
  final(pageSize = 24): Int32Array {
    const pins = winningPins({ curation: this.curatedPins, pipeline: this.pins });
    const held = new Map([...pins].filter(([row]) => !this.hidden.includes(row)));
    const { scores, rules } = this;
    const page = { size: pageSize, first: 0 };
    return placeRows(
      settleRules({ base: this.#best(), scores, tiers: this.#tiers(), pins: held, rules, page }),
      scores.length,
    );
  }

  /** The rows that the rule did something with, besides changing their scores. */
  touched(): number[] {
    const rows = [...this.hidden, ...this.buried, ...this.pins.keys(), ...this.curatedPins.keys()];
    for (const rule of this.rules) rows.push(...rowsOf(rule));
    return rows;
  }

  #add(rule: OrderRule): void {
    checkRule(rule, this.scores.length);
    this.rules.push(rule);
  }

  #best(): Int32Array {
    const left = Int32Array.from(this.scores.keys()).filter((row) => !this.hidden.includes(row));
    return bestRows(left, this.scores, this.#tiers(), this.scores.length);
  }

  #tiers(): Int32Array {
    const tiers = new Int32Array(this.scores.length);
    for (const row of this.buried) tiers[row] = BURIED;
    return tiers;
  }
}

function rowsOf(rule: OrderRule): readonly number[] {
  switch (rule.kind) {
    case 'reorder':
      return [...rule.rows];
    case 'slot':
      return [...rule.slot.rows];
    case 'diversify':
      return [...rule.diversity.rows];
    case 'limit':
      return grouped(rule.bound.groups);
    case 'group':
      return grouped(rule.grouping.groups);
  }
}

function grouped(groups: Int32Array): number[] {
  return [...groups.keys()].filter((row) => (groups[row] ?? -1) >= 0);
}
