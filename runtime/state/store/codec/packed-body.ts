import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { readText, type ByteWriter } from './bytes.js';
import { idText, isWellFormed } from '../../../ground/core/ids.js';
import type { RecordLayout, StoredField } from './record-layout.js';
import { timestampOf } from '../../../ground/core/timestamp.js';
import { fits } from '../../../ground/core/value-fit.js';

/**
 * The packed fields of a record; entity records and feature segments share this form. Numbers are little-endian.
 *
 *   u8    version of the form
 *   u8    flags (see FLAG_*)
 *   2 bits for each field: absent, present, sent (see State), null
 *   f64   int, float and timestamp fields (epoch ms)
 *   u32   for each other field, the offset after its bytes, from the start of the variable part
 *   u8    bool fields; for references the spelling (see Spelling)
 *   …     variable part: UTF-8 text; lists of text (u32 count, u32 ends, texts); vectors (float32 if every
 *         element fits, otherwise float64); lists of numbers (u8 bytes of an element, then as a vector); JSON for inline records and lists of them
 *
 * Every field has a place even if it is absent, so a column is read at an offset that the layout knows.
 */

export const BODY_VERSION = 1;
/** Every text of the variable part is ASCII. */
export const FLAG_ASCII = 1;
/** The object carried its id under the layout's key. */
export const FLAG_KEY = 2;
/** A tail follows the body. */
export const FLAG_TAIL = 4;

export const State = {
  absent: 0,
  present: 1,
  /**
   * The tail holds the value as it was sent. Either the packed form would return it in another spelling: a time sent as
   * text, an ill-formed text, an id sent as a number. Or it cannot hold the value: the field then contains NaN, a bool
   * of 2, or no bytes.
   */
  sent: 2,
  null: 3,
} as const;

const Spelling = { name: 0, alternative: 1, both: 2 } as const;

/** The byte of a bool field whose value is not a bool. */
export const NO_BOOL = 2;

/**
 * Writes the fields of an object.
 * @param id the id of the object, if the layout has a key: it takes no bytes if the object has it under that key
 * @param tail receives undeclared fields, and values that the packed form cannot return as they were sent; without a
 *   tail, undeclared fields are dropped and such values are rejected
 * @throws TypeError if there is no tail and a value does not fit
 */
export function writeBody(
  writer: ByteWriter,
  layout: RecordLayout,
  json: JsonObject,
  id: string | undefined,
  tail: Map<string, JsonValue> | undefined,
): void {
  // By field, under each of its two names: looking up every name in the object would be slower than iterating over the
  // object.
  const named = new Array<JsonValue | undefined>(layout.fields.length);
  const spelt = new Array<JsonValue | undefined>(layout.fields.length);
  let flags = 0;
  for (const name of Object.keys(json)) {
    const value = json[name];
    const field = layout.carried.get(name);
    if (field !== undefined) (field.name === name ? named : spelt)[field.index] = value;
    else if (name === layout.key && value === id) flags = FLAG_KEY;
    else tail?.set(name, value ?? null);
  }
  const at = writer.zeros(layout.fixedSize);
  for (const field of layout.fields) {
    const state = writeField(writer, at, field, named[field.index], spelt[field.index], tail);
    const stateAt = at + field.stateAt;
    writer.bytes[stateAt] = (writer.bytes[stateAt] ?? 0) | (state << field.stateShift);
    if (field.storage !== 'double' && field.storage !== 'bool') {
      writer.bytes.writeUInt32LE(writer.length - at - layout.fixedSize, at + field.valueAt);
    }
  }
  writer.bytes[at] = BODY_VERSION;
  writer.bytes[at + 1] = flags | (writer.ascii ? FLAG_ASCII : 0);
}

