/** Questions to another process, and the answers as they come. */
export class Replies<T> {
  readonly #waiting = new Map<number, (answer: T) => void>();
  #last = 0;

  /**
   * Asks a question under a new number.
   * @returns the answer; undefined if none comes within `limitMs`
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
