import { OptionError } from '../api/option-error.js';
import type { StepInput } from '../api/step-input.js';
import type { Input } from '../api/input.js';
import { isKnown, Status, statusAt } from '../api/status.js';
import {
  isFloat,
  numberFits,
  type NumericArray,
  type TensorData,
  type TensorSpec,
  type TensorType,
} from './tensor.js';

/** The replacement for a value that is not known. */
export type Missing = number | string | boolean;

/** The place of an expression in the rows of a tensor: element `at`, or the elements of a vector from there. */
export class TensorPart {
  /** The number of elements of each row. */
  readonly size: number;
  /** The replacement for an unknown value; undefined: rows with an unknown value cannot be scored. */
  readonly missing: number | string | undefined;
  readonly #fits: (value: number) => boolean;
  readonly #whole: boolean;

  /** @throws OptionError at `path` if the tensor cannot hold the type of the expression */
  constructor(
    { name, type }: TensorSpec,
    readonly input: Input,
    readonly at: number,
    missing: Missing | undefined,
    nan: boolean,
    path: readonly (string | number)[],
  ) {
    const expected = type === 'string' ? 'text' : 'number';
    const isVector = input.kind === 'vector' && isFloat(type);
    if (input.kind !== expected && !isVector) {
      throw new OptionError(
        path,
        `the model's input \`${name}\` holds ${type}, and \`${input.text}\` is ${KINDS[input.kind]}`,
      );
    }
    this.size = input.kind === 'vector' ? (input.size ?? 0) : 1;
    this.#fits = numberFits(type);
    this.#whole = type === 'int64' || type === 'uint64';
    this.missing = standIn(name, type, missing, this.#fits, path) ?? (nan && isFloat(type) ? NaN : undefined);
  }

  /**
   * Sets `status`, by position in `step.rows`, for each row that cannot be sent to the model. The first reason stays.
   */
  check(step: StepInput, status: Uint8Array): void {
    const column = step.column(this.input);
    const numbers = column.kind === 'number' ? column.values : undefined;
    for (let i = 0; i < status.length; i++) {
      if (status[i] !== Status.present) continue;
      const cell = (step.rows[i] ?? 0) * column.stride;
      const state = statusAt(column.status, cell);
      if (!isKnown(state)) {
        if (this.missing === undefined) status[i] = state;
      } else if (numbers !== undefined && !this.#fits(numbers[cell] ?? NaN)) {
        status[i] = Status.failed;
      }
    }
  }

  /** Writes the values of `rows` into rows of `width` elements. */
  write(step: StepInput, rows: Int32Array, data: TensorData, width: number): void {
    const column = step.column(this.input);
    const { stride, status } = column;
    const missing = this.missing;
    for (let i = 0; i < rows.length; i++) {
      const cell = (rows[i] ?? 0) * stride;
      const to = i * width + this.at;
      const known = isKnown(status[cell]);
      if (column.kind === 'vector') {
        const from = cell * column.size;
        if (known) (data as Float32Array).set(column.values.subarray(from, from + column.size), to);
        else (data as Float32Array).fill(Number(missing), to, to + column.size);
      } else if (column.kind === 'text') {
        (data as string[])[to] = known ? (column.values[cell] ?? '') : String(missing);
      } else if (column.kind === 'number') {
        const value = known ? (column.values[cell] ?? NaN) : Number(missing);
        if (this.#whole) (data as BigInt64Array)[to] = BigInt(value);
        else (data as NumericArray)[to] = value;
      }
    }
  }
}

const KINDS: Readonly<Record<Input['kind'], string>> = {
  number: 'a number',
  text: 'a text',
  texts: 'a list of texts',
  numbers: 'a list of numbers, whose length is not fixed',
  vector: 'a vector',
};

function standIn(
  name: string,
  type: TensorType,
  missing: Missing | undefined,
  fits: (value: number) => boolean,
  path: readonly (string | number)[],
): number | string | undefined {
  if (missing === undefined) return undefined;
  if (type === 'string' && typeof missing === 'string') return missing;
  const number = typeof missing === 'boolean' && type === 'bool' ? Number(missing) : missing;
  if (type !== 'string' && typeof number === 'number' && fits(number)) return number;
  throw new OptionError(
    [...path, 'missing'],
    `the model's input \`${name}\` holds ${type}, and ${JSON.stringify(missing)} does not fit`,
  );
}
