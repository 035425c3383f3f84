import type { BinaryOperator, ExpressionNode } from './ast.js';
import type { ExpressionProblem } from './environment.js';
import { tokenize, type Token, type TokenSymbol } from './lexer.js';
import { COMPARISON_LEVEL, LEVELS, NOT_LEVEL, SIGN_LEVEL, SUM_LEVEL } from './precedence.js';
import { helpForOperator, helpForValue } from './spellings.js';
import { ExpressionSyntaxError } from './syntax-error.js';

/** Limits that keep all later recursion shallow. */
const MAX_LENGTH = 10_000;
const MAX_DEPTH = 250;

export type ParseResult =
  | { readonly ok: true; readonly ast: ExpressionNode }
  | { readonly ok: false; readonly problem: ExpressionProblem };

/** Parses an expression. The result is its syntax tree, or the first syntax error. */
export function parseExpression(text: string): ParseResult {
  try {
    if (text.length > MAX_LENGTH) {
      throw new ExpressionSyntaxError(
        0,
        text.length,
        `the expression has ${text.length} characters; at most ${MAX_LENGTH} are allowed`,
        'split it into definitions under `define:`',
      );
    }
    return { ok: true, ast: new Parser(text, tokenize(text)).whole() };
  } catch (error) {
    if (error instanceof ExpressionSyntaxError) return { ok: false, problem: error.problem };
    throw error;
  }
}

type Unplaced<T> = T extends ExpressionNode ? Omit<T, 'start' | 'end' | 'depth'> : never;

/** Prefixes that other languages write before the name of a function. */
const MODULES: ReadonlySet<string> = new Set(['np', 'numpy', 'math', 'Math', 'pd', 'F']);

/** A precedence climber: `binary(level)` reads operators that bind at least as tightly as the level. */
class Parser {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;

  constructor(text: string, tokens: readonly Token[]) {
    this.#text = text;
    this.#tokens = tokens;
  }

  whole(): ExpressionNode {
    if (this.#isAtEnd()) throw new ExpressionSyntaxError(0, this.#text.length, 'the expression is empty');
    const node = this.#binary(1);
    if (!this.#isAtEnd()) throw this.#misplaced('an operator or the end');
    return node;
  }

  #binary(level: number): ExpressionNode {
    this.#enter();
    const { start } = this.#next;
    let left = this.#prefix(level);
    for (;;) {
      const operator = this.#next;
      if (operator.kind !== 'symbol') break;
      const found = LEVELS.get(operator.symbol);
      if (found === undefined || found < level) break;
      this.#take();
      if (operator.symbol === 'in' || operator.symbol === 'not') {
        if (operator.symbol === 'not') this.#expect('in', '`in` after `not`');
        left = this.#in(start, left, operator.symbol === 'not');
      } else {
        const right = this.#binary(found + 1);
        const op = operator.symbol as BinaryOperator;
        left = this.#node({ kind: 'binary', op, left, right }, start, this.#lastEnd, [left, right]);
      }
      if (found === COMPARISON_LEVEL) this.#refuseChain(start, left);
    }
    this.#nesting--;
    return left;
  }

  #prefix(level: number): ExpressionNode {
    const token = this.#next;
    if (token.kind !== 'symbol' || (token.symbol !== '-' && token.symbol !== 'not')) return this.#element();
    const op = token.symbol;
    if (op === 'not' && level > NOT_LEVEL) {
      throw new ExpressionSyntaxError(
        token.start,
        token.end,
        '`not` binds less tightly than the operator before it',
        'put it in parentheses: `(not x)`',
      );
    }
    this.#take();
    const operand = this.#binary(op === 'not' ? NOT_LEVEL : SIGN_LEVEL);
    return this.#node({ kind: 'unary', op, operand }, token.start, this.#lastEnd, [operand]);
  }

  #in(start: number, operand: ExpressionNode, negated: boolean): ExpressionNode {
    const next = this.#next;
    let choices: readonly ExpressionNode[];
    const enclosed = next.kind === 'symbol' && next.symbol === '(';
    if (enclosed) {
      this.#take();
      choices = this.#items(next, 'a value to compare with');
    } else {
      choices = [this.#binary(SUM_LEVEL)];
    }
    const children = [operand, ...choices];
    return this.#node({ kind: 'in', negated, enclosed, operand, choices }, start, this.#lastEnd, children);
  }

