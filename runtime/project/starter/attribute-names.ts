import { KEYWORDS } from '../config/project/reserved-names.js';
import { foldedName } from '../foreign/header-words.js';
import { plainName } from '../foreign/name-fit.js';

/**
 * The name of an attribute for each column: lower case, words joined by `_`. `Größe` becomes `grosse`, and a name without
 * a letter of ASCII becomes `column_3`. Two columns never get one name.
 */
export function attributeNames(
  columns: readonly string[],
  taken: Iterable<string> = [],
): ReadonlyMap<string, string> {
  const used = new Set<string>(taken);
  const names = new Map<string, string>();
  // A column that has a valid name keeps it, whatever comes before it.
  const byFit = [...columns.keys()].sort(
    (a, b) => Number(isPlain(columns[b])) - Number(isPlain(columns[a])) || a - b,
  );
  for (const at of byFit) {
    const column = columns[at] ?? '';
    names.set(column, freeName(nameOf(column, at), used));
  }
  return names;
}

/** The name, or the name with a number after it if it is used. The result counts as used. */
export function freeName(name: string, used: Set<string>): string {
  let free = name;
  for (let number = 2; used.has(free); number++) free = `${name}_${number}`;
  used.add(free);
  return free;
}

function isPlain(column = ''): boolean {
  return plainName(column) === column;
}

function nameOf(column: string, at: number): string {
  const plain = foldedName(column);
  if (plain === '') return `column_${at + 1}`;
  const name = /^[a-z]/.test(plain) ? plain : `n_${plain}`;
  return KEYWORDS.has(name) ? `${name}_value` : name;
}
