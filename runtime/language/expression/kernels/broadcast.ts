import type { Column } from '../../../ground/api/columns.js';
import { copyCell } from '../../frame/cells.js';
import type { Kernel } from '../environment.js';
import { cellByCell } from './choice.js';

/** Copies the one cell of the request, with its status, to every candidate's row. */
export function broadcast(out: number, from: number): Kernel {
  return (frame) => {
    const one = frame.columns[from] as Column;
    const all = frame.columns[out] as Column;
    if (one.kind === 'number' && all.kind === 'number') {
      all.values.fill(one.values[0] ?? NaN, 0, frame.count);
      all.status.fill(one.status[0] ?? 0, 0, frame.count);
      return undefined;
    }
    return cellByCell(all, frame.count, (row) => copyCell(one, 0, all, row));
  };
}
