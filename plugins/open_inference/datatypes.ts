import type { Tensor, TensorType } from 'millrace/api';
import type { InputsEntryDatatype as Datatype } from './options.generated.js';

/**
 * Tensor types by their names in the protocol, https://github.com/kserve/open-inference-protocol. FP16 has no JSON
 * form.
 */
export const DATATYPES = {
  BOOL: 'bool',
  UINT8: 'uint8',
  UINT16: 'uint16',
  UINT32: 'uint32',
  UINT64: 'uint64',
  INT8: 'int8',
  INT16: 'int16',
  INT32: 'int32',
  INT64: 'int64',
  FP32: 'float32',
  FP64: 'float64',
  BYTES: 'string',
} as const satisfies Record<Datatype, TensorType>;

const NAMES = new Map<TensorType, string>(Object.entries(DATATYPES).map(([name, type]) => [type, name]));

export function datatypeOf(type: TensorType): string {
  return NAMES.get(type) ?? '';
}

/** Whether an output has numbers. They can also be FP16: in JSON these are ordinary numbers. */
export function isNumeric(datatype: unknown): boolean {
  return datatype === 'FP16' || (isDatatype(datatype) && datatype !== 'BYTES');
}

function isDatatype(name: unknown): name is Datatype {
  return typeof name === 'string' && Object.hasOwn(DATATYPES, name);
}

/** The elements of a tensor that are no texts. */
export type Numbers = Exclude<Tensor['data'], readonly string[]>;

/** The numbers of a tensor in their JSON form. */
export function jsonNumbers(type: TensorType, data: Numbers): unknown[] {
  if (type === 'bool') return Array.from(data as Uint8Array, (value) => value === 1);
  // These integers come from float64 columns, so the conversion to Number is exact.
  if (type === 'int64' || type === 'uint64') return Array.from(data as BigInt64Array, Number);
  return Array.from<unknown>(data);
}
