import { nearest } from '../../ground/core/nearest.js';
import { englishName, foldedName } from '../../project/foreign/header-words.js';
import { UsageError } from '../../project/config/diagnostics/failure.js';
import { InputError } from '../../project/rows/rows.js';

/** The columns that make a judgment. */
const ROLES = ['query', 'id', 'grade'] as const;
type Role = (typeof ROLES)[number];
/** Names that the user gives to columns. */
export type Columns = Readonly<Partial<Record<Role, string>>>;

/** Other usual names of the columns. */
const USUAL_NAMES: Readonly<Record<Role, readonly string[]>> = {
  query: ['query', 'query_text', 'query_id', 'qid'],
  id: ['id', 'product_id', 'item_id', 'sku', 'docid', 'doc_id', 'candidate_id', 'document_id'],
  grade: ['grade', 'rating', 'relevance', 'label', 'judgment'],
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
  const roleOf = (role: Role): string => {
    const given = columns[role];
    if (given !== undefined) {
      if (names.includes(given)) return given;
      const near = nearest(given, names);
      throw new InputError(`${path} has no column ${given}; it has ${names.join(', ')}`, {
        ...(near === undefined ? {} : { help: `did you mean ${near}?` }),
      });
    }
    const usual = role === 'id' ? [candidateKey, ...USUAL_NAMES.id] : USUAL_NAMES[role];
    const found =
      usual.find((name) => names.includes(name)) ??
      names.find((name) => [foldedName(name), englishName(name)].some((one) => usual.includes(one)));
    if (found !== undefined) return found;
    const taken = [candidateKey, ...Object.values(USUAL_NAMES).flat(), ...Object.values(columns)];
    const free = names.find((name) => !taken.includes(name));
    throw new InputError(`${path} has no column ${usual.join(' or ')}; it has ${names.join(', ')}`, {
      help: `name the column of the ${role}: --columns ${role}=${free ?? 'NAME'}`,
    });
  };
  return { query: roleOf('query'), id: roleOf('id'), grade: roleOf('grade') };
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
