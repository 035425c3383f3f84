import { crc32cOfWords } from './crc32c.js';
import { aligned, At, FORMAT_MAJOR, FORMAT_MINOR, FRAME_HEAD, FrameKind, SCHEMA_HEAD } from './format.js';
import { RECORD_KINDS } from '../../ground/api/ledger.js';
import {
  COLUMN_TYPES,
  ROW_GROUPS,
  schemaText,
  type RecordColumn,
  type RecordSchema,
} from './record-schema.js';

const frames = new WeakMap<RecordSchema, Uint8Array>();

/** The frame that makes a schema known to readers. It is made once for each schema. */
export function schemaFrame(schema: RecordSchema): Uint8Array {
  const known = frames.get(schema);
  if (known !== undefined) return known;
  const text = Buffer.from(schemaText(schema));
  const bytes = Buffer.alloc(aligned(SCHEMA_HEAD + text.length));
  bytes[At.major] = FORMAT_MAJOR;
  bytes[At.minor] = FORMAT_MINOR;
  bytes[At.frameKind] = FrameKind.schema;
  bytes[At.recordKind] = RECORD_KINDS.indexOf(schema.kind) + 1;
  bytes.writeUInt32LE(SCHEMA_HEAD, At.head);
  bytes.writeUInt32LE(parseInt(schema.id.slice(0, 8), 16), At.schemaId);
  bytes.writeUInt32LE(parseInt(schema.id.slice(8), 16), At.schemaId + 4);
  bytes.writeUInt32LE(text.length, At.textLength);
  bytes.set(text, SCHEMA_HEAD);
  sealFrame(bytes);
  frames.set(schema, bytes);
  return bytes;
}

/** Writes the length and the CRC of a whole frame, whose bytes are a multiple of 8. */
export function sealFrame(bytes: Buffer): void {
  bytes.writeUInt32LE(bytes.length - FRAME_HEAD, At.length);
  const words = new Int32Array(new Uint8Array(bytes).buffer);
  bytes.writeUInt32LE(crc32cOfWords(words, FRAME_HEAD / 4, words.length), At.crc);
}

/** The schema of a schema frame; undefined if it is of a kind that this version does not know, or malformed. */
export function readSchema(frame: Buffer): RecordSchema | undefined {
  const start = frame.readUInt32LE(At.head);
  const text = frame.toString('utf8', start, start + frame.readUInt32LE(At.textLength));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { kind, columns, meta } = (value ?? {}) as Partial<RecordSchema>;
  if (kind === undefined || !RECORD_KINDS.includes(kind) || !Array.isArray(columns)) return undefined;
  return {
    kind,
    columns,
    meta: meta ?? {},
    id: schemaIdOf(frame),
  };
}

/** The schema id in the head of a schema frame or of a record frame. */
export function schemaIdOf(frame: Buffer): string {
  return hex(frame.readUInt32LE(At.schemaId)) + hex(frame.readUInt32LE(At.schemaId + 4));
}

/** Whether this version knows the type and the rows of a column. A newer version may have added others. */
export function isKnownColumn({ type, rows }: RecordColumn): boolean {
  return COLUMN_TYPES.includes(type) && ROW_GROUPS.includes(rows);
}

function hex(word: number): string {
  return word.toString(16).padStart(8, '0');
}
