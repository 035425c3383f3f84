import type { BinaryOperator, UnaryNode } from './ast.js';
import { type Domain, type Form, pairs } from './domain.js';

/** `[]` is an element of a list. A sign is a `-` with one argument. */
export type Operator = BinaryOperator | UnaryNode['op'] | 'in' | 'not in' | '[]';

const NUMBERS = pairs('number', 'number');
const TIMES = pairs('time', 'time');
/** In arithmetic, true is 1 and false is 0. */
const COUNTED: Domain = [
  ...NUMBERS,
  ...pairs('number', 'bool'),
  ...pairs('bool', 'number'),
  ...pairs('bool', 'bool'),
];
const LOGIC = pairs('bool', 'bool');
const EQUALITY: Domain = [...NUMBERS, ...TIMES, ...LOGIC, ...pairs('text', 'text')];
const ORDER: Domain = [...NUMBERS, ...TIMES];

/** The first argument is the value; a list or choices follow. */
const MEMBERSHIP: Domain = [
  ['text', 'texts'],
  ['number', 'numbers'],
  ['time', 'times'],
  ['bool', 'bools'],
  ['text', 'text', 'text'],
  ['number', 'number', 'number'],
  ['time', 'time', 'time'],
  ['bool', 'bool', 'bool'],
  ...(['text', 'texts'] as const).map((kind): Form => [kind, { written: ['"a"'] }, { written: ['"b"'] }]),
  ...(['number', 'numbers'] as const).map((kind): Form => [kind, { written: ['1'] }, { written: ['2.5'] }]),
];
const INDEX: Form[1] = { written: ['0', '2'] };

/** What each operator takes, in the order in which its arguments are written. */
export const OPERATORS: Readonly<Record<Operator, Domain>> = {
  or: LOGIC,
  and: LOGIC,
  not: [['bool'], ['bools']],
  '==': EQUALITY,
  '!=': EQUALITY,
  '<': ORDER,
  '<=': ORDER,
  '>': ORDER,
  '>=': ORDER,
  in: MEMBERSHIP,
  'not in': MEMBERSHIP,
  '+': [...COUNTED, ...pairs('time', 'number'), ...pairs('number', 'time')],
  '-': [...COUNTED, ...TIMES, ...pairs('time', 'number'), ['number'], ['bool'], ['numbers'], ['bools']],
  '*': COUNTED,
  '/': COUNTED,
  '%': COUNTED,
  '[]': [
    ['numbers', INDEX],
    ['bools', INDEX],
    ['texts', INDEX],
    ['times', INDEX],
    ['vector', INDEX],
  ],
};
