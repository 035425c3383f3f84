import { Status } from '../../../ground/api/status.js';
import type { RuleComponent } from '../../../ground/api/component.js';
import type { PlannedStep } from '../../compile/plan.js';
import { writeFields } from '../../../state/ledger/fields.js';
import { RANKING_FIELDS } from '../../../state/ledger/ranking-fields.js';
import type { RecordWriter } from '../../../state/ledger/record-writer.js';
import { pinsOf, type Ranking, type RankingSnapshot } from '../../ordering/ranking.js';
import type { StepReport } from '../components/run-components.js';

/** In `Changes.position`: the step put the candidate below others. */
export const PUT_BELOW = -1;

/** What the steps did to the candidates. It is reused from record to record. */
export class Changes {
  /** By row: the score before the first rule that adjusts scores. */
  base: Float64Array = new Float64Array(0);
  /** By row: the number of the step that removed the candidate; 0 if none did. */
  removedBy = new Int32Array(0);
  /** How many changes there are. */
  count = 0;
  /** By change: the number of the step, the row, and the scores; NaN if the step did not change the score. */
  step = new Int32Array(64);
  row = new Int32Array(64);
  before = new Float64Array(64);
  after = new Float64Array(64);
  /** By change: the position that a rule gave the candidate, PUT_BELOW, or 0. */
  position = new Int32Array(64);
  /** By row: the index of the report that removed it, or a large number. */
  #removedAt = new Int32Array(0);

  /**
   * Finds the changes from the snapshots that the steps took of the ranking. A step that sets the score is part of the
   * base score, unless it runs after a rule.
   * @param reports in the order run
   * @param ranking after all steps
   */
  find(reports: readonly StepReport[], ranking: Ranking): void {
    const rows = ranking.scores.length;
    this.#reset(rows);
    for (const [at, { removed, step }] of reports.entries()) {
      for (const row of removed) {
        if (this.removedBy[row] !== 0) continue;
        this.removedBy[row] = step.number;
        this.#removedAt[row] = at;
      }
    }
    this.base = ranking.scores;
    let hasBase = false;
    let last:
      { readonly report: StepReport; readonly at: number; readonly before: RankingSnapshot } | undefined;
    for (const [at, report] of reports.entries()) {
      const { before } = report;
      if (before === undefined) continue;
      if (last !== undefined)
        this.#compare(
          last.report.step,
          last.at,
          last.before,
          { scores: before.scores, tiers: before.tiers, pins: pinsOf(before) },
          hasBase,
        );
      if (!hasBase && adjusts(report.step)) {
        hasBase = true;
        this.base = before.scores;
      }
      last = { report, at, before };
    }
    if (last === undefined) return;
    const { scores, tiers, pins } = ranking;
    this.#compare(last.report.step, last.at, last.before, { scores, tiers, pins }, hasBase);
    for (const { row, step, to } of ranking.moves())
      if (step !== undefined) this.#add(step, row, NaN, NaN, to);
  }

  /** Sets everything to what a request has that failed. */
  clear(rows: number): void {
    this.#reset(rows);
    this.base = new Float64Array(rows).fill(NaN);
  }

  /**
   * Keeps the changes of some rows. From now on, `row` is a position among them.
   * @param rows ascending; undefined: all rows
   */
  keepOnly(rows: Int32Array | undefined): void {
    if (rows === undefined) return;
    if (this.count === 0) return;
    const places = new Int32Array(this.removedBy.length).fill(-1);
    for (let place = 0; place < rows.length; place++) places[rows[place] as number] = place;
    const found = this.count;
    this.count = 0;
    for (let at = 0; at < found; at++) {
      const place = places[this.row[at] as number] as number;
      if (place < 0) continue;
      const to = this.count++;
      this.step[to] = this.step[at] as number;
      this.row[to] = place;
      this.before[to] = this.before[at] as number;
      this.after[to] = this.after[at] as number;
      this.position[to] = this.position[at] as number;
    }
  }

  /** Writes the columns of the changes. */
  write(writer: RecordWriter): void {
    const known = (scores: Float64Array): Uint8Array => {
      const statuses = new Uint8Array(this.count);
      for (let at = 0; at < this.count; at++)
        statuses[at] = Number.isNaN(scores[at]) ? Status.absent : Status.present;
      return statuses;
    };
    writeFields(writer, RANKING_FIELDS.change, {
      step: { values: this.step },
      row: { values: this.row },
      before: { values: this.before, statuses: known(this.before) },
      after: { values: this.after, statuses: known(this.after) },
      position: { values: this.position },
    });
  }

  #compare(
    step: PlannedStep,
    at: number,
    before: RankingSnapshot,
    after: {
      readonly scores: Float64Array;
      readonly tiers: Int32Array;
      readonly pins: Iterable<readonly [number, number]>;
    },
    hasBase: boolean,
  ): void {
    const { number } = step;
    let pinned: Map<number, number> | undefined;
    for (const [row, position] of after.pins) (pinned ??= new Map<number, number>()).set(row, position);
    if (pinned !== undefined)
      for (const [row, position] of pinsOf(before)) if (pinned.get(row) === position) pinned.delete(row);
    const { length } = this.removedBy;
    for (let row = 0; row < length; row++) {
      const from = before.scores[row] as number;
      const to = after.scores[row] as number;
      const isScored = hasBase && from !== to && !(Number.isNaN(from) && Number.isNaN(to));
      const position =
        pinned?.get(row) ?? ((after.tiers[row] as number) > (before.tiers[row] as number) ? PUT_BELOW : 0);
      if (!isScored && position === 0) continue;
      if ((this.#removedAt[row] as number) <= at) continue;
      this.#add(number, row, isScored ? from : NaN, isScored ? to : NaN, position);
    }
  }

  #add(step: number, row: number, before: number, after: number, position: number): void {
    if (this.count === this.step.length) this.#grow();
    const at = this.count++;
    this.step[at] = step;
    this.row[at] = row;
    this.before[at] = before;
    this.after[at] = after;
    this.position[at] = position;
  }

  #grow(): void {
    const longer = <T extends Int32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    const length = 2 * this.step.length;
    this.step = longer(this.step, new Int32Array(length));
    this.row = longer(this.row, new Int32Array(length));
    this.before = longer(this.before, new Float64Array(length));
    this.after = longer(this.after, new Float64Array(length));
    this.position = longer(this.position, new Int32Array(length));
  }

  #reset(rows: number): void {
    this.count = 0;
    if (this.removedBy.length !== rows) {
      this.removedBy = new Int32Array(rows);
      this.#removedAt = new Int32Array(rows);
    }
    this.removedBy.fill(0);
    this.#removedAt.fill(2 ** 31 - 1);
  }
}

/** Whether the step is a rule on top of the scores. */
function adjusts({ kind, component }: PlannedStep): boolean {
  return kind === 'rule' && (component as RuleComponent).scoring !== 'sets';
}
