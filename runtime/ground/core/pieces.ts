import { inLane, Lane, OWN_SLICE, SLICE_MS, type Pieces } from './lanes.js';

export { OWN_SLICE, type Pieces } from './lanes.js';

const lane = new Lane();

/**
 * Divides work among turns of the event loop, so that the service answers other requests while it loads a model or
 * writes a long answer.
 * @param check called before each slice; an error that it throws ends the work
 */
export function inTurns<T>(work: Pieces<T>, check?: () => void): Promise<T> {
  return inLane(lane, work, check);
}

/**
 * Starts the work at once, and returns its value if the work fits into one slice. Otherwise the rest is divided among
 * turns of the event loop. Use it for work that is short unless a client sends large input.
 */
export function soon<T>(work: Pieces<T>, check?: () => void): T | Promise<T> {
  const until = performance.now() + SLICE_MS;
  do {
    const { done, value } = work.next();
    if (done === true) return value;
    if (value === OWN_SLICE) break;
  } while (performance.now() < until);
  return inTurns(work, check);
}

/** Maps a list. Each element is one piece of work. */
export function* eachPiece<T, U>(list: readonly T[], map: (element: T, index: number) => U): Pieces<U[]> {
  const mapped: U[] = [];
  for (let i = 0; i < list.length; i++) {
    mapped.push(map(list[i] as T, i));
    yield;
  }
  return mapped;
}

/** Runs all of the work before it returns. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
