import { MillraceError, type Violation } from './errors.js';

/** Violations told in one answer; the rest are counted. */
const MOST_TOLD = 50;

/** Collects what is wrong with a body, so that all of it is told at once. */
export class Violations {
  readonly #told: Violation[] = [];
  #count = 0;

  add(pointer: string, code: string, detail: string): void {
    this.#count++;
    if (this.#told.length < MOST_TOLD) this.#told.push({ pointer, code, detail });
  }

  get count(): number {
    return this.#count;
  }

  /** @throws MillraceError invalid_body */
  throwIfAny(): void {
    if (this.#count > 0) throw this.error();
  }

  error(): MillraceError {
    const [first] = this.#told;
    const more = this.#count > 1 ? ` (and ${this.#count - 1} more)` : '';
    const place = first === undefined || first.pointer === '' ? 'the body' : first.pointer;
    return new MillraceError('invalid_body', `${place}: ${first?.detail ?? ''}${more}`, {
      violations: this.#told,
      extensions: this.#count > this.#told.length ? { violation_count: this.#count } : {},
    });
  }
}

/** A JSON pointer (RFC 6901) one step deeper. */
export function pointerTo(pointer: string, step: string | number): string {
  return `${pointer}/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}
