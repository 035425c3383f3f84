import { nearest } from '../core/nearest.js';
import { OptionError, tryEach } from '../api/option-error.js';
import type { BuildContext } from '../api/build-context.js';
import type { ModelBinding } from '../api/component.js';
import type { StepInput } from '../api/step-input.js';
import type { Input } from '../api/input.js';
import { Status, statusAt } from '../api/status.js';
import { TensorPart, type Missing } from './tensor-part.js';
import {
  describeShape,
  tensorData,
  type Tensor,
  type TensorData,
  type TensorSpec,
  type TensorType,
} from './tensor.js';

/** The option for one input of a model: an expression, a list of expressions side by side, or either with details. */
export type WrittenTensor = Input | readonly Input[] | DetailedTensor;

/** The option `inputs:`, by the model's name of each input. A list is for a model with one input. */
export type WrittenTensors = Readonly<Record<string, WrittenTensor>> | readonly Input[];

export interface DetailedTensor {
  readonly value: Input | readonly Input[];
  /** The value to use if a value is not known. */
  readonly missing?: Missing;
  /** `request`: the tensor has one row for all candidates. */
  readonly per?: 'candidate' | 'request';
  /** The shape of one row, for sizes that the model leaves open. */
  readonly shape?: readonly number[];
}

export interface TensorRules {
  /** Whether a missing number can be sent as NaN to an input of floats; JSON has no NaN. */
  readonly nan: boolean;
  /** Maximum number of rows in a batch; undefined for one batch. */
  readonly batch: number | undefined;
}

/** A batch of candidates as input tensors. */
export interface TensorBatch {
  /** Rows of the frame, in the order of the rows of the tensors. */
  readonly rows: Int32Array;
  /**
   * The number of rows in tensors of candidates. If the model has a fixed batch size, copies of the last row fill the
   * batch.
   */
  readonly size: number;
  /** Tensors by the model's name of the input. */
  readonly tensors: ReadonlyMap<string, Tensor>;
}

export interface GatheredTensors {
  readonly batches: readonly TensorBatch[];
  /** Rows that lack a value which the model requires, and the status of that value. */
  readonly left: readonly { readonly row: number; readonly status: number }[];
}

interface BoundTensor {
  readonly name: string;
  readonly type: TensorType;
  readonly perRequest: boolean;
  /** The shape of one row. For a tensor of the request without a dimension for rows, the whole shape. */
  readonly rowShape: readonly number[];
  readonly rowless: boolean;
  readonly width: number;
  readonly parts: readonly TensorPart[];
}

/** Names that can be bound: a file must not inject a longer expression. */
const BINDABLE = /^[a-z][a-z0-9_]*([.:][a-z][a-z0-9_]*)*$/;

/**
 * Binds every input of a model: by `inputs:` if the option gives it, otherwise by name, like a column of a model file.
 * A list instead of a mapping is for the only input.
 * @throws OptionError at the place of an input that is missing, unused, or does not fit the model's type or shape
 */
export function bindTensors(
  specs: readonly TensorSpec[],
  written: WrittenTensors | undefined,
  build: Pick<BuildContext, 'needColumn'>,
  rules: TensorRules,
): TensorInputs {
  const names = specs.map(({ name }) => `\`${name}\``).join(', ');
  const given = isList(written) ? onlyInput(specs, written, names) : new Map(Object.entries(written ?? {}));
  const specNames = specs.map((spec) => spec.name);
  const unknown = new Map<string, string | undefined>();
  for (const name of given.keys())
    if (!specNames.includes(name))
      unknown.set(
        name,
        nearest(
          name,
          specNames.filter((one) => !given.has(one)),
        ),
      );
  const meant = new Set(unknown.values());
  const bind = (spec: TensorSpec): BoundTensor => {
    const path = isList(written) ? ['inputs'] : ['inputs', spec.name];
    const input = given.get(spec.name);
    if (input !== undefined) return boundTensor(spec, input, path, rules);
    if (BINDABLE.test(spec.name))
      return boundTensor(spec, build.needColumn(spec.name, ['model']), ['model'], rules);
    throw new OptionError(
      ['inputs'],
      `the model's input \`${spec.name}\` cannot be bound by name`,
      `give it under inputs: ${JSON.stringify(spec.name)}: [product.price, …] for ${describeShape(spec.shape)}`,
    );
  };
  const refuse = (name: string, guess: string | undefined): never => {
    // The error at the misspelt name is enough, so the input that it probably means is not looked up.
    const help = guess === undefined ? `it has ${names}` : `did you mean \`${guess}\`?`;
    throw new OptionError(['inputs', name], `the model has no input \`${name}\``, help, 'key');
  };
  const [, tensors = []] = tryEach<BoundTensor[]>([
    () =>
      tryEach(
        [...unknown].map(
          ([name, guess]) =>
            () =>
              refuse(name, guess),
        ),
      ),
    () => tryEach(specs.filter(({ name }) => !meant.has(name)).map((spec) => () => bind(spec))),
  ]);
  return new TensorInputs(tensors, fixedBatch(specs, tensors), rules);
}

