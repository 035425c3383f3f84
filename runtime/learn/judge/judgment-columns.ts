import { nearest } from '../../ground/core/nearest.js';
import { englishName, foldedName } from '../../project/foreign/header-words.js';
import { ROLES as LOGGED } from '../../project/foreign/column-roles.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { InputError } from '../../project/rows/rows.js';

/** The columns that make a judgment. */
const ROLES = ['query', 'id', 'grade'] as const;
type Role = (typeof ROLES)[number];
/** Names that the user gives to columns. */
export type Columns = Readonly<Partial<Record<Role, string>>>;

/** Names of logs that may as well be those of a text of the product. */
const AMBIGUOUS: readonly string[] = ['text', 'content', 'article'];

const clear = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !AMBIGUOUS.includes(name));

/** Other usual names of the columns, the most certain first. */
const USUAL_NAMES: Readonly<Record<Role, readonly string[]>> = {
  query: ['query', 'query_text', 'query_id', 'qid', ...clear(LOGGED.query)],
  id: ['id', 'product_id', 'item_id', 'sku', 'docid', ...clear(LOGGED.item)],
  grade: ['grade', 'rating', 'relevance', 'label', 'judgment', 'judgement', 'relevancy', 'stars'],
};

/** The name of each column in a file. */
export type Roles = Readonly<Record<Role, string>>;

/**
 * Finds the columns of a judgment among those of a file.
 * @param candidateKey the field of the candidate's id: also a usual name of its column
 * @throws InputError if one is missing
 */
export function rolesOf(
  names: readonly string[],
  columns: Columns,
  candidateKey: string,
  path: string,
): Roles {
  const roleOf = (role: Role): string | undefined => {
    const given = columns[role];
    if (given === undefined) {
      const usual = role === 'id' ? [candidateKey, ...USUAL_NAMES.id] : USUAL_NAMES[role];
      return (
        usual.find((name) => names.includes(name)) ??
        names.find((name) => [foldedName(name), englishName(name)].some((one) => usual.includes(one)))
      );
    }
    if (names.includes(given)) return given;
    const near = nearest(given, names);
    throw new InputError(`${path} has no column ${given}; it has ${names.join(', ')}`, {
      ...(near === undefined ? {} : { help: `did you mean ${near}?` }),
    });
  };
  const [query, id, grade] = [roleOf('query'), roleOf('id'), roleOf('grade')];
  if (query !== undefined && id !== undefined && grade !== undefined) return { query, id, grade };
  const missing = Object.entries({ query, id, grade }).flatMap(([role, name]) =>
    name === undefined ? [role as Role] : [],
  );
  const free = names.filter((name) => ![query, id, grade].includes(name));
  // Which of several columns is which, only the user knows.
  const guess = missing.length === 1 ? free[0] : undefined;
  const what = `column of the ${missing.join(', the ')}`;
  throw new InputError(`${path} has no known ${what}; it has ${names.join(', ')}`, {
    help: `name the ${what}: --columns ${missing.map((role) => `${role}=${guess ?? 'NAME'}`).join(',')}`,
  });
}

/** Reads `query=NAME,id=NAME,grade=NAME`. @throws UsageError */
export function parseColumns(text: string): Columns {
  return parseRoles(text, ROLES);
}

/** Reads which column is what. @throws UsageError */
export function parseRoles<R extends string>(
  text: string,
  roles: readonly R[],
): Readonly<Partial<Record<R, string>>> {
  const columns: Partial<Record<R, string>> = {};
  for (const part of text.split(',')) {
    const [word = '', name = ''] = part.split('=').map((one) => one.trim());
    const role = roles.find((one) => one === word);
    if (role === undefined || name === '')
      throw new UsageError(
        `--columns ${text}: expected ${roles.map((one) => `${one}=NAME`).join(', ')}, separated by commas; found ${part}`,
      );
    columns[role] = name;
  }
  return columns;
}