function writeField(
  writer: ByteWriter,
  at: number,
  field: StoredField,
  named: JsonValue | undefined,
  spelt: JsonValue | undefined,
  tail: Map<string, JsonValue> | undefined,
): number {
  let value = named;
  if (spelt !== undefined && field.alternative !== undefined) {
    if (value === undefined || (value === null && idText(spelt) !== undefined)) {
      if (value === null) tail?.set(field.name, null);
      value = spelt;
      writer.bytes[at + field.spellingAt] = Spelling.alternative;
    } else if (value === spelt) {
      writer.bytes[at + field.spellingAt] = Spelling.both;
    } else {
      tail?.set(field.alternative, spelt);
      // 7 and "7" are the same id.
      if (spelt !== null && (idText(value) === undefined || idText(value) !== idText(spelt))) {
        tail?.set(field.name, value);
        return unusable(writer, at, field, tail);
      }
    }
  }
  if (value === undefined) return State.absent;
  if (value === null) return State.null;
  const isFit = fits(value, field.type);
  if (isFit && (writeValue(writer, at, field, value) || tail === undefined)) return State.present;
  const spelling = field.spellingAt < 0 ? Spelling.name : writer.bytes[at + field.spellingAt];
  if (spelling !== Spelling.alternative) tail?.set(field.name, value);
  if (spelling !== Spelling.name && field.alternative !== undefined) tail?.set(field.alternative, value);
  return isFit ? State.sent : unusable(writer, at, field, tail);
}

/** Marks a field as unusable because it cannot hold the value. */
function unusable(
  writer: ByteWriter,
  at: number,
  field: StoredField,
  tail: Map<string, JsonValue> | undefined,
): number {
  if (tail === undefined) throw new TypeError(`the value of ${field.name} does not fit its type`);
  if (field.storage === 'double') writer.bytes.writeDoubleLE(NaN, at + field.valueAt);
  else if (field.storage === 'bool') writer.bytes[at + field.valueAt] = NO_BOOL;
  return State.sent;
}

/** Writes a value that fits its type; false if decoding would not return the same JSON. */
function writeValue(writer: ByteWriter, at: number, field: StoredField, value: JsonValue): boolean {
  switch (field.storage) {
    case 'double':
      writer.bytes.writeDoubleLE(
        field.type.kind === 'timestamp' ? timestampOf(value) : (value as number),
        at + field.valueAt,
      );
      return typeof value === 'number';
    case 'bool':
      writer.bytes[at + field.valueAt] = value === true ? 1 : 0;
      return true;
    case 'text': {
      const text = idText(value) ?? '';
      return (writer.text(text) || isWellFormed(text)) && text === value;
    }
    case 'texts':
      return writeTexts(writer, value as readonly JsonValue[]);
    case 'numbers':
      writeNumbers(writer, value as readonly number[]);
      return true;
    case 'vector':
      writeElements(writer, value as readonly number[], areNarrow(value as readonly number[]));
      return true;
    case 'json':
      writer.text(JSON.stringify(value));
      return true;
  }
}

/** Writes texts, and ids that are numbers as texts; false if decoding would not return the same JSON. */
function writeTexts(writer: ByteWriter, texts: readonly JsonValue[]): boolean {
  writer.uint32(texts.length);
  const ends = writer.zeros(4 * texts.length);
  const start = writer.length;
  let isSame = true;
  for (let i = 0; i < texts.length; i++) {
    const text = idText(texts[i]) ?? '';
    const ascii = writer.text(text);
    isSame &&= (ascii || isWellFormed(text)) && text === texts[i];
    writer.bytes.writeUInt32LE(writer.length - start, ends + 4 * i);
  }
  return isSame;
}

/** The length of a list is not declared, so the bytes say how wide an element is. */
function writeNumbers(writer: ByteWriter, elements: readonly number[]): void {
  const narrow = areNarrow(elements);
  writer.bytes[writer.zeros(1)] = narrow ? 4 : 8;
  writeElements(writer, elements, narrow);
}

/** Whether float32 holds every element exactly. */
function areNarrow(elements: readonly number[]): boolean {
  return elements.every((element) => Math.fround(element) === element);
}

function writeElements(writer: ByteWriter, elements: readonly number[], narrow: boolean): void {
  for (const element of elements) {
    if (narrow) writer.float(element);
    else writer.double(element);
  }
}

/** The state of a field of the body at `at`. */
export function stateOf(bytes: Buffer, at: number, field: StoredField): number {
  return ((bytes[at + field.stateAt] ?? 0) >> field.stateShift) & 3;
}

/** Offset of the bytes of a variable field. */
export function variableStart(bytes: Buffer, at: number, layout: RecordLayout, field: StoredField): number {
  const offset = field.startAt < 0 ? 0 : bytes.readUInt32LE(at + field.startAt);
  return at + layout.fixedSize + offset;
}

