import { isUtf8 } from 'node:buffer';
import { MillraceError } from '../api/errors.js';
import { findJsonFault, lineAndColumn } from './json-fault.js';

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
    const { line, column } = lineAndColumn(text, fault.offset);
    const found = fault.offset === text.length ? ', but the body ends there' : '';
    throw new MillraceError(
      'malformed_json',
      `line ${line}, column ${column}: expected ${fault.expected}${found}`,
    );
  }
}

/** @throws MillraceError invalid_body if the JSON in these bytes nests deeper than `MOST_NESTING` */
export function checkNesting(bytes: Uint8Array): void {
  if (!nestsDeeper(decode(bytes), MOST_NESTING)) return;
  const detail = `lists and objects nest deeper than ${MOST_NESTING} levels`;
  throw new MillraceError('invalid_body', detail, {
    violations: [{ pointer: '', code: 'too_deep', detail }],
  });
}

/** Decodes the text without its byte order mark. Some clients send one, although RFC 8259 does not allow it. */
function decode(bytes: Uint8Array): string {
  if (bytes.length === 0)
    throw new MillraceError('malformed_json', 'the body is empty; expected a JSON document');
  if (!isUtf8(bytes)) throw new MillraceError('malformed_json', 'the body is not valid UTF-8');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Requires valid JSON. */
function nestsDeeper(text: string, most: number): boolean {
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