function onlyInput(
  specs: readonly TensorSpec[],
  written: readonly Input[],
  names: string,
): Map<string, WrittenTensor> {
  const [only] = specs;
  if (only !== undefined && specs.length === 1) return new Map([[only.name, written]]);
  throw new OptionError(
    ['inputs'],
    `the model has ${specs.length} inputs, so \`inputs\` cannot be one list`,
    `write a mapping with ${names}`,
  );
}

function boundTensor(
  spec: TensorSpec,
  written: WrittenTensor,
  path: readonly (string | number)[],
  rules: TensorRules,
): BoundTensor {
  const { value, missing, per, shape }: DetailedTensor = isDetailed(written) ? written : { value: written };
  const inputs = isList(value) ? value : [value];
  const ofRequest = inputs.every(({ scope }) => scope === 'request');
  if (per === 'request' && !ofRequest) {
    throw new OptionError(
      path,
      `\`${spec.name}\` has one row per request, and reads values of the candidates`,
    );
  }
  const perRequest = per === 'request' || (per === undefined && ofRequest && spec.shape[0] === 1);
  let width = 0;
  const parts = inputs.map((input, index) => {
    const place = isList(value) ? [...path, ...(isDetailed(written) ? ['value'] : []), index] : path;
    const part = new TensorPart(spec, input, width, missing, rules.nan, place);
    width += part.size;
    return part;
  });
  const rowless = perRequest && spec.shape.length > 0 && spec.shape[0] !== 1 && spec.shape[0] !== undefined;
  const open = rowless ? spec.shape : spec.shape.slice(1);
  const rowShape = rowShapeOf(spec, open, width, shape, path);
  return { name: spec.name, type: spec.type, perRequest, rowShape, rowless, width, parts };
}

/** The shape of one row: the model's shape with its open sizes filled in. */
function rowShapeOf(
  spec: TensorSpec,
  model: readonly (number | undefined)[],
  width: number,
  written: readonly number[] | undefined,
  path: readonly (string | number)[],
): readonly number[] {
  const differs = (): OptionError =>
    new OptionError(
      path,
      `the model's input \`${spec.name}\` is ${spec.type} ${describeShape(spec.shape)}, and a row of \`inputs\` has ${width} ${width === 1 ? 'number' : 'elements'}`,
    );
  if (written !== undefined) {
    const fits = spec.shape.length === 0 || written.length === model.length;
    if (!fits || product(written) !== width || model.some((size, i) => (size ?? written[i]) !== written[i]))
      throw differs();
    return written;
  }
  // If a model does not state the shape, it is taken to have one column for each element.
  if (spec.shape.length === 0) return [width];
  const known = product(model.map((size) => size ?? 1));
  const open = model.filter((size) => size === undefined).length;
  if (open === 0 ? known !== width : known === 0 || width % known !== 0) throw differs();
  if (open > 1) {
    throw new OptionError(
      path,
      `the model leaves the shape of its input \`${spec.name}\` open: ${describeShape(spec.shape)}`,
      'give the shape of one row, e.g. { value: product.embedding, shape: [8, 8] }',
    );
  }
  return model.map((size) => size ?? width / known);
}

