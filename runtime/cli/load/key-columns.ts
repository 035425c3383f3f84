import { nearest } from '../../ground/core/nearest.js';
import { InputError } from '../../project/rows/rows.js';

/**
 * Rejects a file whose header has no column for a key, because every row would be rejected.
 * @param remedy returns the remedy for the message, given the column that was most likely meant
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
  throw new InputError(`there is no column ${missing.join(' or ')}; found ${found}`, { help: remedy(near) });
}

/** Like `checkKeyColumns`, for feature rows of a view. @throws InputError */
export function checkRowColumns(view: string, keys: readonly string[], columns: readonly string[]): void {
  checkKeyColumns(
    keys,
    columns,
    (near) =>
      `rename ${near ?? 'the column that holds the id'}; rows of ${view} have the keys ${keys.join(', ')}`,
  );
}
