/** Work goes on for as long before others have a turn, milliseconds. */
const SLICE_MS = 4;

/** Long work that can be laid down wherever it yields. */
export type Pieces<T> = Generator<undefined, T>;

/** Divides work among turns of the event loop: a service that takes up a new model goes on answering. */
export async function inTurns<T>(work: Pieces<T>): Promise<T> {
  for (;;) {
    // What calls has perhaps read a file just now.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const since = performance.now();
    do {
      const { done, value } = work.next();
      if (done === true) return value;
    } while (performance.now() - since < SLICE_MS);
  }
}

/** Does all of it before it returns. */
export function atOnce<T>(work: Pieces<T>): T {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
