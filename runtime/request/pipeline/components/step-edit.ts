import type {
  Bound,
  CausedChange,
  Diversity,
  Exploration,
  Grouping,
  PinSource,
  RankingEdit,
  Slot,
} from '../../../ground/api/ranking-edit.js';
import { Causes } from './causes.js';
import type { Ranking } from './ranking.js';

/** The changes that a rule may make while its step runs. After the step, its methods do nothing. */
export class StepEdit implements RankingEdit {
  readonly scores: Float64Array;
  /** The rows that the rule hid. The ranking still has them until the step is over. */
  readonly hidden: number[] = [];
  /** The rules that changed rows, as the component names them. */
  readonly causes = new Causes();
  readonly #ranking: Ranking;
  readonly #step: number;
  #isOver = false;

  /** @param step number of the step */
  constructor(ranking: Ranking, step: number) {
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

  reserve(slot: Slot): void {
    if (!this.#isOver) this.#ranking.addRule({ kind: 'slot', step: this.#step, slot });
  }

  keepOne(grouping: Grouping): void {
    if (!this.#isOver) this.#ranking.addRule({ kind: 'group', step: this.#step, grouping });
  }

  limit(bound: Bound): void {
    if (!this.#isOver) this.#ranking.addRule({ kind: 'limit', step: this.#step, bound });
  }

  diversify(diversity: Diversity): void {
    if (!this.#isOver) this.#ranking.addRule({ kind: 'diversify', step: this.#step, diversity });
  }

  explore(exploration: Exploration): void {
    if (!this.#isOver) this.#ranking.explore({ step: this.#step, exploration });
  }

  reorder(rows: Int32Array | readonly number[]): void {
    if (!this.#isOver)
      this.#ranking.addRule({ kind: 'reorder', step: this.#step, rows: Int32Array.from(rows) });
  }

  cause(row: number, rule: string, what: CausedChange): void {
    if (!this.#isOver) this.causes.add(row, rule, what);
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
