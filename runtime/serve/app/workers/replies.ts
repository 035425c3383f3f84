/** Sends requests to another process, and matches the replies to them by number. */
export class Replies<T> {
  readonly #waiting = new Map<number, (answer: T) => void>();
  #last = 0;

  /**
   * Sends a request under a new number.
   * @returns the reply; undefined if none arrives within `limitMs`
   */
  ask(send: (id: number) => void, limitMs: number): Promise<T | undefined> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      const late = setTimeout(() => {
        this.#waiting.delete(id);
        resolve(undefined);
      }, limitMs);
      this.#waiting.set(id, (answer) => {
        clearTimeout(late);
        this.#waiting.delete(id);
        resolve(answer);
      });
      send(id);
    });
  }

  answer(id: number, answer: T): void {
    this.#waiting.get(id)?.(answer);
  }
}
