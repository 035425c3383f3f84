import { onNumber, onNumbers } from '../kernels/elementwise.js';
import { applying, greatest, least, power, type NumberLoop } from '../kernels/number-loops.js';
import type { Operand } from '../operand.js';
import { operation } from '../operation.js';
import { NUMBER } from '../types.js';
import { areAll, isKind, type Call, type FunctionEntry } from './function-entry.js';

/** A function of one number. On a list, its result is the list of results. */
function ofNumber(name: string, summary: string, f: (x: number) => number): FunctionEntry {
  const loop = applying(f);
  return {
    name,
    group: 'math',
    signature: `${name}(x)`,
    summary,
    arity: [1, 1],
    domain: [['number'], ['numbers']],
    check: (call) => {
      const [arg] = call.args;
      if (arg === undefined || !isKind(call, 0, 'number', true)) return undefined;
      return operation(call.node, arg.type, [arg], onNumber(loop, arg.type.kind === 'list'));
    },
  };
}

export const MATH_FUNCTIONS: readonly FunctionEntry[] = [
  ofNumber('abs', 'The absolute value.', Math.abs),
  ofNumber('sign', 'The sign: -1, 0 or 1.', Math.sign),
  ofNumber(
    'round',
    'The nearest whole number; halves are rounded up, so `round(-0.5)` is 0.',
    (x) => Math.round(x) + 0,
  ),
  ofNumber('floor', 'The largest whole number that is not above x.', Math.floor),
  ofNumber('ceil', 'The smallest whole number that is not below x.', (x) => Math.ceil(x) + 0),
  ofNumber('sqrt', 'The square root; absent for a negative number.', Math.sqrt),
  ofNumber('exp', 'e to the power of x.', Math.exp),
  ofNumber('log', 'The natural logarithm; absent for 0 and below.', Math.log),
  ofNumber(
    'log1p',
    'The natural logarithm of 1 + x, exact for small x; absent for -1 and below.',
    Math.log1p,
  ),
  ofNumber('log10', 'The logarithm to base 10; absent for 0 and below.', Math.log10),
  {
    name: 'pow',
    group: 'math',
    signature: 'pow(x, y)',
    summary: 'x to the power of y.',
    arity: [2, 2],
    domain: [['number', 'number']],
    check: (call) => {
      if (!areAll(call, 'number')) return undefined;
      return operation(call.node, NUMBER, call.args, onNumbers(power, 'none'));
    },
  },
  {
    name: 'clamp',
    group: 'math',
    signature: 'clamp(x, low, high)',
    summary: 'x, limited to the range from low to high.',
    arity: [3, 3],
    domain: [['number', 'number', 'number']],
    check: (call) => {
      const [x, low, high] = call.args;
      if (!areAll(call, 'number') || x === undefined || low === undefined || high === undefined)
        return undefined;
      return pairwise(call, least, [pairwise(call, greatest, [x, low]), high]);
    },
  },
];

function pairwise(call: Call, loop: NumberLoop, [a, b]: readonly [Operand, Operand]): Operand {
  return operation(call.node, NUMBER, [a, b], onNumbers(loop, 'none'));
}
