import type { WorkerEnd } from './worker-handle.js';

/** A worker ended before it served. If it exited by itself, it wrote the reason to standard error. */
export class WorkerFailedError extends Error {
  constructor(
    worker: number,
    readonly end: WorkerEnd,
  ) {
    super(
      typeof end === 'number'
        ? `worker ${worker} could not start`
        : `worker ${worker} was ended by ${end} while it started`,
    );
    this.name = 'WorkerFailedError';
  }
}
