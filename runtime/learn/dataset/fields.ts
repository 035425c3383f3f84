import type { Cells } from '../../state/ledger/cells.js';

/** The text of the record's row of a column. */
export function textOf(cells: Cells | undefined): string | undefined {
  const value = cells?.at(0);
  return typeof value === 'string' ? value : undefined;
}

/** NaN without a number. */
export function numberOf(cells: Cells | undefined): number {
  return cells?.numberAt(0) ?? NaN;
}

export function textsOf(cells: Cells | undefined): readonly string[] {
  const value = cells?.at(0);
  return Array.isArray(value) ? (value as readonly string[]) : [];
}
