import type { Column } from '../../api/columns.js';
import { isKnown, Status } from '../../api/status.js';
import type { Plan } from '../../compile/plan.js';
import { Deadline } from '../../core/deadline.js';
import { writeJson, writeList, writeMissing } from '../../frame/cells.js';
import type { Frame } from '../../frame/frame.js';
import type { Cells } from '../../ledger/cells.js';
import type { DecodedRecord } from '../../ledger/record-decoder.js';
import { releaseFrame } from '../components/release-frame.js';
import { runComponents } from '../components/run-components.js';
import { loggedDraws } from './logged-draws.js';
import { baseColumns, recordProblem, schemaProblem, type BaseColumn } from './replay-needs.js';

/** A candidate whose place or score differs. */
export interface ReplayDifference {
  readonly candidate: string;
  /** As logged and as replayed; 0 if a filter removed it. */
  readonly place: readonly [number, number];
  readonly score: readonly [number, number];
}

export type ReplayOutcome =
  | {
      readonly kind: 'replayed';
      readonly candidates: number;
      readonly differences: readonly ReplayDifference[];
    }
  /** `reason` continues “they were not replayed: ”. */
  | { readonly kind: 'refused'; readonly reason: string };

/** An effect of a step has no place in a replay. */
const REHEARSAL = {
  before: () => undefined,
  after: () => undefined,
  end: () => undefined,
  isRehearsal: true,
};

/** Runs logged requests of one pipeline again, from the values that were logged. */
export class Replay {
  readonly #plan: Plan;
  readonly #base: readonly BaseColumn[];
  readonly #problems = new Map<string, string | undefined>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#base = baseColumns(plan);
  }

  /**
   * Runs the steps over the values that were logged, and compares the order and the scores with what was served.
   * @throws MillraceError if a step fails
   */
  async run(record: DecodedRecord): Promise<ReplayOutcome> {
    const { schema } = record;
    if (!this.#problems.has(schema.id))
      this.#problems.set(schema.id, schemaProblem(this.#plan, this.#base, schema));
    const reason = this.#problems.get(schema.id) ?? recordProblem(record);
    if (reason !== undefined) return { kind: 'refused', reason };
    const ids = Array.from({ length: record.rows.candidate }, (_, row) =>
      textAt(record, 'candidate_id', row),
    );
    const frame = this.#plan.frames.acquire(ids.length, numberAt(record, 'time', 0));
    this.#fill(frame, record, ids);
    const deadline = new Deadline(this.#plan.definition.limits.time);
    try {
      const ranked = await runComponents(this.#plan, frame, ids, {
        deadline,
        observer: REHEARSAL,
        draws: loggedDraws(record),
      });
      const differences = differencesOf(record, ids, (places, scores) => {
        ranked.ranking.placeAll(places, scores);
      });
      releaseFrame(this.#plan, frame, ranked.steps);
      return { kind: 'replayed', candidates: ids.length, differences };
    } finally {
      deadline.end();
    }
  }

  #fill(frame: Frame, record: DecodedRecord, ids: readonly string[]): void {
    const [candidates] = this.#plan.nodes;
    if (candidates === undefined) throw new Error('a plan has candidates');
    const column = frame.text(candidates.ids);
    for (const [row, id] of ids.entries()) {
      column.values[row] = id;
      column.status[row] = Status.present;
    }
    for (const { slot, name } of this.#base) {
      const cells = record.value(name);
      const to = frame.columns[slot];
      if (cells === undefined || to === undefined) throw new Error(`the record has no ${name}`);
      const rows = to.stride === 0 ? 1 : frame.count;
      for (let row = 0; row < rows; row++) writeCell(to, row, cells);
    }
  }
}

/** Writes a cell as it was served, with its status. */
function writeCell(column: Column, row: number, cells: Cells): void {
  const status = cells.statusAt(row);
  const value = cells.at(row);
  if (!isKnown(status) || value === undefined) {
    writeMissing(column, row, status);
  } else if (column.kind === 'texts') {
    writeList(column, row, value as readonly string[], status);
  } else if (column.kind === 'numbers') {
    writeList(column, row, Float64Array.from(value as readonly number[]), status);
  } else if (column.kind === 'number') {
    column.values[row] = cells.numberAt(row);
    column.status[row] = status;
  } else {
    writeJson(column, row, value);
    column.status[row] = status;
  }
}

function differencesOf(
  record: DecodedRecord,
  ids: readonly string[],
  placeAll: (places: Int32Array, scores: Float64Array) => void,
): ReplayDifference[] {
  const places = new Int32Array(ids.length);
  const scores = new Float64Array(ids.length);
  placeAll(places, scores);
  return ids.flatMap((candidate, row) => {
    const place = [numberAt(record, 'place', row), places[row] ?? 0] as const;
    const score = [numberAt(record, 'score', row), scores[row] ?? NaN] as const;
    // -0 and 0 are the same score.
    const isSame =
      place[0] === place[1] && (score[0] === score[1] || score.every((one) => Number.isNaN(one)));
    return isSame ? [] : [{ candidate, place, score }];
  });
}

function numberAt(record: DecodedRecord, field: string, row: number): number {
  return record.field(field)?.numberAt(row) ?? NaN;
}

function textAt(record: DecodedRecord, field: string, row: number): string {
  const value = record.field(field)?.at(row);
  return typeof value === 'string' ? value : '';
}
