import { STORE_READ_FAILURES, type StoreFailure } from '../../../ground/api/error-codes.js';
import { MillraceError } from '../../../ground/api/errors.js';
import { Status } from '../../../ground/api/status.js';
import type { Plan } from '../../compile/plan.js';
import type { Deadline } from '../../../ground/core/deadline.js';
import { writeMissing } from '../../../language/frame/cells.js';
import type { Frame } from '../../../language/frame/frame.js';
import { ReadDeadline, type ReadTime } from './read-deadline.js';

/** The share of the time limit that reads may take if the pipeline tolerates failed reads. */
const READ_SHARE = 0.8;
/** Tolerated failures. `store_overloaded` is excluded: this service is overloaded, and more answers would add load. */
const TOLERATED: ReadonlySet<string> = new Set<StoreFailure>(
  STORE_READ_FAILURES.filter((code) => code !== 'store_overloaded'),
);

/** Handles failed reads of a request according to `on_store_error` of its pipeline. */
export class StoreLoss {
  /** The deadline of reads. */
  readonly time: ReadTime;
  readonly #isTolerated: boolean;
  readonly #deadline: ReadDeadline | undefined;
  #code: StoreFailure | undefined;

  constructor({ definition }: Plan, deadline: Deadline) {
    this.#isTolerated = definition.onStoreError === 'unranked';
    this.#deadline = this.#isTolerated
      ? new ReadDeadline(deadline, Math.floor(READ_SHARE * definition.limits.time))
      : undefined;
    this.time = this.#deadline ?? deadline;
  }

  /** The reason why the store could not be read; undefined if it could be read. */
  get code(): StoreFailure | undefined {
    return this.#code;
  }

  /**
   * Waits for a read of the store. Returns undefined if it fails and the pipeline tolerates the failure.
   * @throws any other error of the read
   */
  survive<T>(read: () => T | Promise<T>): T | undefined | Promise<T | undefined> {
    return this.#isTolerated ? this.#tolerate(read) : read();
  }

  async #tolerate<T>(read: () => T | Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof MillraceError) || !TOLERATED.has(error.code)) throw error;
      this.#code = error.code as StoreFailure;
      return undefined;
    }
  }

  /** Call it after the last read. */
  end(): void {
    this.#deadline?.end();
  }
}

/** Marks as failed all cells of the column groups in which no cell was written. */
export function markUnread({ levels }: Pick<Plan, 'levels'>, frame: Frame): void {
  for (const { nodes, features } of levels) {
    for (const { group, scope } of [...nodes, ...features]) {
      const columns = frame.groups[group] ?? [];
      const rows = scope === 'candidate' ? frame.count : 1;
      const isWritten = columns.some(({ status }) => {
        for (let row = 0; row < rows; row++) if (status[row] !== Status.absent) return true;
        return false;
      });
      if (isWritten) continue;
      for (const column of columns)
        for (let row = 0; row < rows; row++) writeMissing(column, row, Status.failed);
    }
  }
}
