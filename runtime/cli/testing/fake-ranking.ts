import type { Content } from '../../ground/api/curation.js';
import type { Exploration, PinSource, RankingEdit } from '../../ground/api/ranking-edit.js';
import { bestRows, BURIED } from '../../request/ordering/best-rows.js';
import { placeRows, settleRules } from '../../request/ordering/final-order.js';
import { winningPins } from '../../request/ordering/pins.js';
import { sorted, type AskOf, type OrderRule, type RuleName } from '../../request/ordering/rule-kind.js';
import { RuleAsker, takeRule } from '../../request/ordering/rules.js';

/** A ranking that a rule changes. The candidates are p0, p1, … */
export class FakeRanking extends RuleAsker implements RankingEdit {
  readonly scores: Float64Array;
  readonly hidden: number[] = [];
  readonly buried: number[] = [];
  /** From row to position. */
  readonly pins = new Map<number, number>();
  readonly curatedPins = new Map<number, number>();
  readonly sponsors = new Map<number, number>();
  readonly labels = new Map<number, string>();
  readonly contents: Content[] = [];
  /** What the rule asked of the order, besides pins. */
  readonly rules: OrderRule[] = [];
  /** How the rule draws places. `final` is the order without it. */
  explored: Exploration | undefined;

  constructor(scores: readonly number[]) {
    super();
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

  sponsor(row: number, position: number, label: string): void {
    this.sponsors.set(row, position);
    this.labels.set(row, label);
  }

  show(content: Content): void {
    this.contents.push(content);
  }

  protected override ask<Name extends RuleName>(name: Name, ask: AskOf<Name>): void {
    this.rules.push(takeRule(name, 1, ask, this.scores.length));
  }

  explore(exploration: Exploration): void {
    this.explored = exploration;
  }

  rowOf(id: string): number | undefined {
    const row = Number(/^p(\d+)$/.exec(id)?.[1] ?? NaN);
    return row < this.scores.length ? row : undefined;
  }

  order(): Int32Array {
    return sorted(this.#best(), this.scores.length, this.rules);
  }

  /**
   * The rows in the final order, with everything that the rule asked for. Rows that it removed are missing.
   * @param pageSize for rules that count by page
   */
  final(pageSize = 24): Int32Array {
    const pins = winningPins({
      curation: this.curatedPins,
      sponsor: this.sponsors,
      pipeline: this.pins,
    });
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
    const rows = [
      ...this.hidden,
      ...this.buried,
      ...this.pins.keys(),
      ...this.curatedPins.keys(),
      ...this.sponsors.keys(),
    ];
    for (const { kind, ask } of this.rules) rows.push(...kind.rowsOf(ask));
    return rows;
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
