import type { ColumnOf } from '../api/columns.js';
import { nearest } from '../core/nearest.js';
import { OptionError, tryEach } from '../api/option-error.js';
import type { BuildContext } from '../api/build-context.js';
import type { ModelBinding } from '../api/component.js';
import type { StepInput } from '../api/step-input.js';
import type { Input } from '../api/input.js';
import { isKnown } from '../api/status.js';
import { ByCode } from '../text/index.js';
import type { FeatureColumn } from '../api/tree-ensemble.js';
import { elementReader, spread, spreadNamed, type ColumnSource } from './vector-columns.js';

/**
 * The option `inputs:`, by the model's name of each column, or as a list in the model's order. A vector stands for as
 * many columns as it has elements.
 */
export type WrittenInputs = Readonly<Record<string, Input>> | readonly Input[];

/** The columns of a model file. */
export interface ModelColumns {
  /** The names in the model's order. */
  readonly names: readonly string[];
  /** Whether the names are only positions, such as Column_0. Such columns cannot be bound by name. */
  readonly unnamed: boolean;
  /** By column: the code that each category had in training. */
  readonly categories?: ReadonlyMap<number, ReadonlyMap<string | number, number>>;
}

/** Names that can be bound: a file must not inject a longer expression. */
const BINDABLE = /^[a-z][a-z0-9_]*([.:][a-z][a-z0-9_]*)*$/;

/**
 * Binds every column of a model: by `inputs:` if the option gives it, otherwise by name.
 * @throws OptionError at the place of a column that is missing, unused or of a wrong type
 */
export function bindModelInputs(
  columns: ModelColumns,
  written: WrittenInputs | undefined,
  build: Pick<BuildContext, 'needColumn'>,
): ModelInputs {
  const { names } = columns;
  if (isList(written)) {
    const sources = written.flatMap((input, at) => spread(input).map((source) => ({ source, at })));
    if (sources.length !== names.length) {
      const vectors = written.filter(({ kind }) => kind === 'vector');
      const spreads = vectors.map(({ text, size }) => `, of which \`${text}\` gives ${String(size)}`);
      throw new OptionError(
        ['inputs'],
        `the model has ${names.length} columns, and \`inputs\` has ${sources.length}${spreads.join('')}`,
        columns.unnamed ? undefined : `the columns are ${shortList(names)}`,
      );
    }
    // The elements of a vector follow one another, so only whole entries can be out of order.
    if (!columns.unnamed && sources.length === written.length) checkOrder(names, written);
    return new ModelInputs(
      columns,
      sources.map(({ source }) => source),
      (index) => ['inputs', sources[index]?.at ?? 0],
    );
  }
  const owners = new Map<string, string>();
  const given = new Map<string, ColumnSource>();
  for (const entries of tryEach(
    Object.entries(written ?? {}).map(
      ([name, input]) =>
        () =>
          spreadNamed(name, input, names).map(([column, source]) => ({ column, source, name })),
    ),
  )) {
    for (const { column, source, name } of entries) {
      given.set(column, source);
      owners.set(column, name);
    }
  }
  const isWhole = names.every((name) => given.has(name));
  if (columns.unnamed && !isWhole) {
    throw new OptionError(
      ['inputs'],
      `the columns of the model have no names, so \`inputs\` must give all ${names.length} in their order`,
      'write a list of expressions, e.g. inputs: [ product.price, stats:ctr_30d ]',
    );
  }
  const missing = names.filter((name) => !given.has(name));
  const unknown = new Map<string, string | undefined>();
  for (const name of given.keys())
    if (!names.includes(name)) unknown.set(name, nearest(name, missing) ?? nearest(name, names));
  const meant = new Set(unknown.values());
  const [, bound] = tryEach<readonly (ColumnSource | undefined)[]>([
    () =>
      tryEach(
        [...unknown].map(
          ([name, guess]) =>
            () =>
              refuseColumn(name, guess, names),
        ),
      ),
    () =>
      tryEach(
        names.map((name) => () => {
          const input = given.get(name);
          // The error at the misspelt name is enough.
          return input !== undefined || meant.has(name) ? input : { input: bindColumn(name, build) };
        }),
      ),
  ]);
  return new ModelInputs(
    columns,
    (bound ?? []).filter((input) => input !== undefined),
    (index) => {
      const name = names[index] ?? '';
      const owner = owners.get(name);
      return owner === undefined ? ['model'] : ['inputs', owner];
    },
  );
}

function refuseColumn(name: string, guess: string | undefined, names: readonly string[]): never {
  throw new OptionError(
    ['inputs', name],
    `the model has no column \`${name}\``,
    guess === undefined ? `it has ${shortList(names)}` : `did you mean \`${guess}\`?`,
    'key',
  );
}

function bindColumn(name: string, build: Pick<BuildContext, 'needColumn'>): Input {
  if (BINDABLE.test(name)) return build.needColumn(name, ['model']);
  throw new OptionError(
    ['inputs'],
    `the model's column \`${name}\` cannot be bound by name`,
    `give it under inputs, e.g. ${JSON.stringify(name)}: product.price`,
  );
}

/**
 * Checks that a list has the model's order. An element that only names a value, e.g. `stats:ctr`, must not name
 * another column than the one at its position. Any other expression may be at any position.
 * @throws OptionError at the first element that is out of order
 */
