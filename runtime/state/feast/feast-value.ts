import protobuf from 'protobufjs/minimal.js';

/**
 * Feast's `Value` message (protos/feast/types/Value.proto), read with protobufjs. The field that is set gives the type.
 */

/** A value as stored by Feast. 64-bit integers are bigints; null means no value. */
export interface FeastValue {
  /** The field's name in Value.proto; `other` for a field that is not in FIELDS; null for the empty message. */
  readonly type: FeastType | 'other' | null;
  readonly value: FeastData;
}

export type FeastData =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly FeastData[]
  | readonly FeastValue[]
  | readonly ReadonlyMap<string, FeastValue>[]
  | ReadonlyMap<string, FeastValue>;

type Scalar = 'bytes' | 'string' | 'int32' | 'int64' | 'double' | 'float' | 'bool';
type Shape = Scalar | 'null' | 'map' | 'maps' | 'values' | { readonly list: Scalar };

/** Field numbers. Fields that are not listed have types that Millrace does not support for features. */
export const FIELDS = {
  bytes_val: [1, 'bytes'],
  string_val: [2, 'string'],
  int32_val: [3, 'int32'],
  int64_val: [4, 'int64'],
  double_val: [5, 'double'],
  float_val: [6, 'float'],
  bool_val: [7, 'bool'],
  /** Seconds. */
  unix_timestamp_val: [8, 'int64'],
  bytes_list_val: [11, { list: 'bytes' }],
  string_list_val: [12, { list: 'string' }],
  int32_list_val: [13, { list: 'int32' }],
  int64_list_val: [14, { list: 'int64' }],
  double_list_val: [15, { list: 'double' }],
  float_list_val: [16, { list: 'float' }],
  bool_list_val: [17, { list: 'bool' }],
  unix_timestamp_list_val: [18, { list: 'int64' }],
  null_val: [19, 'null'],
  map_val: [20, 'map'],
  map_list_val: [21, 'maps'],
  bytes_set_val: [22, { list: 'bytes' }],
  string_set_val: [23, { list: 'string' }],
  int32_set_val: [24, { list: 'int32' }],
  int64_set_val: [25, { list: 'int64' }],
  double_set_val: [26, { list: 'double' }],
  float_set_val: [27, { list: 'float' }],
  bool_set_val: [28, { list: 'bool' }],
  unix_timestamp_set_val: [29, { list: 'int64' }],
  json_val: [32, 'string'],
  json_list_val: [33, { list: 'string' }],
  struct_val: [34, 'map'],
  struct_list_val: [35, 'maps'],
  uuid_val: [36, 'string'],
  time_uuid_val: [37, 'string'],
  uuid_list_val: [38, { list: 'string' }],
  time_uuid_list_val: [39, { list: 'string' }],
  uuid_set_val: [40, { list: 'string' }],
  time_uuid_set_val: [41, { list: 'string' }],
  list_val: [42, 'values'],
  set_val: [43, 'values'],
  decimal_val: [44, 'string'],
  decimal_list_val: [45, { list: 'string' }],
  decimal_set_val: [46, { list: 'string' }],
} as const satisfies Record<string, readonly [number, Shape]>;

export type FeastType = keyof typeof FIELDS;

const BY_NUMBER: ReadonlyMap<number, readonly [FeastType, Shape]> = new Map(
  (Object.keys(FIELDS) as FeastType[]).map((type) => [FIELDS[type][0], [type, FIELDS[type][1]]]),
);

/** Maximum nesting of lists and maps. */
const MOST_LEVELS = 16;
const LENGTH_DELIMITED = 2;

/** Returns a reader of some bytes. @throws RangeError or Error from its methods if the bytes are damaged */
export function readerOf(bytes: Uint8Array): protobuf.Reader {
  return protobuf.Reader.create(bytes);
}

/** Converts a 64-bit integer of the reader to a number; exact up to 2^53. */
export function asNumber({ high, low }: { readonly high: number; readonly low: number }): number {
  return high * 2 ** 32 + (low >>> 0);
}

/** Decodes a value of any known type. @throws Error if the bytes are damaged */
export function decodeValue(bytes: Uint8Array): FeastValue {
  return readValue(readerOf(bytes), bytes.length, 0);
}

