import { MillraceError, type Violation } from './errors.js';

/** Most violations that one answer lists. */
const MOST_LISTED = 50;

/** Collects what is wrong with a body. */
export class Violations {
  readonly #listed: Violation[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param pointer JSON pointer (RFC 6901) to the place in the body */
  add(pointer: string, code: string, detail: string): void {
    this.#count++;
    if (this.#listed.length < MOST_LISTED) this.#listed.push({ pointer, code, detail });
  }

  /** @throws MillraceError invalid_body if there are any; `subject` says of what, e.g. "the upload" */
  throwIfAny(subject: string): void {
    if (this.#count === 0) return;
    const [first] = this.#listed;
    const detail =
      this.#count === 1 && first !== undefined
        ? `${subject}: ${first.detail}`
        : `${subject} has ${this.#count} violations` +
          (this.#count > MOST_LISTED ? `; the first ${MOST_LISTED} are listed` : '');
    throw new MillraceError('invalid_body', detail, {
      violations: this.#listed,
      extensions: { violation_count: this.#count },
    });
  }
}

/** A JSON pointer one or more steps below another. */
export function pointerTo(pointer: string, ...path: readonly (string | number)[]): string {
  let text = pointer;
  for (const step of path) {
    text += `/${typeof step === 'number' ? String(step) : step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return text;
}
