import { ROLES } from './column-roles.js';
import { bestFit, plainName } from './name-fit.js';
import { isMost, isNumeric, MOST_DISTINCT, timeOf, type ColumnProfile } from './profile.js';

/** Texts with very many values are ids, and a model learns nothing from a column with one value. */
export function isFeature(column: ColumnProfile): boolean {
  if (column.lists > 0 || column.distinct.size < 2) return false;
  if (/^(column_\d+|unnamed|index)$/.test(plainName(column.path))) return false;
  if (timeOf(column) === 'text') return false;
  return isNumeric(column) || column.bools === column.filled || isText(column);
}

const MOST_CATEGORIES = 200;

function isText({ path, distinct }: ColumnProfile): boolean {
  return bestFit([path], ROLES.query) !== undefined || distinct.size <= MOST_CATEGORIES;
}

export function isFlag(column: ColumnProfile, rows: number): boolean {
  const { distinct, filled, lists, yesNos } = column;
  if (lists > 0) return false;
  if (isMost(yesNos, column)) return true;
  if ([...distinct].every((value) => /^\d{1,3}$/.test(value)) && distinct.has('0')) return true;
  return timeOf(column) !== undefined && filled < rows;
}

export function isPosition(column: ColumnProfile): boolean {
  return isMost(column.wholes, column) && column.least >= 0 && column.most < 100_000;
}

export function areListTexts(distinct: ReadonlySet<string>): boolean {
  const texts = [...distinct].slice(0, 100);
  return (
    texts.filter((text) => /^\s*\[.*\]\s*$/s.test(text) || /\S[|,; ]\S/.test(text)).length > texts.length / 2
  );
}

/** Whether a column has the same value in several rows. */
export function isRepeated({ distinct, filled }: ColumnProfile): boolean {
  return distinct.size < filled * 0.98 && distinct.size < MOST_DISTINCT;
}

/**
 * The first position of columns that hold where something happened in lists. In lists of 8, the positions 0 to 7 start
 * with 0. In positions from 1 to 8, 0 can mean none.
 */
export function firstPosition(columns: readonly ColumnProfile[], longestList: number): 0 | 1 {
  return columns.some(({ least, most }) => least <= 0 && most < longestList) ? 0 : 1;
}
