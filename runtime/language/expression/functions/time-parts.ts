import * as parts from '../../../ground/core/calendar.js';
import { isZone, nearestZone } from '../../../ground/core/zone-offsets.js';
import { partInZone, partOfTime, type TimePart } from '../kernels/time-parts.js';
import type { Operand } from '../operand.js';
import { operation } from '../operation.js';
import { BOOL, NUMBER } from '../types.js';
import { isKind, wrongArgument, type Call, type FunctionEntry } from './function-entry.js';

function part(
  name: string,
  summary: string,
  f: TimePart,
  type: typeof NUMBER | typeof BOOL = NUMBER,
): FunctionEntry {
  return {
    name,
    group: 'time',
    signature: `${name}(t, zone)`,
    summary: `${summary} In UTC without a zone.`,
    arity: [1, 2],
    domain: [
      ['time'],
      ['time', { written: ['"Europe/Berlin"', '"Asia/Kathmandu"'] }],
      ['time', { like: ['Europe/Berlin', 'America/New_York', 'UTC'] }],
    ],
    check: (call) => {
      const isTime = isKind(call, 0, 'time');
      const zone = call.args[1];
      if (!checkZone(call, zone) || !isTime) return undefined;
      return operation(call.node, type, call.args, zone === undefined ? partOfTime(f) : partInZone(f));
    },
  };
}

const NAME_HELP = 'write an IANA name, such as "Europe/Berlin" or "UTC"';

/** A zone is an IANA name. One that stands in the expression is checked when the pipeline is loaded. */
function checkZone(call: Call, zone: Operand | undefined): boolean {
  if (zone === undefined) return true;
  if (zone.type.kind !== 'text') {
    wrongArgument(call, 1, 'the name of a time zone', undefined, NAME_HELP);
    return false;
  }
  if (zone.tag !== 'constant' || isZone(String(zone.value))) return true;
  const guess = nearestZone(String(zone.value));
  call.checker.problem(
    'expression_arguments',
    zone.node,
    `there is no time zone ${call.checker.label(zone)}`,
    guess === undefined ? NAME_HELP : `did you mean "${guess}"?`,
  );
  return false;
}

export const TIME_PART_FUNCTIONS: readonly FunctionEntry[] = [
  part('hour', 'The hour of the day, 0 to 23.', parts.hour),
  part('minute', 'The minute of the hour, 0 to 59.', parts.minute),
  part('second', 'The second of the minute, 0 to 59.', parts.second),
  part('weekday', 'The day of the week: 1 is Monday, 7 is Sunday (ISO 8601).', parts.weekday),
  part('is_weekend', 'Whether the day is a Saturday or a Sunday.', parts.isWeekend, BOOL),
  part('day_of_month', 'The day of the month, 1 to 31.', parts.dayOfMonth),
  part('month', 'The month, 1 to 12.', parts.month),
  part('year', 'The year.', parts.year),
];
