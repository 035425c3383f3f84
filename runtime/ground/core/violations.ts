import { MillraceError, type Violation } from '../api/errors.js';

/** The maximum number of violations that one answer lists. */
const MOST_LISTED = 50;

/** Collects the violations of a request body. */
export class Violations {
  readonly #listed: Violation[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /**
   * @param pointer JSON pointer (RFC 6901) to the place in the body
   * @param detail a function if the text is costly to build; it is called only for a violation that is listed
   */
  add(pointer: string, code: string, detail: string | (() => string)): void {
    this.#count++;
    if (this.#listed.length >= MOST_LISTED) return;
    this.#listed.push({ pointer, code, detail: typeof detail === 'string' ? detail : detail() });
  }

  /** @throws MillraceError invalid_body if there are violations; `what` names what has them, e.g. "the upload" */
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

/** The error of a body that stands at a place of another body: its violations are there. */
export function errorAt(pointer: string, error: unknown): unknown {
  if (!(error instanceof MillraceError) || error.violations.length === 0) return error;
  const { code, message, violations, extensions, cause } = error;
  const moved = violations.map((one) => ({ ...one, pointer: pointer + one.pointer }));
  return new MillraceError(code, message, { violations: moved, extensions, cause });
}

/** The maximum length of a name that is repeated to the client. */
const MOST_OF_NAME = 100;

/** Shortens a name from a request body if it is longer than any real name. */
export function shownName(name: string): string {
  return name.length > MOST_OF_NAME ? `${name.slice(0, MOST_OF_NAME)}…` : name;
}

/** Extends a JSON pointer by one or more steps. Very long names are cut short. */
export function pointerTo(pointer: string, ...path: readonly (string | number)[]): string {
  let text = pointer;
  for (const step of path) text += `/${typeof step === 'number' ? String(step) : escaped(shownName(step))}`;
  return text;
}

/** As RFC 6901 says. Most names need nothing, and a look is cheaper than two replacements. */
function escaped(name: string): string {
  return name.includes('/') || name.includes('~') ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
}
