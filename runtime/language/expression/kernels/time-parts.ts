import { FARTHEST, zoneOffsets, type ZoneOffsets } from '../../../ground/core/zone-offsets.js';
import { isKnown } from '../../../ground/api/status.js';
import type { BuildKernel } from '../operand.js';
import { onNumber } from './elementwise.js';
import { applying } from './number-loops.js';
import { rowsOf, settle } from './rows.js';

/** A part of a local time in milliseconds. */
export type TimePart = (time: number) => number;

/** A part of a time in UTC. */
export function partOfTime(part: TimePart): BuildKernel {
  return onNumber(
    applying((time) => (Math.abs(time) <= FARTHEST ? part(Math.floor(time)) : NaN)),
    false,
  );
}

/** A part of a time in a zone: a text of the row. Without such a zone the result is absent. */
export function partInZone(part: TimePart): BuildKernel {
  return (out, args) => {
    const [timeSlot = -1, zoneSlot = -1] = args;
    return (frame) => {
      const result = frame.number(out);
      const times = frame.number(timeSlot);
      const names = frame.text(zoneSlot);
      const rows = rowsOf(frame, result);
      let name: string | undefined;
      let zone: ZoneOffsets | undefined;
      for (let row = 0; row < rows; row++) {
        const at = row * names.stride;
        // Candidates of one request mostly have one zone.
        if (row === 0 || (names.stride === 1 && names.values[at] !== name)) {
          name = names.values[at];
          zone = isKnown(names.status[at]) && name !== undefined ? zoneOffsets(name) : undefined;
        }
        const time = times.values[row * times.stride] as number;
        result.values[row] =
          zone !== undefined && Math.abs(time) <= FARTHEST ? part(Math.floor(time) + zone.at(time)) : NaN;
      }
      settle(frame, result, args);
    };
  };
}
