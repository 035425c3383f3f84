/** Checks the result and the columns of a component for a request. An error here is a fault of the component. */
import type { Column } from '../../../ground/api/columns.js';
import type { FeatureComponent, OutputKind, RuleReport, Selection } from '../../../ground/api/component.js';
import { DEFAULTED, isKnown, Status, statusAt } from '../../../ground/api/status.js';
import type { PlannedStep } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';

/** By status byte: 1 if the status exists. */
const IS_STATUS = new Uint8Array(256);
for (const status of Object.values(Status)) {
  IS_STATUS[status] = 1;
  if (!isKnown(status)) IS_STATUS[DEFAULTED | status] = 1;
}

/**
 * Checks the columns that a step wrote. It also makes the cells of a number column consistent: a number is known exactly
 * if it is finite.
 * @throws Error that describes the fault
 */
export function settleOutputs(step: PlannedStep, frame: Frame): void {
  const { outputs } = step.component as FeatureComponent;
  for (const [output, slot] of step.outputs) {
    const column = frame.columns[slot];
    if (column === undefined) continue;
    checkShape(output, column, frame.count);
    if (column.kind === 'number') settleNumbers(output, outputs[output], column, frame.count);
    else if (column.kind === 'text') settleTexts(output, column, frame.count);
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
    const byte = statusAt(status, row);
    if (IS_STATUS[byte] === 0) throw noStatus(output, row, byte);
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