function checkOrder(names: readonly string[], written: readonly Input[]): void {
  const fits = written.map(({ text }) => names.map((name) => likeness(text, name)));
  const misplaced = written.flatMap((input, at) => {
    const own = fits[at]?.[at] ?? 0;
    const place = names.findIndex((_, other) => {
      const fit = fits[at]?.[other] ?? 0;
      // The last part of a name does not identify a column if the column has the same part already: `user:ctr` and
      // `item:ctr`.
      return fit > own && (fit === SAME || (fits[other]?.[other] ?? 0) < fit);
    });
    return place < 0 ? [] : [{ input, at, place }];
  });
  const [first] = misplaced;
  if (first === undefined) return;
  const expected = names[first.at] ?? '';
  const others = misplaced.length - 1;
  const more = others === 0 ? '' : `; ${others} more ${others === 1 ? 'is' : 'are'} out of order`;
  throw new OptionError(
    ['inputs', first.at],
    `expected column ${first.at + 1} of the model, \`${expected}\`; found \`${first.input.text}\`, ` +
      `which names its column ${first.place + 1}, \`${names[first.place] ?? ''}\`${more}`,
    `the model's order is ${shortList(names)}; to give the column this value on purpose, write a mapping: ` +
      `{ ${/^\w+$/.test(expected) ? expected : JSON.stringify(expected)}: ${first.input.text} }`,
  );
}

const SAME = 2;
const SAME_END = 1;

/**
 * How well an expression matches a column's name. SAME: equal except for separators. SAME_END: equal last parts. 0: no
 * match.
 */
function likeness(text: string, column: string): number {
  if (!/^[a-z]\w*([.:]\w+)*$/i.test(text.trim())) return 0;
  const parts = text.trim().toLowerCase().split(/[.:]/);
  const wanted = joined(column.toLowerCase().split(/[^a-z0-9]+/));
  if (joined(parts) === wanted) return SAME;
  return parts.some((_, from) => from > 0 && joined(parts.slice(from)) === wanted) ? SAME_END : 0;
}

function joined(parts: readonly string[]): string {
  return parts.join('_').replace(/_+/g, '_');
}

/** The bound columns of a model. `read` gives their values for a request; NaN stands for an unknown value. */
export class ModelInputs {
  /** What each column reads, in the model's order. */
  readonly bindings: readonly ModelBinding[];
  readonly #columns: (FeatureColumn | undefined)[] = [];
  readonly #readers: readonly ((step: StepInput) => FeatureColumn)[];

  constructor(
    { names, categories }: ModelColumns,
    sources: readonly ColumnSource[],
    pathOf: (index: number) => readonly (string | number)[],
  ) {
    const readerOf = (
      { input, element }: ColumnSource,
      index: number,
    ): ((step: StepInput) => FeatureColumn) => {
      const codes = categories?.get(index);
      if (isKind(input, 'vector') && element !== undefined) return elementReader(input, element);
      if (isKind(input, 'number')) {
        return codes === undefined
          ? (step) => step.column(input)
          : codeReader((step) => step.column(input), codes);
      }
      if (isKind(input, 'text') && codes !== undefined) {
        return codeReader((step) => step.column(input), codes);
      }
      const name = names[index] ?? '';
      throw new OptionError(
        pathOf(index),
        `the model's column \`${name}\` needs a number, and \`${input.text}\` is not one`,
        helpForKind(input),
      );
    };
    this.bindings = sources.map(({ input }, index) => {
      const codes = categories?.get(index);
      return {
        column: names[index] ?? '',
        input,
        ...(codes === undefined ? {} : { categories: codes.size }),
      };
    });
    this.#readers = tryEach(sources.map((source, index) => () => readerOf(source, index)));
  }

  /** The number of columns of the model. */
  get count(): number {
    return this.#readers.length;
  }

  /** The columns in the model's order. Every call returns the same array, so use it before the next call. */
  read(step: StepInput): readonly (FeatureColumn | undefined)[] {
    const readers = this.#readers;
    for (let index = 0; index < readers.length; index++) this.#columns[index] = readers[index]?.(step);
    return this.#columns;
  }
}

function helpForKind({ kind, text }: Input): string | undefined {
  switch (kind) {
    case 'text':
      return 'a text needs a model that knows its categories: train with a pandas category column';
    case 'numbers':
      return `write \`vector(${text}, n)\` for n columns, or one element as \`${text}[0]\``;
    default:
      return undefined;
  }
}

/** Reads a column as category codes. A value that training never saw is missing, as in training. */
function codeReader(
  find: (step: StepInput) => ColumnOf<'number'> | ColumnOf<'text'>,
  codes: ReadonlyMap<string | number, number>,
): (step: StepInput) => FeatureColumn {
  let coded = new Float64Array(0);
  const byCode = new ByCode((text) => codes.get(text) ?? -1);
  return (step) => {
    const column = find(step);
    const { status, stride } = column;
    const count = stride === 0 ? 1 : step.count;
    if (coded.length < count) coded = new Float64Array(Math.max(count, 2 * coded.length));
    const codeAt =
      column.kind === 'text'
        ? byCode.reader(column)
        : (row: number) => codes.get(column.values[row] as number) ?? -1;
    for (let row = 0; row < count; row++) {
      const code = isKnown(status[row]) ? codeAt(row) : -1;
      coded[row] = code < 0 ? NaN : code;
    }
    return { values: coded, stride };
  };
}

function isKind<K extends Input['kind']>(input: Input, kind: K): input is Input<K> {
  return input.kind === kind;
}

function isList(written: WrittenInputs | undefined): written is readonly Input[] {
  return Array.isArray(written);
}

function shortList(names: readonly string[]): string {
  const shown = names.slice(0, 8).join(', ');
  return names.length > 8 ? `${shown} and ${names.length - 8} more` : shown;
}
