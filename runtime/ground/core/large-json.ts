import { isUtf8 } from 'node:buffer';
import { JsonList } from './json-list.js';
import { scanJson } from './json-scan.js';
import { MOST_DIGITS } from './json-tokens.js';
import type { JsonUnit, ListSpan } from './json-units.js';
import { faultError, MOST_NESTING, notUtf8, withoutMark } from './parse-json.js';
import type { Pieces } from './pieces.js';
import { Violations } from './violations.js';

/** The maximum bytes of one element of a large body's list, and of everything outside that list. */
export const MOST_UNIT_BYTES = 1024 * 1024;
/** The maximum number of names, lists and objects in each of these parts. */
export const MOST_UNIT_PARTS = 10_000;
/** The maximum number of values in each of these parts. */
export const MOST_UNIT_VALUES = 100_000;

const UNIT_BOUNDS = [
  { of: 'bytes', most: MOST_UNIT_BYTES, code: 'too_large', what: 'bytes' },
  { of: 'parts', most: MOST_UNIT_PARTS, code: 'too_many', what: 'names, lists and objects' },
  { of: 'values', most: MOST_UNIT_VALUES, code: 'too_many', what: 'values' },
] as const;

/** The maximum number of strings in a body whose values are all used at once. */
export const MOST_TEXTS = 100_000;

/** The number of bytes that are searched for line ends between two yields. */
const STEP = 256 * 1024;

/**
 * Parses a large body in pieces, each of which takes at most a few milliseconds. The size limits are checked before
 * anything is parsed. The value, and the syntax errors, are those of `parseJson`.
 * @param listName the field of the body whose list becomes a `JsonList`; everything else is parsed
 * @param isUsedAtOnce whether the work on the body needs all of it together
 * @throws MillraceError malformed_json; invalid_body for a body that nests too deep or has a part that is too large
 */
export function* parseLarge(sent: Buffer, listName?: string, isUsedAtOnce = false): Pieces<unknown> {
  if (!isUtf8(sent)) throw notUtf8();
  const bytes = withoutMark(sent);
  const violations = new Violations();
  let texts = 0;
  const { fault, spans, list, isTooDeep, isEndless } = yield* scanJson(bytes, listName, (unit) => {
    checkUnit(unit, listName ?? '', violations);
    texts += unit.texts;
  });
  if (fault !== undefined) throw faultError(fault, bytes.length, yield* placeOf(bytes, fault.offset));
  if (isEndless) violations.add('', 'too_large', `a number has at most ${MOST_DIGITS} characters`);
  if (isTooDeep) violations.add('', 'too_deep', `lists and objects nest deeper than ${MOST_NESTING} levels`);
  if (isUsedAtOnce && texts > MOST_TEXTS)
    violations.add('', 'too_many', `a body has at most ${MOST_TEXTS} texts, found ${texts}`);
  violations.throwIfAny('The body');
  const body: unknown = JSON.parse(withoutLists(bytes, spans));
  yield;
  if (list !== undefined && listName !== undefined)
    (body as Record<string, unknown>)[listName] = new JsonList(bytes, list);
  return body;
}

function checkUnit(unit: JsonUnit, listName: string, violations: Violations): void {
  for (const { of, most, code, what } of UNIT_BOUNDS) {
    const found = unit[of];
    if (found <= most) continue;
    const isElement = unit.element !== undefined;
    const subject = isElement ? 'an element' : rest(listName);
    const pointer = isElement ? `/${listName}/${unit.element}` : '';
    violations.add(pointer, code, () => `${subject} has at most ${most} ${what}, found ${found}`);
  }
}

function rest(listName: string): string {
  return listName === '' ? 'a body' : `what a body has beside ${listName}`;
}

/** Returns the text of a body with each of the lists replaced by a zero. */
function withoutLists(bytes: Buffer, spans: readonly ListSpan[]): string {
  let text = '';
  let from = 0;
  for (const { start, end } of spans) {
    text += `${bytes.toString('utf8', from, start)}0`;
    from = end;
  }
  return text + bytes.toString('utf8', from);
}

/** Returns the 1-based line and column (in UTF-16 code units) of a byte offset. */
function* placeOf(bytes: Buffer, offset: number): Pieces<{ line: number; column: number }> {
  let line = 1;
  let column = 1;
  for (let at = 0; at < offset; at++) {
    const byte = bytes[at] as number;
    if (byte === 0x0a) {
      line++;
      column = 1;
      // All bytes of a character except the first begin with the bits 10. A character of four bytes has two UTF-16 code
      // units.
    } else if ((byte & 0xc0) !== 0x80) column += byte >= 0xf0 ? 2 : 1;
    if (at % STEP === STEP - 1) yield;
  }
  return { line, column };
}
