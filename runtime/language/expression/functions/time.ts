import { timestampOf } from '../../../ground/core/timestamp.js';
import type { CallNode } from '../ast.js';
import { onNumbers } from '../kernels/elementwise.js';
import { multiply, type NumberLoop } from '../kernels/number-loops.js';
import { constant, type BuildKernel, type Operand } from '../operand.js';
import { operation } from '../operation.js';
import { NUMBER, TIME } from '../types.js';
import { isKind, type FunctionEntry } from './function-entry.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const readNow: BuildKernel = (out) => (frame) => {
  const column = frame.number(out);
  column.values[0] = frame.now;
  column.status[0] = 0;
};

/** An operation without arguments, not a constant: nothing that depends on the time may be computed at load. */
function now(node: CallNode): Operand {
  return operation(node, TIME, [], readNow);
}

/** The time from the second to the first argument, in units of `unit` milliseconds. */
function elapsedIn(unit: number): NumberLoop {
  return (out, o, a, ai, sa, b, bi, sb, n) => {
    for (let k = 0; k < n; k++) out[o + k] = ((a[ai + k * sa] as number) - (b[bi + k * sb] as number)) / unit;
  };
}

function age(name: string, unit: number, word: string): FunctionEntry {
  const loop = elapsedIn(unit);
  return {
    name,
    group: 'time',
    signature: `${name}(t)`,
    summary: `The age of the time in ${word}, with fractions; negative for a time in the future.`,
    arity: [1, 1],
    domain: [['time'], ['times']],
    check: (call) => {
      const [arg] = call.args;
      if (arg === undefined || !isKind(call, 0, 'time', true)) return undefined;
      const isList = arg.type.kind === 'list';
      const type = isList ? ({ kind: 'list', of: NUMBER } as const) : NUMBER;
      return operation(call.node, type, [now(call.node), arg], onNumbers(loop, isList ? 'right' : 'none'));
    },
  };
}

function span(name: string, unit: number): FunctionEntry {
  return {
    name,
    group: 'time',
    signature: `${name}(n)`,
    summary: `The milliseconds in n ${name}, to add to a time or to compare with a difference.`,
    arity: [1, 1],
    domain: [['number']],
    check: (call) => {
      if (!isKind(call, 0, 'number')) return undefined;
      const args = [...call.args, constant(call.node, NUMBER, unit)];
      return operation(call.node, NUMBER, args, onNumbers(multiply, 'none'));
    },
  };
}

export const TIME_FUNCTIONS: readonly FunctionEntry[] = [
  {
    name: 'now',
    group: 'time',
    signature: 'now()',
    summary: 'The time when the request started; the same for all candidates.',
    arity: [0, 0],
    domain: [[]],
    check: ({ node }) => now(node),
  },
  {
    name: 'time',
    group: 'time',
    signature: 'time("2026-01-31T08:00:00Z")',
    summary: 'A fixed time: a day, or a day and a time of day; UTC unless an offset such as +02:00 follows.',
    arity: [1, 1],
    domain: [[{ written: ['"2026-01-31T08:00:00Z"', '"1969-06-01"'] }]],
    check: ({ checker, node, args: [arg] }) => {
      const time = arg?.tag === 'constant' && typeof arg.value === 'string' ? timestampOf(arg.value) : NaN;
      if (!Number.isNaN(time)) return constant(node, TIME, time);
      checker.problem(
        'expression_arguments',
        arg?.node ?? node,
        `\`time\` takes a text with a day and time; ${arg === undefined ? 'nothing' : checker.label(arg)} is not one`,
        'write `time("2026-01-31")` or `time("2026-01-31T08:00:00Z")`',
      );
      return undefined;
    },
  },
  age('age_days', DAY, 'days'),
  age('age_hours', HOUR, 'hours'),
  span('days', DAY),
  span('hours', HOUR),
];
