import * as elements from '../kernels/elements.js';
import { onNumbers } from '../kernels/elementwise.js';
import * as reductions from '../kernels/lists.js';
import { greatest, least, type NumberLoop } from '../kernels/number-loops.js';
import type { Domain } from '../domain.js';
import type { ElementType } from '../environment.js';
import type { BuildKernel, Operand } from '../operand.js';
import { operation } from '../operation.js';
import { BOOL, countsAsNumber, isTextual, NUMBER } from '../types.js';
import {
  areAll,
  isKind,
  wrongArgument,
  wrongNumber,
  type Call,
  type FunctionEntry,
} from './function-entry.js';

/** Lists whose elements are added: true is 1, false is 0. */
const COUNTED: Domain = [['numbers'], ['bools'], ['vector']];

export const LIST_FUNCTIONS: readonly FunctionEntry[] = [
  {
    name: 'sum',
    group: 'lists',
    signature: 'sum(list)',
    summary:
      'The sum of the known elements of a list or a vector; 0 if there is none. True counts as 1, false as 0.',
    arity: [1, 1],
    domain: COUNTED,
    check: (call) => reduceNumbers(call, reductions.sum),
  },
  {
    name: 'mean',
    group: 'lists',
    signature: 'mean(list)',
    summary:
      'The mean of the known elements of a list or a vector; absent if there is none. For bools, the share that is true.',
    arity: [1, 1],
    domain: COUNTED,
    check: (call) => reduceNumbers(call, reductions.mean),
  },
  extreme('min', 'smallest', reductions.minimum, least),
  extreme('max', 'largest', reductions.maximum, greatest),
  {
    name: 'count',
    group: 'lists',
    signature: 'count(list)',
    summary: 'The number of known elements; for a list of bools, the number that are true.',
    arity: [1, 1],
    domain: [['numbers'], ['bools'], ['texts'], ['times']],
    check: (call) => {
      const [list] = call.args;
      if (!isKind(call, 0, 'list') || list?.type.kind !== 'list') return undefined;
      const { kind } = list.type.of;
      const build =
        kind === 'text' || kind === 'ref'
          ? reductions.countTexts
          : reductions.reducing(kind === 'bool' ? reductions.countTrue : reductions.countNumbers);
      return operation(call.node, NUMBER, [list], build);
    },
  },
  {
    name: 'norm',
    group: 'lists',
    signature: 'norm(list)',
    summary: 'The length of a list or a vector: the square root of the sum of the squares (Euclidean norm).',
    arity: [1, 1],
    domain: COUNTED,
    check: (call) => reduceNumbers(call, elements.norm),
  },
  {
    name: 'first',
    group: 'lists',
    signature: 'first(list)',
    summary: 'The first element of a list or a vector, like `list[0]`; absent if the list is empty.',
    arity: [1, 1],
    domain: [['numbers'], ['bools'], ['texts'], ['times'], ['vector']],
    check: (call) => endOf(call, elements.first, elements.textElement(0)),
  },
  {
    name: 'last',
    group: 'lists',
    signature: 'last(list)',
    summary: 'The last element of a list or a vector; absent if the list is empty.',
    arity: [1, 1],
    domain: [['numbers'], ['bools'], ['texts'], ['times'], ['vector']],
    check: (call) => endOf(call, elements.last, elements.lastText),
  },
  {
    name: 'vector',
    group: 'lists',
    signature: 'vector(list, n)',
    summary: 'The list of numbers as a vector(n); absent if the list does not have exactly n known elements.',
    arity: [2, 2],
    domain: [['numbers', { written: ['8', '1'] }]],
    check: toVector,
  },
  {
    name: 'any',
    group: 'lists',
    signature: 'any(list)',
    summary: 'Whether at least one element is true; false for an empty list.',
    arity: [1, 1],
    domain: [['bools']],
    check: (call) => reduceBools(call, reductions.any),
  },
  {
    name: 'all',
    group: 'lists',
    signature: 'all(list)',
    summary: 'Whether every element is true; true for an empty list.',
    arity: [1, 1],
    domain: [['bools']],
    check: (call) => reduceBools(call, reductions.all),
  },
];

