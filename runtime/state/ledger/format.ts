/**
 * The layout of a frame; docs/ledger.md has the table. All numbers are little-endian. A frame starts at a multiple of 8
 * bytes, and so does each part of it that holds numbers of 8 bytes.
 */
export const FORMAT_MAJOR = 1;
export const FORMAT_MINOR = 0;

/** The bytes before the payload: its length and its CRC-32C. */
export const FRAME_HEAD = 8;

/** The bytes from the start of a frame to its first column or to the text of its schema. */
export const RECORD_HEAD = 64;
export const SCHEMA_HEAD = 32;

/** A longer frame is taken for damage. */
export const LONGEST_FRAME = 64 * 2 ** 20;

export const FrameKind = { schema: 1, record: 2 } as const;

/** Places in the head of a frame, from the start of the frame. */
export const At = {
  length: 0,
  crc: 4,
  major: 8,
  minor: 9,
  frameKind: 10,
  recordKind: 11,
  /** Where the columns or the text of the schema start. A newer minor version may have a longer head. */
  head: 12,
  schemaId: 16,
  /** Schema frame: the bytes of the text. */
  textLength: 24,
  /** Record frame: 16 bytes of the instance, then sequence, time and numbers of rows. */
  instance: 24,
  sequence: 40,
  time: 48,
  candidates: 56,
  changes: 60,
} as const;

/** The bytes at the start of a column: length of the rest, storage, form of its statuses, the one status. */
export const COLUMN_HEAD = 8;

/** How the values of a column are stored. A column of any type may have a narrower storage that holds it exactly. */
export const Storage = {
  none: 0,
  float64: 1,
  float32: 2,
  int32: 3,
  uint8: 4,
  /** u32 ends of the rows in bytes, then UTF-8. */
  text: 5,
  /** u32 ends of the rows in items, u32 number of items, u32 ends of the items in bytes, then UTF-8. */
  texts: 6,
  /** u32 ends of the rows in items, then float64 items from the next multiple of 8. */
  numbers: 7,
} as const;

/** Bit of the storage: one row is stored, and all rows have its value. */
export const CONSTANT = 0x80;

/** Form of the statuses: all rows have one status, or there is a byte a row. */
export const StatusForm = { one: 0, bytes: 1 } as const;

export function aligned(bytes: number): number {
  return (bytes + 7) & ~7;
}