/** The number of rows that a batch must have; undefined if the model takes any number. */
function fixedBatch(specs: readonly TensorSpec[], tensors: readonly BoundTensor[]): number | undefined {
  if (tensors.every(({ perRequest }) => perRequest)) {
    throw new OptionError(
      ['inputs'],
      'none of the inputs has a row for each candidate',
      'give one of them as { value: user.age, per: candidate }, or read values of the candidates',
    );
  }
  const sizes = specs.flatMap(({ shape }, i) =>
    tensors[i]?.perRequest === true || shape.length === 0 ? [] : [shape[0]],
  );
  const [first] = sizes;
  const other = sizes.findIndex((size) => size !== first);
  if (other < 0) return first;
  const shapes = specs.map(({ name, shape }) => `\`${name}\` ${describeShape(shape)}`).join(', ');
  throw new OptionError(
    ['inputs'],
    `the model's inputs do not agree in their number of rows: ${shapes}`,
    'an input whose first size is 1 takes only values of the request',
  );
}

/**
 * The bound inputs of a model. It copies values out of the frame, so the frame can be released while the model runs.
 */
export class TensorInputs {
  constructor(
    readonly tensors: readonly BoundTensor[],
    /** The number of rows of every batch, if the model fixes it. */
    readonly fixed: number | undefined,
    readonly rules: TensorRules,
  ) {}

  /** What each element of a row reads, in the model's order. */
  get bindings(): readonly ModelBinding[] {
    return this.tensors.flatMap(({ name, type, parts }) =>
      parts.map(({ input, at, size, missing }) => ({
        column: parts.length === 1 ? name : `${name}[${size > 1 ? `${at}…${at + size - 1}` : at}]`,
        input,
        type,
        ...(missing === undefined || Number.isNaN(missing) ? {} : { missing }),
      })),
    );
  }

  /** Inputs in the shape of a request, all zeros or empty, for a first run. */
  blank(): TensorBatch {
    const size = this.fixed ?? 2;
    const tensors = this.tensors.map((one) => [one.name, tensorOf(one, one.perRequest ? 1 : size)] as const);
    return { rows: new Int32Array(0), size, tensors: new Map(tensors) };
  }

  gather(step: StepInput): GatheredTensors {
    const { rows, left } = this.#usable(step);
    const most = this.fixed ?? this.rules.batch ?? rows.length;
    const batches: TensorBatch[] = [];
    for (let from = 0; from < rows.length; from += most)
      batches.push(this.#batch(step, rows.subarray(from, from + most)));
    return { batches, left };
  }

  #batch(step: StepInput, rows: Int32Array): TensorBatch {
    const size = this.fixed ?? rows.length;
    const padded = size === rows.length ? rows : new Int32Array(size).fill(rows.at(-1) ?? 0);
    if (padded !== rows) padded.set(rows);
    const tensors = this.tensors.map((one) => {
      const used = one.perRequest ? REQUEST_ROW : padded;
      const tensor = tensorOf(one, used.length);
      for (const part of one.parts) part.write(step, used, tensor.data, one.width);
      return [one.name, tensor] as const;
    });
    return { rows, size, tensors: new Map(tensors) };
  }

  #usable(step: StepInput): { rows: Int32Array; left: GatheredTensors['left'] } {
    const status = new Uint8Array(step.rows.length);
    for (const { parts } of this.tensors) for (const part of parts) part.check(step, status);
    const left: { row: number; status: number }[] = [];
    const rows = step.rows.filter((row, i) => {
      const state = statusAt(status, i);
      if (state !== Status.present) left.push({ row, status: state });
      return state === Status.present;
    });
    return { rows, left };
  }
}

/** Values of the request are in row 0 for all candidates. */
const REQUEST_ROW = Int32Array.of(0);

function tensorOf(
  { type, rowShape, rowless, width }: BoundTensor,
  rows: number,
): Tensor & { data: TensorData } {
  return { type, shape: rowless ? rowShape : [rows, ...rowShape], data: tensorData(type, rows * width) };
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}

function isList(value: unknown): value is readonly Input[] {
  return Array.isArray(value);
}

function isDetailed(written: WrittenTensor): written is DetailedTensor {
  return !isList(written) && 'value' in written;
}
