import type { JsonObject, JsonValue } from '../../api/types.js';
import { readText, type ByteWriter } from './bytes.js';
import { idText, isWellFormed } from '../../core/ids.js';
import type { RecordLayout, StoredField } from './record-layout.js';
import { timestampOf } from '../../core/timestamp.js';
import { fits } from '../../core/value-fit.js';

/**
 * The packed fields of a record; entity records and feature segments share this form. Numbers are little-endian.
 *
 *   u8    version of the form
 *   u8    flags (see FLAG_*)
 *   2 bits a field: absent, present, sent (see State), null
 *   f64   int, float and timestamp fields (epoch ms)
 *   u32   for each other field, where its bytes end, counted from the start of the variable part
 *   u8    bool fields; for references the spelling (see Spelling)
 *   …     variable part: UTF-8 text; lists of text (u32 count, u32 ends, texts); vectors (float32 where every element
 *         survives that, else float64); JSON for inline records and lists of them
 *
 * All fields have their place whether they are there or not: a column is read at an offset that the layout knows.
 */

export const BODY_VERSION = 1;
/** Every text of the variable part is ASCII. */
export const FLAG_ASCII = 1;
/** The object carried the layout's key, and it held the id. */
export const FLAG_KEY = 2;
/** A tail follows the body. */
export const FLAG_TAIL = 4;

export const State = {
  absent: 0,
  present: 1,
  /**
   * The value as it was sent is in the tail, since the packed form would give it back in another spelling (a time sent
   * as text, an ill-formed text, an id sent as a number) or could not hold it at all (NaN, a bool of 2, or no bytes in its place).
   */
  sent: 2,
  null: 3,
} as const;

const Spelling = { name: 0, alternative: 1, both: 2 } as const;

/** What a bool's byte holds if the value is none. */
export const NO_BOOL = 2;

/**
 * Writes an object's fields.
 * @param id of the object, where the layout has a key: it costs no bytes if the object has it there
 * @param tail gets what is no field, and what the packed form would not give back as it was sent; without one, what is no
 *   field is left out, and such values are refused
 * @throws TypeError for a value that does not fit when there is no tail.
 */
export function writeBody(
  writer: ByteWriter,
  layout: RecordLayout,
  json: JsonObject,
  id: string | undefined,
  tail: Map<string, JsonValue> | undefined,
): void {
  // By field, under each of its two names: to ask the object for every name would take longer than to go through it.
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
      // 7 and "7" are one id.
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

/** Marks the place of a value that the field cannot hold. */
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

/** Writes a value that fits its type; false if reading it back would not give the same JSON. */
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
    case 'vector':
      writeVector(writer, value as readonly number[]);
      return true;
    case 'json':
      writer.text(JSON.stringify(value));
      return true;
  }
}

/** Texts as they are, numbers as the ids that they are; false if that would not give the same JSON. */
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

function writeVector(writer: ByteWriter, elements: readonly number[]): void {
  const narrow = elements.every((element) => Math.fround(element) === element);
  for (const element of elements) {
    if (narrow) writer.float(element);
    else writer.double(element);
  }
}

/** The state of a field of the body at `at`. */
export function stateOf(bytes: Buffer, at: number, field: StoredField): number {
  return ((bytes[at + field.stateAt] ?? 0) >> field.stateShift) & 3;
}

/** Where a variable field's bytes start. */
export function variableStart(bytes: Buffer, at: number, layout: RecordLayout, field: StoredField): number {
  const offset = field.startAt < 0 ? 0 : bytes.readUInt32LE(at + field.startAt);
  return at + layout.fixedSize + offset;
}

/** Where they end. */
export function variableEnd(bytes: Buffer, at: number, layout: RecordLayout, field: StoredField): number {
  return at + layout.fixedSize + bytes.readUInt32LE(at + field.valueAt);
}

/** Where the body ends, and a tail may begin. */
export function bodyEnd(bytes: Buffer, at: number, layout: RecordLayout): number {
  const last = layout.fields.findLast((field) => field.storage !== 'double' && field.storage !== 'bool');
  return last === undefined ? at + layout.fixedSize : variableEnd(bytes, at, layout, last);
}

/**
 * The value of a field whose state is `present`, as it was sent.
 * @param limit where the record ends
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

/** Puts every field of the body into an object, under the names that were sent; those that are in the tail not. */
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

/** Whether a body of this layout can lie there; its variable parts may still be cut short. */
export function isBody(bytes: Buffer, at: number, end: number, layout: RecordLayout): boolean {
  return end <= bytes.length && end - at >= layout.fixedSize && bytes[at] === BODY_VERSION;
}
