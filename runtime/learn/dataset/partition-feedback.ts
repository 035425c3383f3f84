import { readLinked, type Linked } from './events.js';

/** The feedback of a partition, by request. */
export class PartitionFeedback {
  readonly #byRequest = new Map<string, Linked[]>();
  readonly #outside = new Set<string>();

  constructor(lines: Iterable<unknown>) {
    for (const line of lines) {
      const one = readLinked(line);
      if (!('by' in one)) {
        this.#outside.add(one.request);
        continue;
      }
      const known = this.#byRequest.get(one.request);
      if (known === undefined) this.#byRequest.set(one.request, [one]);
      else known.push(one);
    }
  }

  /** The feedback of a request, by time; it is taken once. */
  take(request: string): readonly Linked[] {
    const found = this.#byRequest.get(request) ?? [];
    this.#byRequest.delete(request);
    return found.sort((a, b) => a.time - b.time);
  }

  rest(): Iterable<readonly [string, readonly Linked[]]> {
    return this.#byRequest;
  }

  isOutside(request: string): boolean {
    return this.#outside.has(request);
  }
}