/** Offset after the bytes of a variable field. */
export function variableEnd(bytes: Buffer, at: number, layout: RecordLayout, field: StoredField): number {
  return at + layout.fixedSize + bytes.readUInt32LE(at + field.valueAt);
}

/** Offset after the body, where a tail may follow. */
export function bodyEnd(bytes: Buffer, at: number, layout: RecordLayout): number {
  const last = layout.fields.findLast((field) => field.storage !== 'double' && field.storage !== 'bool');
  return last === undefined ? at + layout.fixedSize : variableEnd(bytes, at, layout, last);
}

/**
 * The value of a field in the state `present`, as it was sent.
 * @param limit offset of the end of the record
 * @throws RangeError if the bytes are cut short
 */
export function readField(
  bytes: Buffer,
  at: number,
  limit: number,
  layout: RecordLayout,
  field: StoredField,
): JsonValue {
  if (field.storage === 'double') return bytes.readDoubleLE(at + field.valueAt);
  if (field.storage === 'bool') return bytes[at + field.valueAt] === 1;
  const start = variableStart(bytes, at, layout, field);
  const end = variableEnd(bytes, at, layout, field);
  const ascii = ((bytes[at + 1] ?? 0) & FLAG_ASCII) !== 0;
  if (start > end || end > limit) throw new RangeError(`the bytes of ${field.name} are cut short`);
  switch (field.storage) {
    case 'text':
      return readText(bytes, start, end, ascii);
    case 'texts': {
      const texts: string[] = [];
      eachText(bytes, start, end, ascii, (text) => texts.push(text));
      return texts;
    }
    case 'numbers': {
      const { width, count } = numbersAt(bytes, start, end);
      if (count < 0) throw new RangeError(`the numbers of ${field.name} are cut short`);
      return Array.from({ length: count }, (_, i) =>
        width === 8 ? bytes.readDoubleLE(start + 1 + 8 * i) : bytes.readFloatLE(start + 1 + 4 * i),
      );
    }
    case 'vector': {
      const size = field.type.kind === 'vector' ? field.type.size : 0;
      const wide = end - start === 8 * size;
      return Array.from({ length: size }, (_, i) =>
        wide ? bytes.readDoubleLE(start + 8 * i) : bytes.readFloatLE(start + 4 * i),
      );
    }
    case 'json':
      return JSON.parse(readText(bytes, start, end, ascii)) as JsonValue;
  }
}

/** The width and the number of the elements of a list of numbers; the number is -1 if the bytes are damaged. */
export function numbersAt(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly width: number; readonly count: number } {
  const width = end > start ? (bytes[start] as number) : 0;
  const isWhole = (width === 4 || width === 8) && (end - start - 1) % width === 0;
  return { width, count: isWhole ? (end - start - 1) / width : -1 };
}

/** Reads a list of texts, in order. @throws RangeError if the bytes are cut short */
export function eachText(
  bytes: Buffer,
  start: number,
  end: number,
  ascii: boolean,
  take: (text: string) => void,
): void {
  const count = bytes.readUInt32LE(start);
  const texts = start + 4 + 4 * count;
  let from = texts;
  for (let i = 0; i < count; i++) {
    const to = texts + bytes.readUInt32LE(start + 4 + 4 * i);
    if (to < from || to > end) throw new RangeError('a list of texts is cut short');
    take(readText(bytes, from, to, ascii));
    from = to;
  }
}

/**
 * Adds every field of the body to an object under the names that were sent, except fields whose value is in the tail.
 */
export function readBody(
  bytes: Buffer,
  at: number,
  limit: number,
  layout: RecordLayout,
  into: Record<string, JsonValue>,
): void {
  for (const field of layout.fields) {
    const state = stateOf(bytes, at, field);
    if (state !== State.present && state !== State.null) continue;
    const value = state === State.null ? null : readField(bytes, at, limit, layout, field);
    const spelling = field.spellingAt < 0 ? Spelling.name : bytes[at + field.spellingAt];
    if (spelling !== Spelling.alternative) into[field.name] = value;
    if (spelling !== Spelling.name) into[`${field.name}_id`] = value;
  }
}

/** Whether a body of this layout can be at `at`; its variable parts may still be cut short. */
export function isBody(bytes: Buffer, at: number, end: number, layout: RecordLayout): boolean {
  return end <= bytes.length && end - at >= layout.fixedSize && bytes[at] === BODY_VERSION;
}
