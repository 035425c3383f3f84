import { isKnown, statusAt } from '../../../../runtime/ground/api/status.js';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import type {
  CompiledExpression,
  ElementType,
  Environment,
  ExpressionType,
  NameProblem,
  Source,
} from '../../../../runtime/language/expression/environment.js';
import { runKernelsAtOnce } from '../../../../runtime/language/expression/run-kernels.js';
import { columnKindFor, shapeFor } from '../../../../runtime/language/expression/types.js';
import { writeJson, writeMissing } from '../../../../runtime/language/frame/cells.js';
import type { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout, type Scope } from '../../../../runtime/language/frame/frame-layout.js';
import { nearest } from '../../../../runtime/ground/core/nearest.js';
import { Missing, type Outcome, type Single } from '../../../support/interpreter.js';

/** A named column of a test: `margin`, `product.price` or `view:feature`. */
export interface NamedColumn {
  readonly type: ExpressionType;
  readonly scope: Scope;
}

/** Resolves names to columns of a frame that the test fills. */
export class Table implements Environment {
  readonly layout = new FrameLayout();
  readonly #sources = new Map<string, Source>();

  constructor(columns: Readonly<Record<string, NamedColumn>>) {
    for (const [name, { type, scope }] of Object.entries(columns)) {
      this.#sources.set(name, { type, scope, slot: this.layout.add(shapeFor(type, scope), name) });
    }
  }

  name(name: string): Source | NameProblem {
    return this.#find(name);
  }

  path(segments: readonly string[]): Source | NameProblem {
    const found = this.#find(segments.join('.'));
    return 'problem' in found ? { ...found, segment: segments.length - 1 } : found;
  }

  feature(view: string, feature: string): Source | NameProblem {
    return this.#find(`${view}:${feature}`);
  }

  #find(name: string): Source | NameProblem {
    const source = this.#sources.get(name);
    if (source !== undefined) return source;
    const guess = nearest(name, this.#sources.keys());
    const help = guess === undefined ? {} : { help: `did you mean \`${guess}\`?` };
    return { problem: 'unknown_name', message: `nothing here is called \`${name}\``, ...help };
  }

  source(name: string): Source {
    const source = this.#sources.get(name);
    if (source === undefined) throw new Error(`no column ${name}`);
    return source;
  }
}

/** The names for the options of a step, which may use `position`. */
export class OptionTable extends Table {
  position(): 'served' {
    return 'served';
  }
}

/** Values by name: one for each candidate, or a single one for the request. */
export type Data = Readonly<Record<string, readonly Outcome[]>>;

/** Fills a frame like a request does. */
export function fill(frame: Frame, table: Table, data: Data, count: number, now: number): void {
  frame.reset(count, now);
  for (const [name, cells] of Object.entries(data)) {
    const column = frame.columns[table.source(name).slot];
    if (column === undefined) throw new Error(`no column ${name}`);
    cells.forEach((cell, row) => writeCell(column, row, cell));
  }
}

function writeCell(column: Column, row: number, cell: Outcome): void {
  if (cell instanceof Missing && !isKnown(cell.status)) writeMissing(column, row, cell.status);
  else if (Array.isArray(cell)) {
    writeJson(
      column,
      row,
      cell.map((element: Single | undefined) => element ?? null),
    );
  } else writeJson(column, row, cell as Single);
}

/** Runs an expression and returns its results as values: bools as bools, unknown elements as undefined. */
export function results(frame: Frame, { slot, type, scope, kernels }: CompiledExpression): Outcome[] {
  runKernelsAtOnce(kernels, frame);
  const column = frame.columns[slot];
  if (column?.kind !== columnKindFor(type)) throw new Error(`the result is no ${columnKindFor(type)} column`);
  if (column.stride !== (scope === 'request' ? 0 : 1)) throw new Error('the stride does not fit the scope');
  const rows = scope === 'request' ? 1 : frame.count;
  return Array.from({ length: rows }, (_, row) => readCell(column, type, row));
}

function readCell(column: Column, type: ExpressionType, row: number): Outcome {
  const status = statusAt(column.status, row);
  const isMissing = !isKnown(status);
  if (column.kind === 'number') {
    const value = column.values[row] ?? NaN;
    if (Number.isFinite(value) === isMissing) throw new Error(`value ${value} has status ${status}`);
    return isMissing ? new Missing(status) : typed(type as ElementType, value);
  }
  if (isMissing) return new Missing(status);
  if (column.kind === 'text') return column.values[row] ?? '';
  if (column.kind === 'vector') return [...column.values.slice(row * column.size, (row + 1) * column.size)];
  const [start, end] = [column.offsets[row] ?? 0, column.offsets[row + 1] ?? 0];
  const of = type.kind === 'list' ? type.of : undefined;
  const elements: (number | string)[] = [...column.values.slice(start, end)];
  return elements.map((element) => {
    if (element === '' || Number.isNaN(element)) return undefined;
    return typeof element === 'number' && of !== undefined ? typed(of, element) : element;
  });
}

function typed(type: ElementType, value: number): Single {
  return type.kind === 'bool' ? value === 1 : value;
}
