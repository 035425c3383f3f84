/** The first place where a text is not valid JSON (RFC 8259), and what was expected there. */
export interface JsonFault {
  /** Offset in UTF-16 code units. */
  readonly offset: number;
  readonly expected: string;
}

/** What was expected in or after a string. */
export const STRING_FAULTS = {
  rawControl: 'an escape sequence instead of a raw control character',
  wrongEscape: 'a valid JSON escape sequence',
  unclosed: 'the closing quote of a string',
} as const;

type Expecting = 'value' | 'value or ]' | 'name' | 'name or }' | 'what follows';

const SCALAR = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/**
 * Finds the first syntax error of a text. Returns undefined if the text is valid JSON. JSON.parse does not always
 * report the position, and its message quotes the text, which must not appear in an answer or a log. This function
 * runs only after JSON.parse failed. It keeps its own stack, so deep nesting does not overflow.
 */
export function findJsonFault(text: string): JsonFault | undefined {
  const open: ('[' | '{')[] = [];
  let expecting: Expecting = 'value';
  let at = 0;
  for (;;) {
    at = skipSpace(text, at);
    const char = text[at];
    switch (expecting) {
      case 'value or ]':
      case 'value':
        if (char === ']' && expecting === 'value or ]') {
          open.pop();
          at++;
          expecting = 'what follows';
        } else if (char === '[') {
          open.push(char);
          at++;
          expecting = 'value or ]';
        } else if (char === '{') {
          open.push(char);
          at++;
          expecting = 'name or }';
        } else {
          const end = char === '"' ? endOfText(text, at) : endOfScalar(text, at);
          if (typeof end !== 'number') return end;
          at = end;
          expecting = 'what follows';
        }
        break;
      case 'name or }':
      case 'name': {
        if (char === '}' && expecting === 'name or }') {
          open.pop();
          at++;
          expecting = 'what follows';
          break;
        }
        if (char !== '"') {
          const or = expecting === 'name or }' ? ' or }' : '';
          return { offset: at, expected: `a name in double quotes${or}` };
        }
        const end = endOfText(text, at);
        if (typeof end !== 'number') return end;
        at = skipSpace(text, end);
        if (text[at] !== ':') return { offset: at, expected: 'a colon after the name' };
        at++;
        expecting = 'value';
        break;
      }
      case 'what follows': {
        const inside = open.at(-1);
        if (inside === undefined) {
          return at === text.length ? undefined : { offset: at, expected: 'nothing after the document' };
        }
        const close = inside === '[' ? ']' : '}';
        if (char === ',') expecting = inside === '[' ? 'value' : 'name';
        else if (char === close) open.pop();
        else return { offset: at, expected: `a comma or ${close}` };
        at++;
      }
    }
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++;
  return at;
}

function endOfScalar(text: string, from: number): number | JsonFault {
  SCALAR.lastIndex = from;
  return SCALAR.test(text) ? SCALAR.lastIndex : { offset: from, expected: 'a value' };
}

/** Returns the offset after the closing quote of the string that opens at `from`. */
function endOfText(text: string, from: number): number | JsonFault {
  let at = from + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return { offset: at, expected: STRING_FAULTS.rawControl };
    if (code === 0x5c) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text)) return { offset: at, expected: STRING_FAULTS.wrongEscape };
      at = ESCAPE.lastIndex;
    } else at++;
  }
  return { offset: at, expected: STRING_FAULTS.unclosed };
}

/** Converts an offset to a 1-based line and column (in UTF-16 code units). */
export function lineAndColumn(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', start)) {
    line++;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}
