import type { ReadRows } from '../../ground/api/reader.js';
import type { JsonValue } from '../../ground/api/types.js';
import type { Pieces } from '../../ground/core/pieces.js';
import { misfit, showOf } from '../../ground/core/value-fit.js';
import type { FeatureDefinition } from '../../project/config/model/views.js';

/** A cell that could not be read, or whose value does not fit. */
export const FAILED = Symbol('failed');
export type Cell = JsonValue | undefined | typeof FAILED;

/** What a reader said of one key. */
export interface ReadRow {
  /** In the order of the features of the view; undefined: there is no row. */
  readonly cells: readonly Cell[] | undefined;
  /** Epoch milliseconds: of the event, or of the read if that is not known. */
  readonly time: number;
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** False if a cell is failed: the row is then not kept. */
  readonly isWhole: boolean;
}

export interface CheckedRows {
  /** By key; undefined: it could not be read. */
  readonly rows: readonly (ReadRow | undefined)[];
  readonly problem: string | undefined;
}

const PIECE = 256;

/**
 * Checks the rows of some keys against the types of a view.
 * @param count of the keys
 * @param readAt epoch milliseconds
 * @throws Error that says what a reader must return
 */
export function* checkRows(
  given: ReadRows,
  features: readonly FeatureDefinition[],
  count: number,
  readAt: number,
): Pieces<CheckedRows> {
  const problems = new Set<string>();
  const columns = columnsOf(given, features, count, problems);
  const { times, failed, problem } = given;
  const rows: (ReadRow | undefined)[] = [];
  let lost = 0;
  for (let key = 0; key < count; key++) {
    if (failed?.[key] === 1) {
      lost++;
      rows.push(undefined);
    } else {
      const cells = columns.map((column, i) =>
        column === undefined ? FAILED : fitting(column[key], features[i] as FeatureDefinition, problems),
      );
      const time = times?.[key] ?? NaN;
      rows.push({
        cells: cells.every((cell) => cell === undefined) ? undefined : cells,
        time: Number.isFinite(time) ? time : readAt,
        readAt,
        isWhole: !cells.includes(FAILED),
      });
    }
    if (key % PIECE === PIECE - 1) yield;
  }
  const [first] = problems;
  const counted = lost === 0 ? undefined : `${lost} of ${count} rows could not be read`;
  return { rows, problem: problem ?? counted ?? first };
}

function columnsOf(
  given: ReadRows,
  features: readonly FeatureDefinition[],
  count: number,
  problems: Set<string>,
): (readonly unknown[] | undefined)[] {
  const { columns } = (given as { readonly columns?: unknown } | undefined) ?? {};
  if (typeof columns !== 'object' || columns === null)
    throw new Error('`read` returned no rows: a reader returns { columns }');
  return features.map(({ name }) => {
    const column = Object.hasOwn(columns, name)
      ? (columns as Readonly<Record<string, unknown>>)[name]
      : undefined;
    if (Array.isArray(column) && column.length >= count) return column as readonly unknown[];
    problems.add(
      column === undefined
        ? `it returned no column \`${name}\``
        : `the column \`${name}\` is no list with a value for each key`,
    );
    return undefined;
  });
}

function fitting(value: unknown, feature: FeatureDefinition, problems: Set<string>): Cell {
  if (value === undefined || value === null) return value;
  const found = misfit(value as JsonValue, feature.type, showOf(feature));
  if (found === undefined) return value as JsonValue;
  if (problems.size === 0) problems.add(`\`${feature.name}\`: ${found.detail}`);
  return FAILED;
}