function reduceNumbers(call: Call, reduce: reductions.Reduction): Operand | undefined {
  return reduceList(call, 'a list of numbers or bools, or a vector', countsAsNumber, reduce, NUMBER);
}

/** The first or the last element, with its type. */
function endOf(call: Call, reduce: reductions.Reduction, ofTexts: BuildKernel): Operand | undefined {
  const [list] = call.args;
  if (list?.type.kind === 'list' && isTextual(list.type.of))
    return operation(call.node, list.type.of, [list], ofTexts);
  return reduceList(call, 'a list or a vector', () => true, reduce);
}

/** The largest size that a vector can be declared with. */
const MAX_VECTOR = 16_384;

function toVector(call: Call): Operand | undefined {
  const [list, length] = call.args;
  const size = length?.tag === 'constant' && typeof length.value === 'number' ? length.value : NaN;
  const isSize = Number.isInteger(size) && size >= 1 && size <= MAX_VECTOR;
  if (!isSize) wrongNumber(call, 1, `a size from 1 to ${MAX_VECTOR}`, 'for example `vector(list, 64)`');
  if (list?.type.kind !== 'list' || list.type.of.kind !== 'number') {
    const isVector = list?.type.kind === 'vector';
    wrongArgument(
      call,
      0,
      'a list of numbers',
      undefined,
      isVector ? 'a vector needs no conversion' : undefined,
    );
    return undefined;
  }
  if (!isSize) return undefined;
  return operation(call.node, { kind: 'vector', size }, call.args, elements.listToVector(size));
}

function reduceBools(call: Call, reduce: reductions.Reduction): Operand | undefined {
  return reduceList(call, 'a list of bools, such as `list > 0`', ({ kind }) => kind === 'bool', reduce, BOOL);
}

/** @param type the type of the result; by default the type of the elements */
function reduceList(
  call: Call,
  expected: string,
  accepts: (of: ElementType) => boolean,
  reduce: reductions.Reduction,
  type?: ElementType,
): Operand | undefined {
  const [list] = call.args;
  if (list?.type.kind === 'vector' && accepts(NUMBER))
    return operation(call.node, NUMBER, [list], elements.reducingVector(reduce));
  if (list?.type.kind !== 'list' || !accepts(list.type.of)) {
    wrongArgument(call, 0, expected);
    return undefined;
  }
  return operation(call.node, type ?? list.type.of, [list], reductions.reducing(reduce));
}

/** `min` and `max`, of the elements of a list or of two or more values. */
function extreme(name: string, which: string, reduce: reductions.Reduction, loop: NumberLoop): FunctionEntry {
  return {
    name,
    group: 'lists',
    signature: `${name}(list)`,
    summary: `The ${which} known element of a vector or a list of numbers or times; absent if there is none. \`${name}(a, b, …)\` is the ${which} of two or more values.`,
    arity: [1, Infinity],
    domain: [
      ['numbers'],
      ['times'],
      ['vector'],
      ['number', 'number'],
      ['time', 'time'],
      ['number', 'number', 'number'],
    ],
    check: (call) => {
      const [first, ...others] = call.args;
      if (first === undefined) return undefined;
      if (others.length === 0) {
        const expected = 'a list of numbers or times, or two or more of them';
        return reduceList(call, expected, ({ kind }) => kind === 'number' || kind === 'time', reduce);
      }
      const kind = first.type.kind === 'time' ? 'time' : 'number';
      if (!areAll(call, kind)) return undefined;
      return others.reduce(
        (best: Operand, other) => operation(call.node, first.type, [best, other], onNumbers(loop, 'none')),
        first,
      );
    },
  };
}
