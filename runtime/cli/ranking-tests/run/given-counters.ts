import type { Column } from '../../../ground/api/columns.js';
import { isKnown } from '../../../ground/api/status.js';
import type { FeatureRead, Plan } from '../../../request/compile/plan.js';
import type { CountsReader } from '../../../state/counters/counter-decoder.js';
import { copyCell } from '../../../language/frame/cells.js';
import { looseColumn } from '../../../language/frame/frame.js';

/** A plan that reads the values that a test gives for counters. They are stored like the rows of feature views. */
export function withGivenCounters(plan: Plan): Plan {
  const levels = plan.levels.map((level) => ({
    ...level,
    features: level.features.map((read) =>
      read.counters === undefined ? read : { ...read, counters: new GivenCounters(read, read.counters) },
    ),
  }));
  const { retrieval } = plan;
  const own = retrieval && { ...retrieval, plan: withGivenCounters(retrieval.plan) };
  return { ...plan, levels, phases: undefined, retrieval: own };
}

/** Reads given values. A feature that is not given has the value of a key without events. */
class GivenCounters implements CountsReader {
  readonly readsAll = false;
  readonly #read: FeatureRead;
  readonly #counters: CountsReader;
  readonly #empty: readonly Column[];
  #now = 0;

  constructor(read: FeatureRead, counters: CountsReader) {
    this.#read = read;
    this.#counters = counters;
    this.#empty = read.wants.map(() => looseColumn({ kind: 'number', scope: 'candidate' }, 1));
  }

  changesAt(): number {
    return Infinity;
  }

  follow(): void {
    // Given values do not belong to a generation.
  }

  begin(memory: Buffer | null, start: number, end: number, now: number): void {
    this.#now = now;
    this.#counters.begin(null, start, end, now);
    this.#counters.decode(null, 0, 0, this.#empty, 0);
  }

  decode(memory: Buffer | null, start: number, end: number, columns: readonly Column[], row: number): void {
    this.#read.decoder.decode(memory, start, end, columns, row, this.#now);
    for (const [i, column] of columns.entries()) {
      const empty = this.#empty[i];
      if (empty !== undefined && !isKnown(column.status[row])) copyCell(empty, 0, column, row);
    }
  }

  decodeMissing(cause: number, columns: readonly Column[], row: number): void {
    this.#counters.decodeMissing(cause, columns, row);
  }
}
