import type { PlannedStep } from '../../compile/plan.js';
import type { KeptRanking, Ranking } from '../../ordering/ranking.js';
import { takesSnapshot, type StepObserver, type StepReport } from '../components/run-components.js';

/** Copies the ranking for the arm between the steps that both arms share and those that differ. */
export class ForkRanking implements StepObserver {
  /** Undefined if no step ran before the first one that differs. */
  kept: KeptRanking | undefined;
  readonly #first: PlannedStep | undefined;
  readonly #last: PlannedStep | undefined;
  readonly #observer: StepObserver | undefined;
  /** The rows before the first step that differs. */
  #rows: Int32Array | undefined;

  /**
   * @param steps of control
   * @param first index of the first step that differs; the number of steps if none does
   * @param observer sees the steps, too
   */
  constructor(steps: readonly PlannedStep[], first: number, observer: StepObserver | undefined) {
    this.#first = steps[first];
    // Effects are not observed in a rehearsal.
    this.#last = this.#first === undefined ? steps.findLast(({ kind }) => kind !== 'effect') : undefined;
    this.#observer = observer;
  }

  before(step: PlannedStep, ranking: Ranking): void {
    if (step === this.#first) {
      if (takesSnapshot(step)) this.#rows = ranking.rows;
      else this.kept = ranking.keep();
    }
    this.#observer?.before(step, ranking);
  }

  after(report: StepReport, ranking: Ranking): void {
    const { step, before } = report;
    // The copy that the step made of the ranking serves the arm as well. A step that did not run changed nothing.
    if (step === this.#first && this.#rows !== undefined)
      this.kept = before === undefined ? ranking.keep() : { snapshot: before, rows: this.#rows };
    if (step === this.#last) this.kept = ranking.keep();
    this.#observer?.after(report, ranking);
  }

  end(ranking: Ranking): void {
    this.#observer?.end(ranking);
  }
}
