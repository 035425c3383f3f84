import { MillraceError, type Violation } from '../api/errors.js';

/** Most violations that one answer lists. */
const MOST_LISTED = 50;

/** Collects what is wrong with a body. */
export class Violations {
  readonly #listed: Violation[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * @param pointer JSON pointer (RFC 6901) to the place in the body
   * @param detail a function where it is costly to find: it is called only for a violation that is listed
   */
  add(pointer: string, code: string, detail: string | (() => string)): void {
    this.#count++;
    if (this.#listed.length >= MOST_LISTED) return;
    this.#listed.push({ pointer, code, detail: typeof detail === 'string' ? detail : detail() });
  }

  /** @throws MillraceError invalid_body if there are any; `what` names what was checked, such as "the upload" */
  throwIfAny(what: string): void {
    if (this.#count === 0) return;
    const [first] = this.#listed;
    const detail =
      this.#count === 1 && first !== undefined
        ? `${what}${first.pointer === '' ? '' : ` at ${first.pointer}`}: ${first.detail}`
        : `${what} has ${this.#count} violations` +
          (this.#count > MOST_LISTED ? `; the first ${MOST_LISTED} are listed` : '');
    throw new MillraceError('invalid_body', detail, {
      violations: this.#listed,
      extensions: { violation_count: this.#count },
    });
  }
}

/** Most characters of a name that is repeated to the client. */
const MOST_OF_NAME = 100;

/** A name of the body, cut short where it is longer than any that was meant. */
export function shownName(name: string): string {
  return name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name;
}

/** A JSON pointer one or more steps below another; very long names in it are cut short. */
export function pointerTo(pointer: string, ...path: readonly (string | number)[]): string {
  let text = pointer;
  for (const step of path) {
    text += `/${typeof step === 'number' ? String(step) : shownName(step).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return text;
}
