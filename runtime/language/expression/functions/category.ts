/** Functions that make categories and numbers for models: hashes, crossed categories, buckets, tables. */
import type { ExpressionType } from '../environment.js';
import { bucketOf, crossed, hashed, piecewiseLinear } from '../kernels/categories.js';
import type { Operand } from '../operand.js';
import { operation } from '../operation.js';
import { NUMBER, TEXT } from '../types.js';
import { areAll, isKind, wrongNumber, type Call, type FunctionEntry } from './function-entry.js';

const MAX_BUCKETS = 2 ** 31;
const WHOLE: ExpressionType = { kind: 'number', whole: true };

export const CATEGORY_FUNCTIONS: readonly FunctionEntry[] = [
  {
    name: 'hash',
    group: 'category',
    signature: 'hash(text, buckets)',
    summary:
      'A whole number from 0 to buckets − 1 that is the same for equal texts, on all machines and in all versions: MurmurHash3 (x86, 32 bits, seed 0) of the UTF-8 bytes, modulo buckets.',
    arity: [2, 2],
    domain: [['text', { written: ['1000', '1', '2147483648'] }]],
    check: (call) => {
      const isText = isKind(call, 0, 'text');
      const buckets = constantNumber(call.args[1]);
      if (!Number.isInteger(buckets) || buckets < 1 || buckets > MAX_BUCKETS) {
        wrongNumber(call, 1, 'a number of buckets from 1 to 2^31', 'for example `hash(text, 1000)`');
        return undefined;
      }
      return isText ? operation(call.node, WHOLE, call.args, hashed(buckets)) : undefined;
    },
  },
  {
    name: 'cross',
    group: 'category',
    signature: 'cross(a, b, …)',
    summary:
      'Two or more texts as one category, joined by a vertical bar. A vertical bar or a backslash within a text gets a backslash before it.',
    arity: [2, Infinity],
    domain: [
      ['text', 'text'],
      ['text', 'text', 'text'],
    ],
    check: (call) => (areAll(call, 'text') ? operation(call.node, TEXT, call.args, crossed) : undefined),
  },
  {
    name: 'bucket',
    group: 'category',
    signature: 'bucket(x, limit, …)',
    summary:
      'The number of the limits that x reaches: `bucket(x, 10, 50)` is 0 below 10, 1 below 50, and else 2.',
    arity: [2, Infinity],
    domain: [
      ['number', 'number'],
      ['number', 'number', 'number'],
    ],
    check: (call) => {
      if (!areAll(call, 'number') || !areRising(call, call.args.slice(1), 'limits')) return undefined;
      return operation(call.node, WHOLE, call.args, bucketOf);
    },
  },
  {
    name: 'piecewise',
    group: 'category',
    signature: 'piecewise(x, x1, y1, x2, y2, …)',
    summary:
      'A table of points, joined by straight lines: y1 at x1, y2 at x2. Below the first point it is the first y, above the last one the last y.',
    arity: [5, Infinity],
    domain: [
      ['number', 'number', 'number', 'number', 'number'],
      ['number', 'number', 'number', 'number', 'number', 'number', 'number'],
    ],
    check: (call) => {
      if (call.args.length % 2 === 0) {
        const last = call.args.at(-1)?.node ?? call.node;
        call.checker.problem(
          'expression_arguments',
          last,
          `\`piecewise\` takes pairs after x; the last x has no y`,
          'write `piecewise(x, x1, y1, x2, y2)`',
        );
        return undefined;
      }
      const points = call.args.filter((_, at) => at % 2 === 1);
      if (!areAll(call, 'number') || !areRising(call, points, 'points')) return undefined;
      return operation(call.node, NUMBER, call.args, piecewiseLinear);
    },
  },
];

function constantNumber(operand: Operand | undefined): number {
  return operand?.tag === 'constant' && operand.type.kind === 'number' ? Number(operand.value) : NaN;
}

/** Checks the numbers that are written. A computed one is not known before the request. */
function areRising({ checker, node }: Call, numbers: readonly Operand[], what: string): boolean {
  let before: Operand | undefined;
  for (const operand of numbers) {
    const value = constantNumber(operand);
    if (Number.isNaN(value)) continue;
    if (before !== undefined && value <= constantNumber(before)) {
      const message = `the ${what} of \`${node.name}\` must rise; ${checker.label(operand)} stands after ${checker.label(before)}`;
      checker.problem(
        'expression_arguments',
        operand.node,
        message,
        'order them from the smallest to the largest',
      );
      return false;
    }
    before = operand;
  }
  return true;
}
