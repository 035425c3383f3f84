import type {
  Column,
  ColumnKind,
  ColumnOf,
  NumberColumn,
  TextColumn,
  TextsColumn,
  VectorColumn,
} from '../../ground/api/columns.js';
import type { CuratedRule } from '../../ground/api/curation.js';
import type { EntityIdentifier, Identifier } from '../../ground/api/identifiers.js';
import type { InteractionEvents } from '../../ground/api/interactions.js';
import type { ComponentEvent, FeatureValue, StepInput } from '../../ground/api/step-input.js';
import type { FeatureComponent, StepOutput } from '../../ground/api/component.js';
import type { Input } from '../../ground/api/input.js';
import { Status } from '../../ground/api/status.js';
import { keyedRandom } from '../../ground/core/keyed-random.js';
import { noEvents } from '../../state/store/codec/history-record.js';

/** A cell of a tested column: a value, or the status of an unknown value. */
export type Cell<T> = T | { readonly status: number };

export const absent = { status: Status.absent } as const;

/** The input of a component, with columns that the test defines. */
export class FakeStep implements StepInput {
  readonly rows: Int32Array;
  /** The interactions of the request's entity. The default is none. */
  events: InteractionEvents = noEvents(Status.present);
  now = 0;
  requestId = 'r1';
  /** Draws the numbers of `random`, which are the same in each FakeStep. */
  readonly #random = keyedRandom('test', this.requestId);
  signal: AbortSignal = new AbortController().signal;
  /** What the component emitted. */
  readonly emitted: ComponentEvent[] = [];
  readonly #columns: Column[] = [];

  /** @param rows the rows to process; the default is all rows */
  constructor(
    readonly count: number,
    rows?: readonly number[],
  ) {
    this.rows = Int32Array.from(rows ?? Array.from({ length: count }, (_, row) => row));
  }

  /** The active rules of the list that the component needs. */
  rules: readonly CuratedRule[] = [];

  curated(): readonly CuratedRule[] {
    return this.rules;
  }

  random(): number {
    return this.#random();
  }

  emit(event: ComponentEvent): void {
    this.emitted.push(event);
  }

  /** A number column with one cell per candidate. */
  number(cells: readonly Cell<number>[], text = 'number'): Input<'number'> {
    return this.#add(numberColumn(cells, 1), text);
  }

  /** A bool column with one cell per candidate. */
  bool(cells: readonly Cell<boolean>[], text = 'bool'): Input<'number'> {
    return this.number(
      cells.map((cell) => (typeof cell === 'boolean' ? Number(cell) : cell)),
      text,
    );
  }

  /** A text column with one cell per candidate. */
  text(cells: readonly Cell<string>[], text = 'text'): Input<'text'> {
    return this.#add(textColumn(cells, 1), text);
  }

  /** A text-list column with one cell per candidate. */
  texts(cells: readonly Cell<readonly string[]>[], text = 'texts'): Input<'texts'> {
    return this.#add(textsColumn(cells, 1), text);
  }

