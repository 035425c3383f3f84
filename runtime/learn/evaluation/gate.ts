import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../project/config/yaml/source.js';
import { nearest } from '../../ground/core/nearest.js';
import { parseMetric, type Metric } from './metric-names.js';

/** Whole numbers of an evaluation that a gate can read. */
export const COUNTS = ['queries', 'unjudged', 'removed', 'missing', 'degraded'] as const;
export type Count = (typeof COUNTS)[number];

/** A value of an evaluation: a count, or a metric or its difference to the baseline, with the part that is read. */
export type GateValue =
  | { readonly kind: 'count'; readonly count: Count }
  | {
      readonly kind: 'metric';
      readonly metric: Metric;
      readonly isDelta: boolean;
      readonly part: 'mean' | 'lower' | 'upper' | 'p';
    };

const COMPARISONS = {
  '>=': (a: number, b: number) => a >= b,
  '>': (a: number, b: number) => a > b,
  '<=': (a: number, b: number) => a <= b,
  '<': (a: number, b: number) => a < b,
} as const;
type Operator = keyof typeof COMPARISONS;

/** A condition that an evaluation must meet. */
export interface Gate {
  /** As written. */
  readonly text: string;
  readonly value: GateValue;
  readonly operator: Operator;
  readonly bound: number;
}

/** A value that is not known does not pass. */
export function passes({ operator, bound }: Gate, value: number): boolean {
  return COMPARISONS[operator](value, bound);
}

interface Token {
  readonly text: string;
  readonly start: number;
}

const FUNCTIONS = ['lower', 'upper', 'p'] as const;
const TOKEN = /\s+|>=|<=|>|<|\(|\)|[a-z][a-z0-9_.]*(?:@[0-9]+)?|[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iy;
const HELP = "write for example 'ndcg@10 >= 0.85' or 'lower(delta.ndcg@10) > -0.002'";

/**
 * Parses `value operator number`. A value is `metric`, `delta.metric`, `lower(…)` or `upper(…)` of one of them,
 * `p(delta.metric)`, or a count.
 * @returns the gate, or the diagnostic that says what is wrong and where
 */
export function parseGate(text: string): Gate | Diagnostic {
  try {
    return new GateParser(text).parse();
  } catch (error) {
    if (error instanceof GateProblem) return error.diagnostic;
    throw error;
  }
}

class GateProblem extends Error {
  constructor(readonly diagnostic: Diagnostic) {
    super(diagnostic.message);
  }
}

class GateParser {
  readonly #file: SourceFile;
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(readonly text: string) {
    this.#file = new SourceFile('--require', text);
    this.#tokens = this.#split();
  }

  parse(): Gate {
    const value = this.#value();
    const { text: operator, start } = this.#next('expected an operator: >=, >, <= or <');
    if (!isOperator(operator))
      throw this.#problem(start, operator, `expected >=, >, <= or <, found \`${operator}\``);
    const number = this.#next('expected a number');
    const bound = Number(number.text);
    if (!Number.isFinite(bound))
      throw this.#problem(number.start, number.text, `expected a number, found \`${number.text}\``);
    const rest = this.#tokens[this.#at];
    if (rest !== undefined)
      throw this.#problem(
        rest.start,
        rest.text,
        `expected the end, found \`${rest.text}\``,
        'give each condition its own --require',
      );
    return { text: this.text, value, operator, bound };
  }

  #split(): Token[] {
    const tokens: Token[] = [];
    TOKEN.lastIndex = 0;
    for (let start = 0; start < this.text.length; start = TOKEN.lastIndex) {
      const [text] = TOKEN.exec(this.text) ?? [];
      if (text === undefined) {
        const found = String.fromCodePoint(this.text.codePointAt(start) ?? 0);
        throw this.#problem(start, found, `a condition cannot contain \`${found}\``);
      }
      if (text.trim() !== '') tokens.push({ text, start });
    }
    return tokens;
  }

  #value(): GateValue {
    const token = this.#next('expected a metric');
    const part = FUNCTIONS.find((name) => name === token.text);
    if (this.#tokens[this.#at]?.text !== '(') return this.#quantity(token);
    if (part === undefined)
      throw this.#problem(
        token.start,
        token.text,
        `there is no function \`${token.text}\``,
        `functions are ${FUNCTIONS.join(', ')}`,
      );
    this.#at += 1;
    const inner = this.#next('expected a metric');
    const value = this.#quantity(inner);
    const close = this.#next('expected a closing parenthesis');
    if (close.text !== ')')
      throw this.#problem(close.start, close.text, `expected ), found \`${close.text}\``);
    if (value.kind === 'count')
      throw this.#problem(inner.start, inner.text, `\`${value.count}\` is a count and has no interval`);
    if (part === 'p' && !value.isDelta)
      throw this.#problem(
        inner.start,
        inner.text,
        'only a difference has a p value',
        `did you mean \`delta.${inner.text}\`?`,
      );
    return { ...value, part };
  }

  #quantity({ text, start }: Token): GateValue {
    const count = COUNTS.find((one) => one === text);
    if (count !== undefined) return { kind: 'count', count };
    const isDelta = text.startsWith('delta.');
    const prefix = isDelta ? 'delta.'.length : 0;
    const name = text.slice(prefix);
    const metric = parseMetric(name);
    if ('problem' in metric) {
      const near = nearest(name, COUNTS);
      const help = near === undefined || isDelta ? metric.help : `did you mean \`${near}\`? ${metric.help}`;
      throw this.#problem(start + prefix, name, metric.problem, help);
    }
    return { kind: 'metric', metric, isDelta, part: 'mean' };
  }

  #next(expected: string): Token {
    const token = this.#tokens[this.#at++];
    if (token === undefined)
      throw this.#problem(this.text.trimEnd().length, ' ', `${expected}, but the condition ends here`);
    return token;
  }

  #problem(start: number, found: string, message: string, help = HELP): GateProblem {
    const end = Math.min(start + found.length, Math.max(this.text.length, start));
    return new GateProblem({
      severity: 'error',
      code: 'expression_syntax',
      at: { file: this.#file, start, end },
      message,
      help,
    });
  }
}

function isOperator(text: string): text is Operator {
  return Object.hasOwn(COMPARISONS, text);
}
