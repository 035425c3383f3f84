import type { JsonObject, JsonValue, ValueType } from '../../ground/api/types.js';
import { idText } from '../../ground/core/ids.js';
import { gradeProblem, type Judgment } from '../evaluation/judgments.js';
import { numberOf } from '../evaluation/text-rows.js';
import type { Console } from '../../ground/core/console.js';
import { openInput, type InputOptions } from '../../project/rows/open-input.js';
import { rolesOf, type Columns, type Roles } from './judgment-columns.js';
import type { JudgmentRows } from './judgment-rows.js';
import type { RequestShape } from './request-shape.js';

/** The columns that become parts of a request. */
type TableShape = Pick<RequestShape, 'candidateKey' | 'fields' | 'carried'>;

/**
 * Reads a file with a judgment a row.
 * @returns the names of its columns
 * @throws InputError
 */
export async function readTable(
  { stdin, checkStopped }: Console,
  { path, ...file }: { readonly path: string } & Pick<InputOptions, 'format' | 'formatFlag' | 'isForeign'>,
  columns: Columns,
  shape: TableShape,
  judgments: JudgmentRows,
): Promise<readonly string[]> {
  const types = new Map<string, ValueType>(shape.carried);
  for (const [name, type] of shape.fields) if (type !== undefined) types.set(name, type);
  let names: readonly string[] | undefined;
  let roles: Roles | undefined;
  const useColumns = (found: readonly string[]): void => {
    names = found;
    roles = rolesOf(found, columns, shape.candidateKey, path);
    // An id or a query keeps its leading zeros.
    for (const name of Object.values(roles)) types.delete(name);
  };
  const input = await openInput(path, {
    stdin,
    ...file,
    columnTypes: () => Promise.resolve(types),
    checkColumns: useColumns,
  });
  try {
    for await (const { rows, bad } of input.chunks()) {
      checkStopped?.();
      for (const { line, problem } of bad) judgments.add(input.unit, line, problem);
      for (const row of rows) {
        if (roles === undefined) useColumns(Object.keys(row.value));
        const judgment = roles === undefined ? 'the row is empty' : toJudgment(row.value, roles, shape);
        judgments.add(input.unit, row.line, judgment);
      }
    }
  } finally {
    await input.close();
  }
  return names ?? [];
}

/** Returns what is wrong with a row that is no judgment. */
function toJudgment(row: JsonObject, roles: Roles, { fields, carried }: TableShape): Judgment | string {
  const query = idText(row[roles.query]);
  if (query === undefined || query === '') return `expected a query in the column ${roles.query}`;
  const id = idText(row[roles.id]);
  if (id === undefined || id === '') return `expected an id in the column ${roles.id}`;
  const grade = gradeOf(row[roles.grade]);
  if (grade === undefined)
    return `${roles.grade}: expected a number, found ${JSON.stringify(row[roles.grade])}`;
  const problem = Number.isNaN(grade) ? undefined : gradeProblem(grade);
  if (problem !== undefined) return `${roles.grade}: ${problem}`;
  const others = pick(row, fields);
  const values = pick(row, carried);
  return {
    query,
    id,
    grade,
    ...(others === undefined ? {} : { context: others }),
    ...(values === undefined ? {} : { carried: values }),
  };
}

/** Returns NaN for an empty cell, and undefined for a value that is no number. */
function gradeOf(value: JsonValue | undefined): number | undefined {
  if (value === undefined || value === null) return NaN;
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  return value.trim() === '' ? NaN : numberOf(value.trim());
}

function pick(row: JsonObject, names: ReadonlyMap<string, unknown>): JsonObject | undefined {
  let found: Record<string, JsonValue> | undefined;
  for (const name of names.keys()) {
    const value = row[name];
    if (value !== undefined && value !== null) (found ??= {})[name] = value;
  }
  return found;
}
