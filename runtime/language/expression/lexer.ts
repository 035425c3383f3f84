import { FOREIGN_SYMBOLS } from './spellings.js';
import { ExpressionSyntaxError } from './syntax-error.js';

const SYMBOLS = ['==', '!=', '<=', '>=', '<', '>', '+', '-', '*', '/', '%', '(', ')', '[', ']', ','] as const;
const WORDS = ['and', 'or', 'not', 'in'] as const;

export type TokenSymbol = (typeof SYMBOLS)[number] | (typeof WORDS)[number];

export type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'symbol'; readonly symbol: TokenSymbol }
  /** A name, or a dotted path of several segments. */
  | { readonly kind: 'path'; readonly segments: readonly string[] }
  | { readonly kind: 'feature'; readonly view: string; readonly feature: string }
  | { readonly kind: 'end' }
);

const SPACE = /\s*/y;
const NUMBER = /(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?/y;
/** Characters that make a number or a feature name invalid: `1x`, `1.`, `1_000`. */
const TAIL = /[\w.:]+/y;
const PATH = /[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*/y;
const FEATURE_TAIL = /:(\w+)/y;
const PLAIN_TEXT = /[^"'\\]+/y;

/** The operators of this language and of others, longer ones first, so that `=` matches only if `==` does not. */
const ALL_SYMBOLS: readonly {
  readonly symbol: string;
  readonly own?: TokenSymbol;
  readonly help?: string;
}[] = [
  ...SYMBOLS.map((symbol) => ({ symbol, own: symbol })),
  ...FOREIGN_SYMBOLS.map(([symbol, help]) => ({ symbol, help })),
].sort((a, b) => b.symbol.length - a.symbol.length);

const ESCAPES = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
]);

/** @throws ExpressionSyntaxError at the first character that cannot begin a token */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += matchAt(SPACE, text, at)?.[0].length ?? 0;
    const token = nextToken(text, at);
    tokens.push(token);
    if (token.kind === 'end') return tokens;
    at = token.end;
  }
}

function nextToken(text: string, start: number): Token {
  if (start >= text.length) return { kind: 'end', start: text.length, end: text.length };
  const first = text.charAt(start);
  if (first === '"' || first === "'") return textToken(text, start, first);
  const number = matchAt(NUMBER, text, start)?.[0];
  if (number !== undefined) return numberToken(text, start, number);
  const path = matchAt(PATH, text, start)?.[0];
  if (path !== undefined) return wordToken(text, start, path);
  const found = ALL_SYMBOLS.find(({ symbol }) => text.startsWith(symbol, start));
  if (found !== undefined) {
    const end = start + found.symbol.length;
    if (found.own !== undefined) return { kind: 'symbol', symbol: found.own, start, end };
    throw new ExpressionSyntaxError(start, end, `\`${found.symbol}\` is not valid here`, found.help);
  }
  const character = String.fromCodePoint(text.codePointAt(start) ?? 0);
  throw new ExpressionSyntaxError(
    start,
    start + character.length,
    `${JSON.stringify(character)} cannot stand in an expression`,
  );
}

function numberToken(text: string, start: number, digits: string): Token {
  const end = start + digits.length;
  const tail = matchAt(TAIL, text, end)?.[0];
  if (tail !== undefined) {
    const whole = digits + tail;
    throw new ExpressionSyntaxError(
      start,
      end + tail.length,
      `\`${whole}\` is not a number`,
      'write numbers as 1, 1.5 or 1e3; names begin with a letter',
    );
  }
  const value = Number(digits);
  if (!Number.isFinite(value))
    throw new ExpressionSyntaxError(start, end, `\`${digits}\` is too large a number`);
  return { kind: 'number', value, start, end };
}

function wordToken(text: string, start: number, path: string): Token {
  const end = start + path.length;
  const feature = matchAt(FEATURE_TAIL, text, end);
  if (feature !== null) return featureToken(text, start, path, feature[1] ?? '');
  if (text.charAt(end) === '.') {
    throw new ExpressionSyntaxError(start, end + 1, `a name must follow the dot of \`${path}.\``);
  }
  if (path === 'true' || path === 'false') return { kind: 'bool', value: path === 'true', start, end };
  const word = WORDS.find((one) => one === path);
  if (word !== undefined) return { kind: 'symbol', symbol: word, start, end };
  return { kind: 'path', segments: path.split('.'), start, end };
}

function featureToken(text: string, start: number, view: string, feature: string): Token {
  const end = start + view.length + 1 + feature.length;
  if (view.includes('.')) {
    throw new ExpressionSyntaxError(
      start,
      end,
      `\`${view}:${feature}\`: a name without dots must stand before the colon`,
      `bind the view under \`features:\`, as in \`- name: view(${view})\`, and write \`name:${feature}\``,
    );
  }
  const tail = matchAt(TAIL, text, end)?.[0];
  if (tail !== undefined) {
    throw new ExpressionSyntaxError(
      start,
      end + tail.length,
      `\`${view}:${feature}${tail}\` is not a feature's name`,
      `write a feature as \`view:feature\`, with nothing after it`,
    );
  }
  return { kind: 'feature', view, feature, start, end };
}

function textToken(text: string, start: number, quote: string): Token {
  let value = '';
  let at = start + 1;
  for (;;) {
    const plain = matchAt(PLAIN_TEXT, text, at)?.[0] ?? '';
    value += plain;
    at += plain.length;
    const next = text.charAt(at);
    if (next === '') {
      throw new ExpressionSyntaxError(
        start,
        text.length,
        'the text is never closed',
        `add ${quote} at its end`,
      );
    }
    if (next === quote) return { kind: 'text', value, start, end: at + 1 };
    if (next === '\\') {
      const { character, length } = escapeAt(text, at);
      value += character;
      at += length;
    } else {
      value += next;
      at++;
    }
  }
}

function escapeAt(text: string, at: number): { readonly character: string; readonly length: number } {
  const code = /^\\u([0-9A-Fa-f]{4})/.exec(text.slice(at, at + 6))?.[1];
  if (code !== undefined) return { character: String.fromCharCode(Number.parseInt(code, 16)), length: 6 };
  const character = ESCAPES.get(text.charAt(at + 1));
  if (character !== undefined) return { character, length: 2 };
  throw new ExpressionSyntaxError(
    at,
    Math.min(at + 2, text.length),
    `\`${text.slice(at, at + 2)}\` is no escape`,
    'the escapes are \\n \\t \\r \\\\ \\" \\\' and \\u with four hex digits',
  );
}

/** Matches a sticky pattern at an offset. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
