import { atOnce, type Pieces } from '../core/pieces.js';

/** V8 finds a part of at most 250 units in linear time. For a longer periodic one it needs the product of the lengths. */
const SAFE_PART = 128;
/** The units that are searched before other work may run. */
const WINDOW = 1 << 16;
/** The same for the slower search, unit by unit. */
const STEPS = 1 << 14;

/** Whether a text has a part, in a time that grows with their lengths alone. */
export function contains(text: string, part: string): boolean {
  return part.length <= SAFE_PART ? text.includes(part) : atOnce(containing(text, part));
}

/** The same in pieces, for long texts. */
export function* containing(text: string, part: string): Pieces<boolean> {
  const head = part.slice(0, SAFE_PART);
  const last = text.length - part.length;
  let compared = 0;
  for (let from = 0; from <= last;) {
    const at = text.slice(from, from + WINDOW + head.length - 1).indexOf(head);
    if (at < 0) {
      from += WINDOW;
      yield;
      continue;
    }
    from += at;
    if (text.startsWith(part, from)) return true;
    from++;
    compared += part.length;
    // Nearly all texts end here: the head of a long part stands nowhere else, or once.
    if (compared > text.length) return yield* unitByUnit(text, part, from);
  }
  return false;
}

/** The algorithm of Knuth, Morris and Pratt ("Fast pattern matching in strings", SIAM Journal on Computing 6, 1977). */
function* unitByUnit(text: string, part: string, from: number): Pieces<boolean> {
  const { length } = part;
  if (length > text.length - from) return false;
  /** By place in the part: how many of its first units also stand before that place. */
  const border = new Int32Array(length + 1);
  border[0] = -1;
  for (let i = 1, known = 0; i < length; i++) {
    const unit = part.charCodeAt(i);
    border[i] = unit === part.charCodeAt(known) ? (border[known] as number) : known;
    while (known >= 0 && unit !== part.charCodeAt(known)) known = border[known] as number;
    known++;
    if (i % STEPS === 0) yield;
  }
  for (let i = from, known = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    while (known >= 0 && unit !== part.charCodeAt(known)) known = border[known] as number;
    if (++known === length) return true;
    if (i % STEPS === 0) yield;
  }
  return false;
}
