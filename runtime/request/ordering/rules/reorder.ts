import type { AskOf, RuleKind } from '../rule-kind.js';
import { checkRows } from './rows.js';

/** Orders some rows among themselves, in the places that they have. */
export const reorder: RuleKind<AskOf<'reorder'>> = {
  strength: 0,
  take(ask, count) {
    const rows = Int32Array.from(ask);
    checkRows(rows, count);
    return rows;
  },
  rowsOf: (rows) => rows,
  sort(rows, list, count) {
    const isLeft = new Uint8Array(count);
    for (const row of list) isLeft[row] = 1;
    const isIn = new Uint8Array(count);
    for (const row of rows) isIn[row] = 1;
    const ordered = list.slice();
    let next = 0;
    for (let at = 0; at < ordered.length; at++) {
      if (isIn[ordered[at] ?? 0] === 0) continue;
      while (next < rows.length && isLeft[rows[next] ?? 0] === 0) next++;
      ordered[at] = rows[next++] ?? 0;
    }
    return ordered;
  },
};
