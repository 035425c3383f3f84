import type { Diagnostic } from '../../project/config/diagnostics/diagnostics.js';
import { nearest } from '../../ground/core/nearest.js';
import {
  ConditionParser,
  parsedOr,
  type Condition,
  type Token,
} from '../../project/config/conditions/condition.js';
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

/** A condition that an evaluation must meet. */
export type Gate = Condition<GateValue>;

const FUNCTIONS = ['lower', 'upper', 'p'] as const;
const WORDS = {
  source: '--require',
  help: "write for example 'ndcg@10 >= 0.85' or 'lower(delta.ndcg@10) > -0.002'",
  afterEnd: 'give each condition its own --require',
};

/**
 * Parses `value operator number`. A value is `metric`, `delta.metric`, `lower(…)` or `upper(…)` of one of them,
 * `p(delta.metric)`, or a count.
 * @returns the gate, or the diagnostic that says what is wrong and where
 */
export function parseGate(text: string): Gate | Diagnostic {
  return parsedOr(() => new GateParser(text, WORDS).parse());
}

class GateParser extends ConditionParser<GateValue> {
  protected value(): GateValue {
    const token = this.next('expected a metric');
    const part = FUNCTIONS.find((name) => name === token.text);
    if (this.peek()?.text !== '(') return this.#quantity(token);
    if (part === undefined)
      throw this.problem(
        token,
        `there is no function \`${token.text}\``,
        `functions are ${FUNCTIONS.join(', ')}`,
      );
    this.next('expected (');
    const inner = this.next('expected a metric');
    const value = this.#quantity(inner);
    const close = this.next('expected a closing parenthesis');
    if (close.text !== ')') throw this.problem(close, `expected ), found \`${close.text}\``);
    if (value.kind === 'count')
      throw this.problem(inner, `\`${value.count}\` is a count and has no interval`);
    if (part === 'p' && !value.isDelta)
      throw this.problem(inner, 'only a difference has a p value', `did you mean \`delta.${inner.text}\`?`);
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
      throw this.problem({ text: name, start: start + prefix }, metric.problem, help);
    }
    return { kind: 'metric', metric, isDelta, part: 'mean' };
  }
}
