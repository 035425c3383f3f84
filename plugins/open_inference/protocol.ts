import { describeShape, type Pieces, type Tensor, type TensorBatch, type TensorType } from 'millrace/api';
import { datatypeOf, isNumeric, jsonNumbers, type Numbers } from './datatypes.js';

/** The maximum number of dimensions. Messages show shapes completely. */
const MOST_DIMENSIONS = 16;
/** The maximum length of an output's name, which messages show too. */
const LONGEST_NAME = 256;

/** Characters that are written and encoded before other work may run. Each may become an escape of six characters. */
const PIECE = 64 * 1024;
/** Numbers that are written before other work may run. */
const PIECE_NUMBERS = 8 * 1024;

/** The body of an inference request, in pieces: every candidate may repeat a long text. */
export function* inferenceRequest(
  batch: TensorBatch,
  outputs: readonly string[] | undefined,
): Pieces<Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  for (const part of partsOf(batch, outputs)) {
    text += part;
    if (text.length < PIECE) continue;
    chunks.push(Buffer.from(text));
    text = '';
    yield;
  }
  chunks.push(Buffer.from(text));
  return Buffer.concat(chunks);
}

/** The text of the body: parts of some ten thousand characters at most. */
function* partsOf({ tensors }: TensorBatch, outputs: readonly string[] | undefined): Generator<string, void> {
  let before = '{"inputs":[';
  for (const [name, tensor] of tensors) {
    const head = JSON.stringify({ name, shape: tensor.shape, datatype: datatypeOf(tensor.type) });
    yield `${before}${head.slice(0, -1)},"data":[`;
    yield* dataText(tensor);
    yield ']}';
    before = ',';
  }
  const wanted =
    outputs === undefined ? '' : `,"outputs":${JSON.stringify(outputs.map((name) => ({ name })))}`;
  yield tensors.size === 0 ? `${before}]${wanted}}` : `]${wanted}}`;
}

/** The elements of a tensor as JSON, without the brackets. */
function* dataText({ type, shape, data }: Tensor): Generator<string, void> {
  if (type === 'string') yield* textsText(data as readonly string[]);
  else yield* numbersText(type, data as Numbers, shape);
}

/** The candidates may share the elements of a row: a row that repeats the one before it is formatted once. */
function* numbersText(type: TensorType, data: Numbers, [rows = 0]: Tensor['shape']): Generator<string, void> {
  const width = data.length / Math.max(1, rows);
  const step = width > 1 ? Math.min(width, PIECE_NUMBERS) : PIECE_NUMBERS;
  let text = '';
  for (let from = 0; from < data.length; from += step) {
    if (from > 0) yield ',';
    if (step !== width || from === 0 || !isRepeated(data, from, step))
      text = JSON.stringify(jsonNumbers(type, data.subarray(from, from + step))).slice(1, -1);
    yield text;
  }
}

function isRepeated(data: Numbers, from: number, width: number): boolean {
  for (let i = from; i < from + width; i++) if (data[i] !== data[i - width]) return false;
  return true;
}

function* textsText(all: readonly string[]): Generator<string, void> {
  for (let from = 0, to = 0; from < all.length; from = to) {
    if (from > 0) yield ',';
    const one = all[to++] ?? '';
    if (isLong(one)) {
      yield* longText(one);
      continue;
    }
    for (let size = one.length; to < all.length && size < PIECE && !isLong(all[to]); to++)
      size += all[to]?.length ?? 0;
    yield JSON.stringify(all.slice(from, to)).slice(1, -1);
  }
}

const isLong = (text: string | undefined): boolean => (text ?? '').length > PIECE;

function* longText(text: string): Generator<string, void> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = from + PIECE;
    // A pair of surrogates is one character, and half of one is an escape.
    if (/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(to - 1, to + 1))) to++;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

/**
 * Reads the body of an inference response, by name of the output.
 * @param wanted the outputs to read; undefined for all
 * @throws Error for anything but finite numbers in the shape that the server gives
 */
