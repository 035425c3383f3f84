import { isUtf8 } from 'node:buffer';
import { MillraceError } from '../api/errors.js';
import { findJsonFault, lineAndColumn, type JsonFault } from './json-fault.js';

/**
 * The maximum nesting of lists and objects. JSON.parse has no limit, but code that walks the value afterwards would
 * overflow the stack.
 */
export const MOST_NESTING = 100;

/**
 * Parses a request body.
 * @throws MillraceError malformed_json, with line and column but never an excerpt of the body
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const fault = findJsonFault(text);
    // The text is valid JSON, so JSON.parse failed for another reason. That is not the client's mistake.
    if (fault === undefined) throw error;
    throw faultError(fault, text.length, lineAndColumn(text, fault.offset));
  }
}

/** @param length length of the body, in the unit of the fault's offset */
export function faultError(
  { offset, expected }: JsonFault,
  length: number,
  { line, column }: { readonly line: number; readonly column: number },
): MillraceError {
  const found = offset === length ? ', but the body ends there' : '';
  return new MillraceError('malformed_json', `line ${line}, column ${column}: expected ${expected}${found}`);
}

/** @throws MillraceError invalid_body if the JSON in these bytes nests deeper than `MOST_NESTING` */
export function checkNesting(bytes: Uint8Array): void {
  if (!nestsDeeper(decode(bytes))) return;
  const detail = `lists and objects nest deeper than ${MOST_NESTING} levels`;
  throw new MillraceError('invalid_body', detail, {
    violations: [{ pointer: '', code: 'too_deep', detail }],
  });
}

function decode(bytes: Uint8Array): string {
  if (bytes.length === 0)
    throw new MillraceError('malformed_json', 'the body is empty; expected a JSON document');
  if (!isUtf8(bytes)) throw notUtf8();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return withoutMark(buffer).toString('utf8');
}

export function notUtf8(): MillraceError {
  return new MillraceError('malformed_json', 'the body is not valid UTF-8');
}

/** Removes the byte order mark. RFC 8259 forbids it, but some clients send it. */
export function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}

/** Whether lists and objects nest deeper than a number of levels. Requires valid JSON, or several such texts. */
export function nestsDeeper(text: string, most = MOST_NESTING): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      do at = text.indexOf('"', at + 1);
      while (isEscaped(text, at));
      if (at === -1) return false;
    } else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > most) return true;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
  return false;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}
