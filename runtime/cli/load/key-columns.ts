import { nearest } from '../../core/nearest.js';
import { InputError } from '../input/rows.js';

/**
 * Refuses a file that names its columns once and has none for a key: every row would be refused for that.
 * @param remedy what to do, given the column that was most likely meant
 * @throws InputError
 */
export function checkKeyColumns(
  keys: readonly string[],
  columns: readonly string[],
  remedy: (near: string | undefined) => string,
): void {
  const missing = keys.filter((key) => !columns.includes(key));
  const [first] = missing;
  if (first === undefined) return;
  const others = columns.filter((name) => !keys.includes(name));
  const near = nearest(first, others);
  const found = columns.length > 8 ? `${columns.slice(0, 8).join(', ')} …` : columns.join(', ');
  throw new InputError(`no column is called ${missing.join(' or ')}; found ${found}`, { help: remedy(near) });
}

/** As `checkKeyColumns`, for feature rows of a view. @throws InputError */
export function checkRowColumns(view: string, keys: readonly string[], columns: readonly string[]): void {
  checkKeyColumns(
    keys,
    columns,
    (near) => `rename ${near ?? 'the column that holds the id'}; rows of ${view} have ${keys.join(', ')}`,
  );
}