  /** A value, and the indexes behind it. */
  #element(): ExpressionNode {
    const { start } = this.#next;
    let node = this.#primary();
    for (;;) {
      const open = this.#next;
      if (open.kind !== 'symbol' || open.symbol !== '[') return node;
      this.#take();
      const index = this.#binary(1);
      this.#close(open, 'an operator or `]`', ']');
      node = this.#node({ kind: 'index', operand: node, index }, start, this.#lastEnd, [node, index]);
    }
  }

  #primary(): ExpressionNode {
    const token = this.#next;
    const { start, end } = token;
    switch (token.kind) {
      case 'number':
        this.#take();
        return this.#node({ kind: 'number', value: token.value }, start, end, []);
      case 'text':
        this.#take();
        return this.#node({ kind: 'text', value: token.value }, start, end, []);
      case 'bool':
        this.#take();
        return this.#node({ kind: 'bool', value: token.value }, start, end, []);
      case 'feature':
        this.#take();
        return this.#node({ kind: 'feature', view: token.view, feature: token.feature }, start, end, []);
      case 'path':
        this.#take();
        return this.#named(token.segments, start, end);
      case 'symbol':
        if (token.symbol === '(') {
          this.#take();
          const inner = this.#binary(1);
          this.#close(token, 'an operator or `)`');
          return inner;
        }
    }
    throw this.#misplaced('a value');
  }

  /** A name, a path, or a call. */
  #named(segments: readonly string[], start: number, end: number): ExpressionNode {
    const open = this.#next;
    const name = segments[0] ?? '';
    if (open.kind !== 'symbol' || open.symbol !== '(') {
      if (segments.length > 1) return this.#node({ kind: 'path', segments }, start, end, []);
      return this.#node({ kind: 'name', name }, start, end, []);
    }
    if (segments.length > 1) {
      const method = segments.at(-1) ?? '';
      throw new ExpressionSyntaxError(
        start,
        end,
        `\`${segments.join('.')}\` is not a function`,
        MODULES.has(name)
          ? `write a function without a module name: \`${method}(…)\``
          : `write the argument of a function in parentheses: \`${method}(${segments.slice(0, -1).join('.')})\``,
      );
    }
    this.#take();
    const first = this.#next;
    if (first.kind === 'symbol' && first.symbol === ')') {
      this.#take();
      return this.#node({ kind: 'call', name, args: [] }, start, first.end, []);
    }
    const args = this.#items(open, `an argument of \`${name}\``);
    return this.#node({ kind: 'call', name, args }, start, this.#lastEnd, args);
  }

  /** Expressions separated by commas, up to the closing parenthesis. */
  #items(open: Token, what: string): ExpressionNode[] {
    const items: ExpressionNode[] = [];
    for (;;) {
      const token = this.#next;
      if (token.kind === 'symbol' && (token.symbol === ')' || token.symbol === ',')) {
        throw this.#misplaced(what);
      }
      items.push(this.#binary(1));
      const after = this.#next;
      if (after.kind !== 'symbol' || after.symbol !== ',') break;
      this.#take();
    }
    this.#close(open, '`,` or `)`');
    return items;
  }

  #close(open: Token, expected: string, symbol: ')' | ']' = ')'): void {
    const token = this.#next;
    if (token.kind === 'end') {
      const opened = this.#text.slice(open.start, open.end);
      throw new ExpressionSyntaxError(
        open.start,
        open.end,
        `\`${opened}\` is never closed`,
        `add \`${symbol}\``,
      );
    }
    if (token.kind !== 'symbol' || token.symbol !== symbol) throw this.#misplaced(expected);
    this.#take();
  }

  #expect(symbol: TokenSymbol, expected: string): void {
    const token = this.#next;
    if (token.kind !== 'symbol' || token.symbol !== symbol) throw this.#misplaced(expected);
    this.#take();
  }

  /** `a < b < c` is refused, because its meaning differs between languages. */
  #refuseChain(start: number, left: ExpressionNode): void {
    const token = this.#next;
    if (token.kind !== 'symbol' || LEVELS.get(token.symbol) !== COMPARISON_LEVEL) return;
    const first = this.#text.slice(start, this.#lastEnd);
    const isPlain = left.kind === 'binary' && token.symbol !== 'in' && token.symbol !== 'not';
    const help = isPlain
      ? `write \`${first} and ${this.#text.slice(left.right.start, left.right.end)} ${token.symbol} …\``
      : 'put the first one in parentheses';
    throw new ExpressionSyntaxError(token.start, token.end, 'comparisons do not chain', help);
  }

  #misplaced(expected: string): ExpressionSyntaxError {
    const token = this.#next;
    if (token.kind === 'end') {
      const end = Math.max(1, this.#lastEnd);
      return new ExpressionSyntaxError(end - 1, end, `the expression ends, and ${expected} is missing`);
    }
    const found = this.#text.slice(token.start, token.end);
    const help =
      token.kind === 'path' ? (helpForOperator(found) ?? helpForValue(found)) : helpForSymbol(found);
    return new ExpressionSyntaxError(
      token.start,
      token.end,
      `expected ${expected}, found \`${shortened(found)}\``,
      help,
    );
  }

  #node(
    node: Unplaced<ExpressionNode>,
    start: number,
    end: number,
    children: readonly ExpressionNode[],
  ): ExpressionNode {
    const depth = 1 + children.reduce((deepest, child) => Math.max(deepest, child.depth), 0);
    if (depth > MAX_DEPTH) throw tooDeep(start, end);
    return { ...node, start, end, depth };
  }

  #enter(): void {
    // Where the text ends, what is missing says more, and has a place.
    if (++this.#nesting > MAX_DEPTH && !this.#isAtEnd()) throw tooDeep(this.#next.start, this.#next.end);
  }

  get #next(): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error('the tokens end with `end`');
    return token;
  }

  #isAtEnd(): boolean {
    return this.#next.kind === 'end';
  }

  #take(): void {
    this.#at++;
  }

  /** The end of the last token that was taken. */
  get #lastEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? 0;
  }
}

function helpForSymbol(symbol: string): string | undefined {
  if (symbol === '[') return 'write a list of choices in parentheses: `x in (a, b)`';
  return symbol === '+' ? 'the only sign before a number is `-`' : undefined;
}

function shortened(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function tooDeep(start: number, end: number): ExpressionSyntaxError {
  return new ExpressionSyntaxError(
    start,
    end,
    `the expression nests deeper than ${MAX_DEPTH} levels`,
    'split it into definitions under `define:`',
  );
}
