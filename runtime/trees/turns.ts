import { setImmediate as nextTurn } from 'node:timers/promises';

/** Work goes on for as long before others have a turn, milliseconds. */
const SLICE_MS = 4;

/** Divides long work among turns of the event loop: a service that takes up a new model goes on answering. */
export class Turns {
  #since = -Infinity;

  /** Call between pieces of the work; it waits for others if they have waited. */
  async take(): Promise<void> {
    if (performance.now() - this.#since < SLICE_MS) return;
    await nextTurn();
    this.#since = performance.now();
  }
}