  /** A vector column with one cell per candidate. */
  vector(cells: readonly Cell<readonly number[]>[], size: number, text = 'vector'): Input<'vector'> {
    return { ...this.#add(vectorColumn(cells, size, 1), text), size };
  }

  /** One number for the whole request. */
  requestNumber(cell: Cell<number>): Input<'number'> {
    return this.#add(numberColumn([cell], 0), 'number');
  }

  /** One text for the whole request. */
  requestText(cell: Cell<string>): Input<'text'> {
    return this.#add(textColumn([cell], 0), 'text');
  }

  /** One list of texts for the whole request. */
  requestTexts(cell: Cell<readonly string[]>): Input<'texts'> {
    return this.#add(textsColumn([cell], 0), 'texts');
  }

  /** One vector for the whole request. */
  requestVector(cell: Cell<readonly number[]>, size: number): Input<'vector'> {
    return { ...this.#add(vectorColumn([cell], size, 0), 'vector'), size };
  }

  column<K extends ColumnKind>(input: Input<K>): ColumnOf<K> {
    const column = this.#columns[input.slot];
    if (column?.kind !== input.kind) throw new Error(`there is no ${input.kind} column ${input.slot}`);
    return column as unknown as ColumnOf<K>;
  }

  /** A copy of all that the component can read, to see later whether it was changed. */
  snapshot(): unknown {
    return structuredClone({ columns: this.#columns, rows: this.rows });
  }

  /** The candidates are p0, p1, … of the type `product`. */
  candidate(row: number): EntityIdentifier {
    return { type: 'product', id: `p${row}` };
  }

  interactions(): InteractionEvents {
    return this.events;
  }

  /** Values that `getFeature` returns, by name and id; an id without one is missing. */
  readonly features = new Map<string, Readonly<Record<string, FeatureValue>>>();

  getFeature(identifier: Identifier, name: string): FeatureValue {
    const values = this.features.get(name);
    if (values === undefined) throw new Error(`the test sets no feature ${name}`);
    const parts = Array.isArray(identifier)
      ? (identifier as readonly EntityIdentifier[])
      : [identifier as EntityIdentifier];
    const id = parts.map((part) => part.id).join(',');
    return values[id] ?? { value: undefined, status: 'missing_entity' };
  }

  #add<K extends ColumnKind>(column: Column & { readonly kind: K }, text: string): Input<K> {
    this.#columns.push(column);
    const scope = column.stride === 0 ? 'request' : 'candidate';
    return { kind: column.kind, slot: this.#columns.length - 1, text, scope };
  }
}

/** Runs a component and returns its outputs: by name, one cell per candidate. */
export async function compute(
  component: FeatureComponent,
  input: FakeStep,
): Promise<Record<string, Cell<number | string>[]>> {
  const columns = new Map<string, NumberColumn | TextColumn>();
  for (const [name, kind] of Object.entries(component.outputs)) {
    const cells = Array.from({ length: input.count }, () => absent);
    columns.set(name, kind === 'text' ? textColumn(cells, 1) : numberColumn(cells, 1));
  }
  const find = (name: string, kind: ColumnKind): Column => {
    const column = columns.get(name);
    if (column?.kind !== kind) throw new Error(`the component declares no ${kind} output ${name}`);
    return column;
  };
  const output: StepOutput = {
    number: (name) => find(name, 'number') as NumberColumn,
    text: (name) => find(name, 'text') as TextColumn,
  };
  await component.compute(input, output);
  return Object.fromEntries([...columns].map(([name, column]) => [name, cellsOf(column)]));
}

function numberColumn(cells: readonly Cell<number>[], stride: 0 | 1): NumberColumn {
  return {
    kind: 'number',
    stride,
    status: Uint8Array.from(cells, statusOf),
    values: Float64Array.from(cells, (cell) => (typeof cell === 'number' ? cell : NaN)),
  };
}

function textColumn(cells: readonly Cell<string>[], stride: 0 | 1): TextColumn {
  return {
    kind: 'text',
    stride,
    status: Uint8Array.from(cells, statusOf),
    values: cells.map((cell) => (typeof cell === 'string' ? cell : '')),
  };
}

function textsColumn(cells: readonly Cell<readonly string[]>[], stride: 0 | 1): TextsColumn {
  const lists = cells.map((cell) => ('status' in cell ? [] : cell));
  const offsets = new Int32Array(cells.length + 1);
  lists.forEach((list, row) => (offsets[row + 1] = (offsets[row] ?? 0) + list.length));
  return {
    kind: 'texts',
    stride,
    status: Uint8Array.from(cells, statusOf),
    values: lists.flat(),
    offsets,
  };
}

function vectorColumn(cells: readonly Cell<readonly number[]>[], size: number, stride: 0 | 1): VectorColumn {
  const values = new Float32Array(cells.length * size).fill(NaN);
  cells.forEach((cell, row) => {
    if (!('status' in cell)) values.set(cell, row * size);
  });
  return { kind: 'vector', stride, status: Uint8Array.from(cells, statusOf), size, values };
}

function statusOf(cell: Cell<number | string | readonly string[] | readonly number[]>): number {
  return typeof cell === 'object' && 'status' in cell ? cell.status : Status.present;
}

function cellsOf(column: NumberColumn | TextColumn): Cell<number | string>[] {
  return Array.from(column.status, (status, row) =>
    status === Status.present ? (column.values[row] ?? NaN) : { status },
  );
}
