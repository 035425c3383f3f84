import type { ColumnMetaData } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';

type ParquetType = 'DOUBLE' | 'INT64' | 'BOOLEAN' | 'BYTE_ARRAY';

/** The values of a column: texts, or numbers. There may be more of them than rows; NaN and undefined are null. */
export type ParquetValues = readonly (string | undefined)[] | Float64Array | Int32Array | Uint8Array;

/** Number of values that decide whether to try a dictionary. */
const PROBED = 256;
/** A dictionary is used if it has at most this share of the values. */
const MOST_DISTINCT = 0.5;

/**
 * Writes one column of a row group: one data page (format 2), with a dictionary if values repeat. Numbers are not
 * compressed, since Snappy does not make them smaller; texts are. It has its own loops because those of hyparquet-writer box
 * each number.
 * @param out takes the bytes
 * @returns what the footer says of the column
 * @throws Error for a null in a column that is not nullable
 */
export function writeColumnChunk(
  out: ByteWriter,
  { name, type, nullable }: { readonly name: string; readonly type: ParquetType; readonly nullable: boolean },
  values: ParquetValues,
  rows: number,
): ColumnMetaData {
  const start = out.offset;
  const isText = !ArrayBuffer.isView(values);
  const present = isText ? presentTexts(values, rows) : presentNumbers(values, rows);
  const known = present.length;
  if (!nullable && known < rows) throw new Error(`${name} has a null, and is not nullable`);
  const levels = new ByteWriter();
  if (nullable) writeLevels(levels, values, rows, known);
  const dictionary = type === 'BOOLEAN' ? undefined : dictionaryOf(present);
  let uncompressed = 0;
  let dictionaryAt: bigint | undefined;
  if (dictionary !== undefined) {
    dictionaryAt = BigInt(out.offset);
    uncompressed += writeDictionaryPage(
      out,
      plain(dictionary.values, type),
      dictionary.values.length,
      isText,
    );
  }
  const dataAt = BigInt(out.offset);
  const page =
    dictionary === undefined ? plain(present, type) : indexPage(dictionary.indexes, dictionary.values.length);
  const encoding = dictionary === undefined ? 'PLAIN' : 'RLE_DICTIONARY';
  const body = isText ? snappyCompress(page) : page;
  const head = out.offset;
  writePageHeader(out, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.offset + page.length,
    compressed_page_size: levels.offset + body.length,
    data_page_header_v2: {
      num_values: rows,
      num_nulls: rows - known,
      num_rows: rows,
      encoding,
      definition_levels_byte_length: levels.offset,
      repetition_levels_byte_length: 0,
      is_compressed: isText,
    },
  });
  uncompressed += out.offset - head + levels.offset + page.length;
  out.appendBytes(levels.getBytes());
  out.appendBytes(body);
  return {
    type,
    encodings: dictionary === undefined ? ['PLAIN'] : ['PLAIN', 'RLE_DICTIONARY'],
    path_in_schema: [name],
    codec: isText ? 'SNAPPY' : 'UNCOMPRESSED',
    num_values: BigInt(rows),
    total_compressed_size: BigInt(out.offset - start),
    total_uncompressed_size: BigInt(uncompressed),
    data_page_offset: dataAt,
    ...(dictionaryAt === undefined ? {} : { dictionary_page_offset: dictionaryAt }),
  };
}

function presentNumbers(values: Float64Array | Int32Array | Uint8Array, rows: number): Float64Array {
  const present = new Float64Array(rows);
  let count = 0;
  for (let row = 0; row < rows; row++) {
    const value = values[row] ?? NaN;
    if (!Number.isNaN(value)) present[count++] = value;
  }
  return present.subarray(0, count);
}

function presentTexts(values: readonly (string | undefined)[], rows: number): string[] {
  const present: string[] = [];
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value !== undefined) present.push(value);
  }
  return present;
}

