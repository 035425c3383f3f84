import type { JsonObject, JsonValue } from '../../../ground/api/types.js';
import { ByteWriter, readText } from './bytes.js';
import type { RecordLayout } from './record-layout.js';
import { bodyEnd, FLAG_KEY, FLAG_TAIL, isBody, readBody, writeBody } from './packed-body.js';
import { isJsonObject } from '../../../ground/core/value-fit.js';

/**
 * The record of an entity's attributes:
 *
 *   8 bytes  layout id
 *   body     the declared attributes (packed-body.ts)
 *   tail     a JSON object in UTF-8, up to the end of the record; omitted if empty: undeclared attributes, and declared
 *            attributes that the body cannot return as they were sent
 */

/** Offset of the body in an entity record. */
export const ENTITY_BODY = 8;

const writer = new ByteWriter();

/**
 * The prototype of decoded objects, which has no `__proto__`. V8 stores objects whose prototype is null itself as hash
 * tables, and serializes them at half the speed.
 */
const BARE: object = Object.freeze(Object.create(null) as object);

/**
 * Encodes an entity. Any JSON object can be encoded and is decoded unchanged; rankings read a value that does not fit
 * the layout as failed.
 * @param id the entity's id, which the store key contains; it takes no bytes if the object has it under the layout's
 *   key
 */
export function encodeEntity(layout: RecordLayout, json: JsonObject, id: string): Buffer {
  const tail = new Map<string, JsonValue>();
  writer.start();
  writer.raw(layout.id);
  writeBody(writer, layout, json, id, tail);
  if (tail.size > 0) {
    const flagsAt = ENTITY_BODY + 1;
    writer.bytes[flagsAt] = (writer.bytes[flagsAt] ?? 0) | FLAG_TAIL;
    writer.text(tailText(tail));
  }
  return writer.finish();
}

/** JSON.stringify escapes lone surrogates, so the text is well-formed. */
function tailText(tail: ReadonlyMap<string, JsonValue>): string {
  const object = Object.create(BARE) as Record<string, JsonValue>;
  for (const [name, value] of tail) object[name] = value;
  return JSON.stringify(object);
}

/**
 * Decodes an entity as it was sent; the object inherits nothing.
 * @throws RangeError or SyntaxError if the record is damaged
 */
export function decodeEntity(record: Buffer, layout: RecordLayout, id: string): JsonObject {
  if (!isBody(record, ENTITY_BODY, record.length, layout)) throw new RangeError('the record is cut short');
  const json = Object.create(BARE) as Record<string, JsonValue>;
  if (layout.key !== undefined && ((record[ENTITY_BODY + 1] ?? 0) & FLAG_KEY) !== 0) json[layout.key] = id;
  readBody(record, ENTITY_BODY, record.length, layout, json);
  const tail = readTail(record, ENTITY_BODY, record.length, layout);
  for (const name of Object.keys(tail)) json[name] = tail[name] ?? null;
  return json;
}

const NO_TAIL: JsonObject = Object.freeze(Object.create(null) as JsonObject);

/**
 * The tail of an entity record that has its body at `at` and ends at `end`.
 * @throws RangeError or SyntaxError if it is damaged
 */
export function readTail(record: Buffer, at: number, end: number, layout: RecordLayout): JsonObject {
  const start = bodyEnd(record, at, layout);
  if (start > end) throw new RangeError('the record is cut short');
  if (((record[at + 1] ?? 0) & FLAG_TAIL) === 0) return NO_TAIL;
  const tail: unknown = JSON.parse(readText(record, start, end, false));
  if (!isJsonObject(tail)) throw new SyntaxError('the tail of the record is not an object');
  return tail;
}

/** The hex id of the layout of a record; undefined if it is not an entity record. */
export function layoutIdOf(record: Buffer): string | undefined {
  return record.length < ENTITY_BODY ? undefined : record.toString('hex', 0, ENTITY_BODY);
}