function readValue(reader: protobuf.Reader, end: number, level: number): FeastValue {
  if (level > MOST_LEVELS) throw new RangeError(`the value nests deeper than ${MOST_LEVELS} levels`);
  let found: FeastValue = { type: null, value: null };
  while (reader.pos < end) {
    const tag = reader.uint32();
    const known = BY_NUMBER.get(tag >>> 3);
    // If several fields of a oneof are present, the last one wins.
    if (known === undefined) {
      reader.skipType(tag & 7);
      found = { type: 'other', value: null };
    } else found = { type: known[0], value: readShape(reader, known[1], level) };
  }
  if (reader.pos !== end) throw new RangeError('the value is cut short');
  return found;
}

function readShape(reader: protobuf.Reader, shape: Shape, level: number): FeastData {
  switch (shape) {
    case 'null':
      reader.int32();
      return null;
    case 'map':
      return readMap(reader, level);
    case 'maps':
      // The reader stands at the start of the message of a map, after its length.
      return readMessage(reader, (maps: ReadonlyMap<string, FeastValue>[], end) => {
        maps.push(readEntries(reader, end, level));
      });
    case 'values':
      return readMessage(reader, (values: FeastValue[], end) => {
        values.push(readValue(reader, end, level + 1));
      });
    default:
      return typeof shape === 'string' ? readScalar(reader, shape) : readList(reader, shape.list);
  }
}

/** Reads a message whose field 1 is a repeated message. */
function readMessage<T>(reader: protobuf.Reader, read: (into: T[], end: number) => void): T[] {
  return readRepeated(reader, reader.uint32() + reader.pos, read);
}

function readRepeated<T>(reader: protobuf.Reader, end: number, read: (into: T[], end: number) => void): T[] {
  const into: T[] = [];
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) read(into, reader.uint32() + reader.pos);
    else reader.skipType(tag & 7);
  }
  return into;
}

function readMap(reader: protobuf.Reader, level: number): ReadonlyMap<string, FeastValue> {
  return readEntries(reader, reader.uint32() + reader.pos, level);
}

function readEntries(reader: protobuf.Reader, end: number, level: number): ReadonlyMap<string, FeastValue> {
  const entries = readRepeated(reader, end, (into: [string, FeastValue][], end) => {
    let key = '';
    let value: FeastValue = { type: null, value: null };
    while (reader.pos < end) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) key = reader.string();
      else if (tag >>> 3 === 2) value = readValue(reader, reader.uint32() + reader.pos, level + 1);
      else reader.skipType(tag & 7);
    }
    into.push([key, value]);
  });
  return new Map(entries);
}

function readList(reader: protobuf.Reader, of: Scalar): FeastData[] {
  const list: FeastData[] = [];
  const end = reader.uint32() + reader.pos;
  while (reader.pos < end) {
    const tag = reader.uint32();
    if (tag >>> 3 !== 1) reader.skipType(tag & 7);
    else if ((tag & 7) === LENGTH_DELIMITED && of !== 'string' && of !== 'bytes') {
      const packed = reader.uint32() + reader.pos;
      while (reader.pos < packed) list.push(readScalar(reader, of));
    } else list.push(readScalar(reader, of));
  }
  return list;
}

function readScalar(reader: protobuf.Reader, scalar: Scalar): FeastData {
  switch (scalar) {
    case 'int64': {
      const { high, low } = reader.int64();
      return (BigInt(high) << 32n) | BigInt(low >>> 0);
    }
    case 'bytes':
      return reader.bytes();
    case 'string':
      return reader.string();
    case 'int32':
      return reader.int32();
    case 'double':
      return reader.double();
    case 'float':
      return reader.float();
    case 'bool':
      return reader.bool();
  }
}

/**
 * Epoch milliseconds of a protobuf Timestamp, with microseconds as a fraction. An empty message is 1970-01-01.
 * @throws Error if the bytes are damaged
 */
export function decodeTime(bytes: Uint8Array): number {
  const reader = readerOf(bytes);
  let seconds = 0;
  let nanos = 0;
  while (reader.pos < bytes.length) {
    const tag = reader.uint32();
    if (tag >>> 3 === 1) seconds = asNumber(reader.int64());
    else if (tag >>> 3 === 2) nanos = reader.int32();
    else reader.skipType(tag & 7);
  }
  return seconds * 1000 + nanos / 1e6;
}
