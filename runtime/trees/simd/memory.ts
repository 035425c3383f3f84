/** Where the SIMD module finds what has the same place for every ensemble, in bytes of its memory. */

/** Rows of a block: one bit of a plane's vector each. Row r of the block is bit r>>4 of byte r&15. */
export const BLOCK = 128;
/** Blocks of a run, of which each has its own functions: a plane is so many vectors of 16 bytes. */
export const WIDTHS = [1, 2, 4, 8] as const;
export type Width = (typeof WIDTHS)[number];

/** Two times eight vectors: the low and the high byte of the leaf codes of a block's rows. */
export const CODES = 0;
/** Offsets of 16 rows' leaves. */
export const OFFSETS = 256;
/** The planes. */
export const PLANES = 1024;
/** Planes that are always the same. */
export const ZEROS = 0;
export const ONES = 1;
/** What nobody reads. */
export const SPARE = 2;
export const FIRST_PLANE = 3;

/** A plane's address is its number shifted by so much. */
export function planeShift(width: Width): number {
  return 4 + Math.log2(width);
}

/** Halvings that find a value's place among the thresholds of a group. */
export const MOST_STEPS = 21;

/** A group of numeric tests, as `values` reads it. */
export const GROUP = {
  values: 0,
  /** Address of a number: not 0 where all rows have the first one's value. */
  shared: 4,
  thresholds: 8,
  /** Bytes of half of the thresholds. */
  half: 12,
  /** One of `NodeRule.none`, `zero`, `nan`. */
  rule: 16,
  /** Where missing values are placed among the thresholds, times 8. */
  missing: 20,
  /** How many thresholds there are. */
  count: 24,
  /** The address of a plane's number for each threshold, of nodes that send missing values right; 0 if there is none. */
  right: 28,
  /** The same of those that send them left. */
  left: 32,
  bytes: 48,
} as const;

/** A categorical feature, as `categories` reads it. */
export const CATEGORIES = {
  /** A number for each row: the address of a list of planes that have its bit, behind their number. */
  lists: 0,
  bytes: 16,
} as const;

/** A tree, as `add` reads it: operations follow, each of them four planes: test, left, right, result. */
export const TREE = {
  operations: 0,
  /** What its leaves add, by code; of a tree with linear leaves the address of each leaf. */
  leaves: 4,
  sums: 8,
  /** Whether its codes have more than eight bits. */
  long: 12,
  /** Planes of the code's bits, from the lowest. */
  code: 16,
  bytes: 80,
} as const;
export const OPERATION_BYTES = 16;

/** A linear leaf. Its terms follow: the address of a feature's values, and from byte 8 on its coefficient. */
export const LINEAR = { terms: 0, constant: 8, value: 16, bytes: 24 } as const;
export const TERM = { values: 0, coefficient: 8, bytes: 16 } as const;
