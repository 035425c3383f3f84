import type { JsonObject, ValueType } from '../../ground/api/types.js';
import { idText } from '../../ground/core/ids.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { TIME_FORMS, timestampOf } from '../../ground/core/timestamp.js';
import { openInput } from '../../project/rows/open-input.js';
import { inFile, InputError } from '../../project/rows/rows.js';
import { kindsOf, metricsOf, type ReportPlan, type UnitFiles } from './report-plan.js';
import type { Act, Past } from './unit-lines.js';

/**
 * What units did, as a warehouse knows it; undefined for a row without a unit.
 * @throws InputError also if no row is of a kind that the metrics need
 */
export async function* outcomeActs(
  files: UnitFiles,
  path: string,
  plan: ReportPlan,
): AsyncGenerator<Act | undefined> {
  const metrics = metricsOf(plan);
  const sums = metrics.flatMap(({ value }) => (value.kind === 'sum' ? [value.of] : []));
  const columns = new Map<string, ValueType>([
    ['unit', { kind: 'string' }],
    ['time', { kind: 'timestamp' }],
    ['event', { kind: 'string' }],
    ...['value', ...sums].map((name): [string, ValueType] => [name, { kind: 'float' }]),
  ]);
  const needed = (names: readonly string[]): readonly string[] =>
    sums.every((name) => names.includes(name)) ? ['unit', 'time'] : ['unit', 'time', 'value'];
  const kinds = new Set<string>();
  for await (const { value: row, unit, place } of rowsOf(files, path, columns, needed)) {
    const event = idText(row['event']) ?? plan.metric.event;
    kinds.add(event);
    if (unit === undefined) {
      yield undefined;
      continue;
    }
    const time = timestampOf(row['time']);
    if (Number.isNaN(time)) throw new InputError(`${place}: \`time\`: expected ${TIME_FORMS}`);
    const values = metrics.map(({ value }) =>
      value.kind === 'sum' ? numberIn(row, row[value.of] === undefined ? 'value' : value.of, place) : 1,
    );
    yield { is: 'act', unit, event, time, values, team: undefined, identity: place, by: 'byFile' };
  }
  const wanted = [...kindsOf(plan)];
  if (wanted.every((kind) => !kinds.has(kind)))
    throw new InputError(
      kinds.size === 0
        ? `${path} has no row`
        : `${path} has no row of ${wanted.join(' or ')}; it has ${[...kinds].join(', ')}`,
      { help: 'the column `event` names the kind of a row; without it, all rows are of the primary metric' },
    );
}

/** The past of units from a file. @throws InputError */
export async function* pasts(files: UnitFiles, path: string): AsyncGenerator<Past> {
  const columns = new Map<string, ValueType>([
    ['unit', { kind: 'string' }],
    ['value', { kind: 'float' }],
    ['base', { kind: 'float' }],
  ]);
  for await (const { value: row, unit, place } of rowsOf(files, path, columns, () => ['unit', 'value']))
    if (unit !== undefined)
      yield {
        is: 'past',
        unit,
        value: numberIn(row, 'value', place) ?? 0,
        base: numberIn(row, 'base', place) ?? 1,
      };
}

interface UnitRow {
  readonly value: JsonObject;
  readonly unit: string | undefined;
  /** The file and the row, for messages. */
  readonly place: string;
}

async function* rowsOf(
  { stdin, shown }: UnitFiles,
  path: string,
  columns: ReadonlyMap<string, ValueType>,
  needed: (names: readonly string[]) => readonly string[],
): AsyncGenerator<UnitRow> {
  let checked: readonly string[] | undefined;
  const check = (names: readonly string[]): void => {
    checked = names;
    const missing = needed(names).find((name) => !names.includes(name));
    if (missing !== undefined)
      throw new InputError(`there is no column ${missing}; found ${names.join(', ')}`, {
        help: didYouMean(missing, names, AS_WORD) ?? `expected the columns ${needed(names).join(', ')}`,
      });
  };
  const input = await openInput(path, {
    stdin,
    columnTypes: () => Promise.resolve(columns),
    checkColumns: check,
  });
  try {
    for await (const { rows, bad } of input.chunks()) {
      for (const { line, problem } of bad) throw new InputError(`${input.unit} ${line}: ${problem}`);
      for (const { line, value } of rows) {
        if (checked === undefined) check(Object.keys(value));
        const id = idText(value['unit']);
        const unit = id === undefined || id === '' ? undefined : shown(id);
        yield { value, unit, place: `${path}: ${input.unit} ${line}` };
      }
    }
  } catch (error) {
    throw inFile(path, error);
  } finally {
    await input.close();
  }
}

/** @returns null for an empty cell */
function numberIn(row: JsonObject, column: string, place: string): number | null {
  const value = row[column] ?? null;
  if (value === null || (typeof value === 'number' && Number.isFinite(value))) return value;
  throw new InputError(`${place}: \`${column}\`: expected a number, found ${JSON.stringify(value)}`);
}
