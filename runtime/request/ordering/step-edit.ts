import type { Content } from '../../ground/api/curation.js';
import type { CausedChange, Exploration, PinSource, RankingEdit } from '../../ground/api/ranking-edit.js';
import { Causes } from './causes.js';
import type { Ranking } from './ranking.js';
import type { AskOf, RuleName } from './rule-kind.js';
import { RuleAsker } from './rules.js';

/** The changes that a rule may make while its step runs. After the step, its methods do nothing. */
export class StepEdit extends RuleAsker implements RankingEdit {
  readonly scores: Float64Array;
  /** The rows that the rule hid. The ranking still has them until the step is over. */
  readonly hidden: number[] = [];
  /** The rules that changed rows, as the component names them; undefined if it names none. */
  causes: Causes | undefined;
  readonly #ranking: Ranking;
  readonly #step: number;
  #isOver = false;

  /** @param step number of the step */
  constructor(ranking: Ranking, step: number) {
    super();
    this.scores = ranking.scores;
    this.#ranking = ranking;
    this.#step = step;
  }

  hide(row: number): void {
    if (!this.#isOver) this.hidden.push(row);
  }

  bury(row: number): void {
    if (!this.#isOver) this.#ranking.bury(row);
  }

  pin(row: number, position: number, source?: PinSource): void {
    if (!this.#isOver) this.#ranking.pin(row, position, source);
  }

  sponsor(row: number, position: number, label: string): void {
    if (!this.#isOver) this.#ranking.sponsor(row, position, label);
  }

  show(content: Content): void {
    if (!this.#isOver) this.#ranking.show(content);
  }

  protected override ask<Name extends RuleName>(name: Name, ask: AskOf<Name>): void {
    if (!this.#isOver) this.#ranking.ask(name, this.#step, ask);
  }

  explore(exploration: Exploration): void {
    if (!this.#isOver) this.#ranking.explore({ step: this.#step, exploration });
  }

  cause(row: number, rule: string, what: CausedChange): void {
    if (!this.#isOver) (this.causes ??= new Causes()).add(row, rule, what);
  }

  rowOf(id: string): number | undefined {
    return this.#ranking.rowOf(id);
  }

  order(): Int32Array {
    return this.#isOver ? new Int32Array() : this.#ranking.order();
  }

  end(): void {
    this.#isOver = true;
  }
}
