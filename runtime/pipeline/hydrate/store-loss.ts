import { STORE_READ_FAILURES, type StoreFailure } from '../../api/error-codes.js';
import { MillraceError } from '../../api/errors.js';
import { Status } from '../../api/status.js';
import type { Plan } from '../../compile/plan.js';
import type { Deadline } from '../../core/deadline.js';
import { writeMissing } from '../../frame/cells.js';
import type { Frame } from '../../frame/frame.js';
import { ReadDeadline, type ReadTime } from './read-deadline.js';

/** The part of a request's time that its reads may take where it is answered without them. */
const READ_SHARE = 0.8;
/** Not `store_overloaded`: that is this service's own overload, and to answer even more would add to it. */
const TOLERATED: ReadonlySet<string> = new Set<StoreFailure>(
  STORE_READ_FAILURES.filter((code) => code !== 'store_overloaded'),
);

/** What becomes of a request whose reads of the store fail: `on_store_error` of its pipeline. */
export class StoreLoss {
  /** The time for reads. */
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

  /** Why the store could not be read; undefined if it could. */
  get code(): StoreFailure | undefined {
    return this.#code;
  }

  /**
   * Runs work that reads the store; undefined if that fails and the pipeline goes on without.
   * @throws whatever else the work throws
   */
  async survive<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!this.#isTolerated || !(error instanceof MillraceError) || !TOLERATED.has(error.code)) throw error;
      this.#code = error.code as StoreFailure;
      return undefined;
    }
  }

  /** Call when nothing is read any more. */
  end(): void {
    this.#deadline?.end();
  }
}

/** Marks what was not read as failed: the groups of which nothing was written. */
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
