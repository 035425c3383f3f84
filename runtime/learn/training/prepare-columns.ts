import { open, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { DataFrame, NotInData, type DataInput } from './data-frame.js';
import type { LearnedStep } from './learned-step.js';
import { modelColumns, spreadVectors, type ModelColumn } from './model-columns.js';
import { isKnown } from '../../ground/api/status.js';
import { CommandFailure } from '../../project/config/diagnostics/failure.js';
import { readRequests, type DataFolder, type Split } from './data-files.js';

/** The columns of a model over a data set. */
export interface PreparedColumns {
  readonly columns: readonly ModelColumn[];
  /** By column. */
  readonly inputs: readonly DataInput[];
  readonly frame: DataFrame;
  /** The columns of the old model that the new one does not have. */
  readonly old: readonly string[];
}

/** In the place of names: all numbers that the step can read. */
const ALL = 'all';

/**
 * Finds what each column of a step's model is in a data set.
 * @param asked the values that the user names
 * @throws CommandFailure if the data set lacks a value
 */
export function prepareColumns(
  step: LearnedStep,
  data: DataFolder,
  asked: readonly string[] | undefined,
): PreparedColumns {
  if (asked !== undefined && Array.isArray(step.options.inputs))
    throw new CommandFailure(
      `the step ${step.name} lists its columns under \`inputs:\`, so --columns cannot change them`,
      `change the list in ${step.definition.file.path}, or leave --columns out`,
    );
  const named = new Set(data.features.map(({ name }) => name));
  const isKnown = (name: string): boolean => named.has(name) || step.definition.define.has(name);
  const numbers = usableNumbers(step, data);
  const wanted = asked?.flatMap((one) => (one === ALL ? numbers : [one]));
  const chosen = modelColumns(step, wanted && [...new Set(wanted)], numbers, isKnown);
  const columns = spreadVectors(chosen, (name) => named.has(name));
  if (columns.length === 0)
    throw new CommandFailure(
      `the data set has no number that ${step.name} can read`,
      'name values with --columns, or give `inputs:` to the step',
    );
  const frame = new DataFrame(data.features, step.names, step.definition);
  const problems: string[] = [];
  let help: string | undefined;
  const inputs = columns.flatMap((column) => {
    try {
      const input = inputOf(column, frame);
      if (input.input.kind === 'number' || input.input.kind === 'text') return [input];
      problems.push(`the column ${column.name} needs a number or a text, and \`${column.text}\` is neither`);
    } catch (error) {
      if (!(error instanceof NotInData)) throw error;
      problems.push(`the column ${column.name} of ${step.name}: ${error.message}`);
      help ??= error.help;
    }
    return [];
  });
  if (problems.length > 0)
    throw new CommandFailure(
      problems.join('\n'),
      help ??
        `log these values under \`log: features:\` in ${step.definition.file.path}, and build the data set again`,
    );
  const old = step.oldColumns?.filter((column) => !columns.some(({ name }) => name === column)) ?? [];
  return { columns, inputs, frame, old };
}

/**
 * An expression is computed from the values that it names. If they were not logged, its own logged value is used, which a
 * ranking has if the step served already.
 */
function inputOf({ text, loggedAs }: ModelColumn, frame: DataFrame): DataInput {
  try {
    return frame.expression(text);
  } catch (error) {
    const logged = loggedAs === undefined ? undefined : frame.feature(loggedAs);
    if (logged !== undefined) return logged;
    throw error;
  }
}

/** The columns that have the same value in all rows of the train part, or none. A model learns nothing from them. */
export function constantColumns({ columns, inputs }: PreparedColumns): string[] {
  return columns.flatMap(({ name }, at) => (inputs[at]?.feature?.isConstant === true ? [name] : []));
}

/** The numbers of the data set that the pipeline can read before the step. */
function usableNumbers({ names, later }: LearnedStep, { features }: DataFolder): string[] {
  return features.flatMap(({ name, type }) => {
    if (type !== 'number') return [];
    const [first = '', ...rest] = name.replace(/\[\d+\]$/, '').split(':');
    // The name of an expression in options is not one that other expressions can use.
    if (rest.length > 1 || rest[0]?.includes('.') === true) return [];
    if (rest.length === 1 && later.has(first)) return [];
    const meant =
      rest.length === 1
        ? names.feature(first, rest[0] ?? '')
        : first.includes('.')
          ? names.path(first.split('.'))
          : names.name(first);
    return 'slot' in meant ? [name] : [];
  });
}

/** Files with the values of computed columns, by column and part of the data set. */
export type ColumnFiles = ReadonlyMap<ModelColumn, Readonly<Record<Split, string>>>;

/** Computes the columns that are no features, and writes them to files for Python. */
export async function writeComputed(
  { columns, inputs, frame }: PreparedColumns,
  data: DataFolder,
  folder: string,
  onRows: (rows: number) => void,
): Promise<ColumnFiles> {
  const computed = columns.flatMap((column, at) => {
    const input = inputs[at];
    return input === undefined || input.feature !== undefined ? [] : [{ column, input: input.input, at }];
  });
  const files = new Map<ModelColumn, Record<Split, string>>();
  if (computed.length === 0) return files;
  let rows = 0;
  for (const split of ['train', 'holdout'] as const) {
    const open = await Promise.all(
      computed.map(async ({ column, input, at }) => {
        const path = join(folder, `${split}-${at}.bin`);
        files.set(column, { ...(files.get(column) ?? { train: '', holdout: '' }), [split]: path });
        return { input, writer: input.kind === 'text' ? new TextFile(path) : await NumberFile.open(path) };
      }),
    );
    for await (const request of readRequests(data, split)) {
      const filled = frame.fill(request.rows, request.time);
      for (const { input, writer } of open) {
        const { values, status, stride } = filled.columns[input.slot] as {
          readonly values: ArrayLike<number | string>;
          readonly status: Uint8Array;
          readonly stride: 0 | 1;
        };
        for (let row = 0; row < filled.count; row++)
          writer.add(isKnown(status[row * stride]) ? values[row * stride] : undefined);
        await writer.flush();
      }
      onRows((rows += request.rows.length));
    }
    for (const { writer } of open) await writer.end();
  }
  return files;
}

/** Numbers as float64, little-endian; NaN for an unknown value. */
class NumberFile {
  readonly #handle: FileHandle;
  #bytes = Buffer.alloc(1 << 16);
  #used = 0;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  static async open(path: string): Promise<NumberFile> {
    return new NumberFile(await open(path, 'w'));
  }

  add(value: number | string | undefined): void {
    if (this.#used === this.#bytes.length) {
      const larger = Buffer.alloc(2 * this.#bytes.length);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    this.#used = this.#bytes.writeDoubleLE(typeof value === 'number' ? value : NaN, this.#used);
  }

  async flush(force = false): Promise<void> {
    if (this.#used < 1 << 15 && !force) return;
    await this.#handle.writeFile(this.#bytes.subarray(0, this.#used));
    this.#used = 0;
  }

  async end(): Promise<void> {
    await this.flush(true);
    await this.#handle.close();
  }
}

/** Texts as a JSON list; null for an unknown value. */
class TextFile {
  readonly #texts: (string | null)[] = [];

  constructor(private readonly path: string) {}

  add(value: number | string | undefined): void {
    this.#texts.push(typeof value === 'string' ? value : null);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  async end(): Promise<void> {
    await writeFile(this.path, JSON.stringify(this.#texts));
  }
}
