/** The element types of tensors. */
export const TENSOR_TYPES = [
  'float32',
  'float64',
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'bool',
  'string',
] as const;
export type TensorType = (typeof TENSOR_TYPES)[number];

export type NumericArray =
  Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | Uint8Array | Uint16Array | Uint32Array;

/** Elements in row-major order. A bool is 0 or 1 in a Uint8Array. */
export type TensorData = NumericArray | BigInt64Array | BigUint64Array | string[];

export interface Tensor {
  readonly type: TensorType;
  readonly shape: readonly number[];
  readonly data: TensorData;
}

/** One input as the model describes it. A size that the model leaves open is undefined. */
export interface TensorSpec {
  readonly name: string;
  readonly type: TensorType;
  readonly shape: readonly (number | undefined)[];
}

const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
  bool: Uint8Array,
} as const;

/** Zeros, or empty texts. */
export function tensorData(type: TensorType, length: number): TensorData {
  return type === 'string' ? new Array<string>(length).fill('') : new ARRAYS[type](length);
}

export function isTensorType(type: string): type is TensorType {
  return TENSOR_TYPES.some((one) => one === type);
}

const BITS = /^(u?)int(8|16|32|64)$/;

/**
 * Returns a test whether a finite number can be an element of the type without change: an integer for an int, 0 or 1
 * for a bool.
 */
export function numberFits(type: TensorType): (value: number) => boolean {
  if (type === 'bool') return (value) => value === 0 || value === 1;
  const [, unsigned, size] = BITS.exec(type) ?? [];
  if (size === undefined) return () => type !== 'string';
  // Numbers of the frame are float64. Above 2^53 a float64 does not hold every integer.
  const bits = Math.min(Number(size) - (unsigned === 'u' ? 0 : 1), 53);
  const most = 2 ** bits - 1;
  const least = unsigned === 'u' ? 0 : size === '64' ? -most : -most - 1;
  return (value) => Number.isInteger(value) && value >= least && value <= most;
}

export const isFloat = (type: TensorType): boolean => type === 'float32' || type === 'float64';

/** E.g. `float32 [N, 40]`; an open size is `?`. */
export function describeShape(shape: readonly (number | undefined)[]): string {
  return `[${shape.map((size) => size ?? '?').join(', ')}]`;
}