/** Definition levels: 1 for a value, 0 for null; one run if all are equal, otherwise a bit a row. */
function writeLevels(levels: ByteWriter, values: ParquetValues, rows: number, known: number): void {
  if (known === rows || known === 0) {
    levels.appendVarInt(rows << 1);
    levels.appendUint8(known === 0 ? 0 : 1);
    return;
  }
  const bits = new Uint8Array(Math.ceil(rows / 8));
  for (let row = 0; row < rows; row++) {
    const value = values[row];
    if (value === undefined || Number.isNaN(value)) continue;
    bits[row >> 3] = (bits[row >> 3] ?? 0) | (1 << (row & 7));
  }
  levels.appendVarInt((bits.length << 1) | 1);
  levels.appendBytes(bits);
}

type Present = Float64Array | readonly string[];

interface Dictionary {
  readonly values: Present;
  readonly indexes: Int32Array;
}

/** Undefined if too few values repeat. */
function dictionaryOf(present: Present): Dictionary | undefined {
  const count = present.length;
  if (count === 0 || seldomRepeats(present)) return undefined;
  const most = Math.max(1, Math.floor(count * MOST_DISTINCT));
  const numbers = new Map<number | string | undefined, number>();
  const indexes = new Int32Array(count);
  let last: number | string | undefined;
  let index = 0;
  for (let at = 0; at < count; at++) {
    const value = present[at];
    // Values of a request repeat in its rows. A zero may be negative, and a Map treats both zeros as one key.
    if (!Object.is(value, last)) {
      if (Object.is(value, -0)) return undefined;
      const known = numbers.get(value);
      if (known === undefined) {
        if (numbers.size === most) return undefined;
        index = numbers.size;
        numbers.set(value, index);
      } else index = known;
      last = value;
    }
    indexes[at] = index;
  }
  const keys = [...numbers.keys()];
  return {
    values: present instanceof Float64Array ? Float64Array.from(keys as number[]) : (keys as string[]),
    indexes,
  };
}

/** Looks at two values in a row at some places, since values of a request repeat in its rows. */
function seldomRepeats(present: Present): boolean {
  const seen = new Set<number | string | undefined>();
  const probes = Math.min(PROBED, present.length >> 1);
  for (let probe = 0; probe < probes; probe++) {
    const at = Math.floor((probe * (present.length - 1)) / probes);
    seen.add(present[at]);
    seen.add(present[at + 1]);
  }
  return seen.size > 2 * probes * 0.9;
}

function writeDictionaryPage(out: ByteWriter, page: Uint8Array, count: number, compress: boolean): number {
  const body = compress ? snappyCompress(page) : page;
  const head = out.offset;
  writePageHeader(out, {
    type: 'DICTIONARY_PAGE',
    uncompressed_page_size: page.length,
    compressed_page_size: body.length,
    dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
  });
  const bytes = out.offset - head + page.length;
  out.appendBytes(body);
  return bytes;
}

function indexPage(indexes: Int32Array, distinct: number): Uint8Array {
  const page = new ByteWriter(indexes.length * 2 + 64);
  const width = Math.max(1, Math.ceil(Math.log2(distinct)));
  page.appendUint8(width);
  writeRleBitPackedHybrid(page, indexes, width);
  return page.getBytes();
}

function plain(present: Present, type: ParquetType): Uint8Array {
  if (!(present instanceof Float64Array)) return plainTexts(present);
  switch (type) {
    case 'BOOLEAN': {
      const bits = new Uint8Array(Math.ceil(present.length / 8));
      for (let at = 0; at < present.length; at++)
        if (present[at] !== 0) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7));
      return bits;
    }
    case 'INT64': {
      const whole = new BigInt64Array(present.length);
      for (let at = 0; at < present.length; at++) whole[at] = BigInt(present[at] ?? 0);
      return new Uint8Array(whole.buffer);
    }
    default:
      // Parquet is little-endian, as all machines are that Node runs on, apart from s390x.
      return new Uint8Array(present.buffer, present.byteOffset, present.byteLength);
  }
}

function plainTexts(texts: readonly string[]): Uint8Array {
  let most = 0;
  for (const text of texts) most += 4 + text.length * 3;
  const bytes = Buffer.allocUnsafe(most);
  let at = 0;
  for (const text of texts) {
    const length = bytes.write(text, at + 4);
    bytes.writeUInt32LE(length, at);
    at += 4 + length;
  }
  return bytes.subarray(0, at);
}
