import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { SourceFile } from '../yaml/source.js';

const COMPARISONS = {
  '>=': (a: number, b: number) => a >= b,
  '>': (a: number, b: number) => a > b,
  '<=': (a: number, b: number) => a <= b,
  '<': (a: number, b: number) => a < b,
  '==': (a: number, b: number) => a === b,
} as const;
type Operator = keyof typeof COMPARISONS;
const OPERATORS = '>=, >, <=, < or ==';

/** A value, and the bound that it must meet. */
export interface Condition<V> {
  /** As written. */
  readonly text: string;
  readonly value: V;
  readonly operator: Operator;
  readonly bound: number;
}

/** A value that is not known does not pass. */
export function passes({ operator, bound }: Condition<unknown>, value: number): boolean {
  return COMPARISONS[operator](value, bound);
}

export interface Token {
  readonly text: string;
  readonly start: number;
}

const TOKEN = /\s+|>=|<=|==|>|<|\(|\)|[a-z][a-z0-9_.]*(?:@[0-9]+)?|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy;

class ConditionProblem extends Error {
  constructor(readonly diagnostic: Diagnostic) {
    super(diagnostic.message);
  }
}

/** What a kind of conditions reads. */
interface ConditionWords {
  /** Where the text stands, for diagnostics. */
  readonly source: string;
  /** Forms of a condition, for the help of a diagnostic. */
  readonly help: string;
  /** The help for what follows a whole condition. */
  readonly afterEnd: string;
}

/** Parses conditions `value operator number`. Subclasses read the values. */
export abstract class ConditionParser<V> {
  readonly #file: SourceFile;
  readonly #words: ConditionWords;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(
    readonly text: string,
    words: ConditionWords,
  ) {
    this.#words = words;
    this.#file = new SourceFile(words.source, text);
    this.#tokens = this.#split();
  }

  /** Parses one condition, which is the whole text. @throws ConditionProblem */
  parse(): Condition<V> {
    const condition = this.#condition();
    const rest = this.peek();
    if (rest !== undefined)
      throw this.problem(rest, `expected the end, found \`${rest.text}\``, this.#words.afterEnd);
    return condition;
  }

  /** Parses conditions with `and` between them. @throws ConditionProblem */
  parseAll(): Condition<V>[] {
    const all = [this.#condition()];
    for (let rest = this.peek(); rest !== undefined; rest = this.peek()) {
      if (rest.text !== 'and')
        throw this.problem(rest, `expected \`and\` or the end, found \`${rest.text}\``, this.#words.afterEnd);
      this.#at += 1;
      all.push(this.#condition());
    }
    return all;
  }

  /** Reads a value. */
  protected abstract value(): V;

  protected next(expected: string): Token {
    const token = this.#tokens[this.#at++];
    if (token === undefined)
      throw this.problem(
        { text: ' ', start: this.text.trimEnd().length },
        `${expected}, but the condition ends here`,
      );
    return token;
  }

  protected peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  protected problem({ text, start }: Token, message: string, help = this.#words.help): ConditionProblem {
    const end = Math.min(start + text.length, Math.max(this.text.length, start));
    return new ConditionProblem({
      severity: 'error',
      code: 'expression_syntax',
      at: { file: this.#file, start, end },
      message,
      help,
    });
  }

  #condition(): Condition<V> {
    const from = this.peek()?.start ?? 0;
    const value = this.value();
    const operator = this.next(`expected an operator: ${OPERATORS}`);
    if (!isOperator(operator.text))
      throw this.problem(operator, `expected ${OPERATORS}, found \`${operator.text}\``);
    const number = this.next('expected a number');
    const bound = Number(number.text);
    if (!Number.isFinite(bound)) throw this.problem(number, `expected a number, found \`${number.text}\``);
    const text = this.text.slice(from, number.start + number.text.length);
    return { text, value, operator: operator.text, bound };
  }

  #split(): Token[] {
    const tokens: Token[] = [];
    TOKEN.lastIndex = 0;
    for (let start = 0; start < this.text.length; start = TOKEN.lastIndex) {
      const [text] = TOKEN.exec(this.text) ?? [];
      if (text === undefined) {
        const found = String.fromCodePoint(this.text.codePointAt(start) ?? 0);
        throw this.problem({ text: found, start }, `a condition cannot contain \`${found}\``);
      }
      if (text.trim() !== '') tokens.push({ text, start });
    }
    return tokens;
  }
}

/** @returns what is parsed, or the diagnostic that says what is wrong and where */
export function parsedOr<T>(parse: () => T): T | Diagnostic {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ConditionProblem) return error.diagnostic;
    throw error;
  }
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(COMPARISONS, text);
}
