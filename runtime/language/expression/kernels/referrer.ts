import { isKnown, Status } from '../../../ground/api/status.js';
import { referrerMedium } from '../../../ground/core/referrer.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, rowsOf } from './rows.js';

/** The medium of a referrer. The further arguments are hosts of the shop. */
export const referrerOf: BuildKernel = (out, args) => {
  const [slot = -1, ...hosts] = args;
  return (frame) => {
    const result = frame.text(out);
    const urls = frame.text(slot);
    const rows = rowsOf(frame, result);
    for (let row = 0; row < rows; row++) {
      const cause = causeAt(frame, [slot], row);
      result.status[row] = cause;
      if (cause !== Status.present) {
        result.values[row] = '';
        continue;
      }
      const own: string[] = [];
      for (const one of hosts) {
        const column = frame.text(one);
        const at = row * column.stride;
        if (isKnown(column.status[at])) own.push(column.values[at] as string);
      }
      result.values[row] = referrerMedium(urls.values[row * urls.stride] as string, own);
    }
  };
};
