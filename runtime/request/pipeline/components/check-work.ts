/** Gives a component its columns for a request, and checks these and its result. An error here is a fault of the component. */
import type { Column, ColumnOf } from '../../../ground/api/columns.js';
import type {
  FeatureComponent,
  OutputKind,
  RuleReport,
  Selection,
  StepOutput,
} from '../../../ground/api/component.js';
import { DEFAULTED, isKnown, Status, statusAt } from '../../../ground/api/status.js';
import type { PlannedStep } from '../../compile/plan.js';
import { writeMissing } from '../../../language/frame/cells.js';
import { copyColumn } from '../../../language/frame/copy-column.js';
import { looseColumn, type Frame } from '../../../language/frame/frame.js';

/** By status byte: 1 if the status exists. */
const IS_STATUS = new Uint8Array(256);
for (const status of Object.values(Status)) {
  IS_STATUS[status] = 1;
  if (!isKnown(status)) IS_STATUS[DEFAULTED | status] = 1;
}

/** @param own gets copies of the columns, for a component that may keep what it writes; undefined: it writes to the frame */
export function outputsOf(step: PlannedStep, frame: Frame, own: Map<number, Column> | undefined): StepOutput {
  const column = (output: string): Column => {
    const at = step.outputs.get(output);
    if (at === undefined) throw new Error(`${step.use} declares no output ${output}`);
    const shared = frame.columns[at] as Column;
    if (own === undefined) return shared;
    const found = own.get(at) ?? copyColumn(shared, frame.count, (like) => like.slice());
    own.set(at, found);
    return found;
  };
  return {
    number: (output) => column(output) as ColumnOf<'number'>,
    text: (output) => column(output) as ColumnOf<'text'>,
  };
}

/**
 * Checks the columns that a step wrote. It also makes the cells of a number column consistent: a number is known exactly
 * if it is finite.
 * @throws Error that describes the fault
 */
export function settleOutputs(step: PlannedStep, frame: Frame, own?: ReadonlyMap<number, Column>): void {
  const { outputs } = step.component as FeatureComponent;
  for (const [output, slot] of step.outputs) {
    const shared = frame.columns[slot];
    const column = own?.get(slot) ?? shared;
    if (column === undefined || shared === undefined) continue;
    checkShape(output, column, frame.count);
    if (column.kind === 'number') settleNumbers(output, outputs[output], column, frame.count);
    else if (column.kind === 'text') settleTexts(output, column, frame.count);
    if (column !== shared) adopt(column, shared, frame.count);
  }
}

/** Copies the rows of a plugin's own column. */
function adopt({ values, status }: Column, { values: into, status: statusInto }: Column, rows: number): void {
  for (let row = 0; row < rows; row++) {
    into[row] = values[row] as never;
    statusInto[row] = status[row] as number;
  }
}

/**
 * Marks every cell of the outputs as failed. It makes new columns, because work of the failed step may still write to the
 * old ones.
 */
export function failOutputs({ outputs }: PlannedStep, frame: Frame): void {
  for (const slot of outputs.values()) {
    const column = looseColumn(frame.shape(slot), frame.count);
    for (let row = 0; row < frame.count; row++) writeMissing(column, row, Status.failed);
    frame.columns[slot] = column;
  }
}

/** Checks the arrays of a column, because a component may replace them. */
function checkShape(output: string, { kind, values, status }: Column, rows: number): void {
  const fits = kind === 'number' ? values instanceof Float64Array : Array.isArray(values);
  if (!fits || !(status instanceof Uint8Array))
    throw new Error(
      `the column \`${output}\` holds other arrays: a ${kind} column has ${kind === 'number' ? 'a Float64Array' : 'a list'} of values and a Uint8Array of statuses`,
    );
  const rowsOf = Math.min(values.length, status.length);
  if (rowsOf < rows) throw new Error(`the column \`${output}\` has ${rowsOf} rows for ${rows} candidates`);
}

function settleNumbers(
  output: string,
  kind: OutputKind | undefined,
  { values, status }: Extract<Column, { kind: 'number' }>,
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    const byte = status[row] as number;
    if (IS_STATUS[byte] === 0) throw noStatus(output, row, byte);
    if (byte === Status.present && kind !== 'bool' && Number.isFinite(values[row])) continue;
    const known = isKnown(byte);
    if (known && !Number.isFinite(values[row])) {
      status[row] = Status.absent;
      values[row] = NaN;
    } else if (!known) {
      values[row] = NaN;
    } else if (kind === 'bool' && values[row] !== 0 && values[row] !== 1) {
      throw new Error(`the column \`${output}\` is bool: row ${row} holds ${values[row]}, expected 0 or 1`);
    }
  }
}

function settleTexts(
  output: string,
  { values, status }: Extract<Column, { kind: 'text' }>,
  rows: number,
): void {
  for (let row = 0; row < rows; row++) {
    const byte = statusAt(status, row);
    if (IS_STATUS[byte] === 0) throw noStatus(output, row, byte);
    if (!isKnown(byte)) values[row] = '';
    else if (typeof values[row] !== 'string')
      throw new Error(`the column \`${output}\` is text: row ${row} holds ${typeof values[row]}`);
  }
}

function noStatus(output: string, row: number, byte: number): Error {
  return new Error(
    `the column \`${output}\` has the status ${byte} in row ${row}: write one of \`Status\`, e.g. Status.present`,
  );
}

/** @throws Error if a filter did not return a selection */
export function checkSelection(selection: unknown): Selection {
  const { removed, reason, undecided } = (selection ?? {}) as Partial<Record<keyof Selection, unknown>>;
  if (Array.isArray(removed) && typeof reason === 'string' && Number.isInteger(undecided))
    return selection as Selection;
  throw new Error('`select` returned no selection: a filter returns { removed, reason, undecided }');
}

/** @throws Error if a rule did not return a report */
export function checkReport(report: unknown): RuleReport {
  const { applied, skipped } = (report ?? {}) as Partial<Record<keyof RuleReport, unknown>>;
  if (Number.isInteger(applied) && Number.isInteger(skipped)) return report as RuleReport;
  throw new Error(
    '`apply` returned no report: a rule returns { applied, skipped }, two counts of candidates',
  );
}