export function inferenceAnswer(body: Buffer, wanted: readonly string[] | undefined): Map<string, Tensor> {
  const outputs = object(parse(body), 'the answer')['outputs'];
  if (!Array.isArray(outputs)) throw new Error('the answer has no list of outputs');
  const found = new Map<string, Tensor>();
  for (const one of outputs as readonly unknown[]) {
    const output = object(one, 'an output of the answer');
    const { name } = output;
    if (typeof name !== 'string' || name.length > LONGEST_NAME)
      throw new Error(`an output of the answer has ${shown(name)} instead of a name`);
    if (wanted === undefined || wanted.includes(name)) found.set(name, tensorOf(name, output));
  }
  return found;
}

/** The inputs or outputs of a model as its metadata lists them; -1 is an open size. */
export interface MetadataTensor {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly (number | undefined)[];
}

export interface ModelMetadata {
  readonly inputs: readonly MetadataTensor[];
  readonly outputs: readonly MetadataTensor[];
}

/** @throws Error if the answer is not the metadata of a model */
export function modelMetadata(body: Buffer): ModelMetadata {
  const { inputs, outputs } = object(parse(body), 'the metadata');
  return { inputs: metadataTensors(inputs), outputs: metadataTensors(outputs) };
}

/** The message in an error answer; '' if there is none. */
export function errorText(body: Buffer): string {
  try {
    const { error } = object(parse(body), '');
    return typeof error === 'string' ? error.replace(/\s+/g, ' ').slice(0, 200) : '';
  } catch {
    return '';
  }
}

function tensorOf(name: string, { datatype, shape, data }: Readonly<Record<string, unknown>>): Tensor {
  if (!isNumeric(datatype))
    throw new Error(`output ${name} has the datatype ${shown(datatype)}, not numbers`);
  if (!isShape(shape)) throw new Error(`output ${name} has ${shown(shape)} instead of a shape`);
  if (!Array.isArray(data)) throw new Error(`output ${name} has no data`);
  // The numbers row by row. The answer has them flat, or nested like the shape.
  const flat = data.flat(shape.length) as readonly unknown[];
  const size = shape.reduce((all, one) => all * one, 1);
  if (flat.length !== size) {
    throw new Error(
      `output ${name} has ${flat.length} numbers, and its shape ${describeShape(shape)} is of ${size}`,
    );
  }
  const values = new Float64Array(size);
  for (const [i, value] of flat.entries()) {
    const number = datatype === 'BOOL' && typeof value === 'boolean' ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isFinite(number))
      throw new Error(`output ${name} holds ${shown(value)} instead of a number`);
    values[i] = number;
  }
  return { type: 'float64', shape, data: values };
}

function metadataTensors(list: unknown): MetadataTensor[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw new Error('the inputs or outputs of the metadata are not a list');
  return list.map((one) => {
    const { name, datatype, shape } = object(one, 'a tensor of the metadata');
    if (typeof name !== 'string' || typeof datatype !== 'string' || !Array.isArray(shape))
      throw new Error('a tensor of the metadata lacks its name, datatype or shape');
    // Some servers write sizes as texts.
    const sizes = (shape as readonly unknown[])
      .map((size) => (typeof size === 'object' ? NaN : Number(size)))
      .map((size) => (size >= 0 ? size : undefined));
    return { name, datatype, shape: sizes };
  });
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    throw new Error(`the answer is not JSON: ${shown(body.toString('utf8', 0, 60))}`);
  }
}

function object(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw new Error(`${what} is not a JSON object`);
}

function isShape(shape: unknown): shape is number[] {
  return (
    Array.isArray(shape) &&
    shape.length <= MOST_DIMENSIONS &&
    shape.every((size) => Number.isSafeInteger(size) && (size as number) >= 0)
  );
}

/**
 * Describes a value for a message. It leaves out what lists and objects within a list contain, because they can be
 * nested deeply.
 */
function shown(value: unknown): string {
  const part = (one: unknown): string =>
    typeof one === 'object' && one !== null
      ? Array.isArray(one)
        ? '[…]'
        : '{…}'
      : JSON.stringify(one ?? null);
  const text = Array.isArray(value) ? `[${value.slice(0, 20).map(part).join()}]` : part(value);
  return text.slice(0, 80);
}
