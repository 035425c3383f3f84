import { isKnown, Status } from '../../../ground/api/status.js';
import { referrerMedium } from '../../../ground/core/referrer.js';
import type { BuildKernel } from '../operand.js';
import { causeAt, rowsOf } from './rows.js';
import { computeCostly, textAt } from './text-rows.js';

/** The medium of a referrer. The further arguments are hosts of the shop. */
export const referrerOf: BuildKernel = (out, args) => {
  const [slot = -1, ...hosts] = args;
  const address = [slot];
  return (frame) => {
    const result = frame.text(out);
    const urls = frame.text(slot);
    return computeCostly(rowsOf(frame, result), (row) => {
      const cause = causeAt(frame, address, row);
      result.status[row] = cause;
      if (cause !== Status.present) {
        result.values[row] = '';
        return;
      }
      const own: string[] = [];
      for (const one of hosts) {
        const column = frame.text(one);
        if (isKnown(column.status[row * column.stride])) own.push(textAt(column, row));
      }
      result.values[row] = referrerMedium(textAt(urls, row), own);
    });
  };
};
