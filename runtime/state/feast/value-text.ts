import type { FeastData, FeastType, FeastValue } from './feast-value.js';

/**
 * The texts in which features of type string and list(string) hold values of Feast. A text is itself; bytes are base64
 * (RFC 4648), as in the JSON of protobuf and of Feast's feature server; every other value is its JSON.
 */

/** Types whose value is one text. */
const WHOLE: ReadonlySet<FeastType> = new Set([
  ...(['map_val', 'struct_val', 'list_val', 'set_val'] as const),
  ...(['bytes_val', 'int32_val', 'int64_val'] as const),
]);

/** The text of a value for a feature of type string; undefined if such a feature cannot hold it. */
export function textOf({ type, value }: FeastValue): string | undefined {
  if (typeof value === 'string') return value;
  return type !== null && type !== 'other' && WHOLE.has(type) ? elementText(value) : undefined;
}

/** The texts of a list or set; undefined if the value is no list of single values. */
export function textsOf({ type, value }: FeastValue): readonly string[] | undefined {
  if (!Array.isArray(value) || type === 'list_val' || type === 'set_val') return undefined;
  return (value as readonly FeastData[]).map(elementText);
}

function elementText(value: FeastData): string {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return base64(value);
  return jsonOf(value);
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** The JSON of a value. 64-bit integers keep all digits; numbers that JSON cannot hold are texts, as in Feast. */
function jsonOf(value: FeastData): string {
  if (value === null) return 'null';
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number')
    return Number.isFinite(value) ? JSON.stringify(value) : JSON.stringify(`${value}`);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof Uint8Array) return JSON.stringify(base64(value));
  if (value instanceof Map) {
    const entries = [...(value as ReadonlyMap<string, FeastValue>)];
    return `{${entries.map(([key, one]) => `${JSON.stringify(key)}:${jsonOf(one.value)}`).join(',')}}`;
  }
  const list = value as readonly (FeastData | FeastValue)[];
  return `[${list.map((one) => jsonOf(isValue(one) ? one.value : one)).join(',')}]`;
}

/** Elements of nested lists are whole values; those of other lists are data. */
function isValue(one: FeastData | FeastValue): one is FeastValue {
  return typeof one === 'object' && one !== null && 'type' in one && 'value' in one;
}
