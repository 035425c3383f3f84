/** The part of the memory of the SIMD module that is the same for every ensemble. Addresses are in bytes. */

/** The number of rows of a block: one for each bit of a plane's vector. Row r of the block is bit r>>4 of byte r&15. */
export const BLOCK = 128;
/** The number of blocks of a run. Each has functions of its own: a plane is this many vectors of 16 bytes. */
export const WIDTHS = [1, 2, 4, 8] as const;
export type Width = (typeof WIDTHS)[number];

/** Two times eight vectors: the low and the high bytes of the leaf codes of a block's rows. */
export const CODES = 0;
/** Offsets of 16 rows' leaves. */
export const OFFSETS = 256;
/** The planes. */
export const PLANES = 1024;
/** Planes with constant content. */
export const ZEROS = 0;
export const ONES = 1;
/** A plane that nobody reads. */
export const SPARE = 2;
export const FIRST_PLANE = 3;

/** The address of a plane is its number shifted left by this. */
export function planeShift(width: Width): number {
  return 4 + Math.log2(width);
}

/** The number of steps of the binary search for a value's place among the thresholds of a group. */
export const MOST_STEPS = 21;

/** A group of numeric tests, as `values` reads it. */
export const GROUP = {
  values: 0,
  /** The address of a number that is not 0 if all rows have the value of the first row. */
  shared: 4,
  thresholds: 8,
  /** The size in bytes of half of the thresholds. */
  half: 12,
  /** One of `NodeRule.none`, `zero`, `nan`. */
  rule: 16,
  /** The place of missing values among the thresholds, times 8. */
  missing: 20,
  /** The number of thresholds. */
  count: 24,
  /** The address of the planes' numbers, by threshold, for nodes that send missing values right; 0 if there is none. */
  right: 28,
  /** The same for nodes that send missing values left. */
  left: 32,
  bytes: 48,
} as const;

/** A categorical feature, as `categories` reads it. */
export const CATEGORIES = {
  /**
   * A number for each row: the address of a list of the planes that have its bit set. The list begins with its length.
   */
  lists: 0,
  bytes: 16,
} as const;

/** A tree, as `add` reads it. Its operations follow; each has four planes: test, left, right, result. */
export const TREE = {
  operations: 0,
  /** The values of its leaves, by code. For a tree with linear leaves: the address of each leaf. */
  leaves: 4,
  sums: 8,
  /** Whether its codes have more than eight bits. */
  long: 12,
  /** Planes of the code's bits, from the lowest. */
  code: 16,
  bytes: 80,
} as const;
export const OPERATION_BYTES = 16;

/** A linear leaf. Its terms follow: the address of a feature's values, and from byte 8 on the coefficient. */
export const LINEAR = { terms: 0, constant: 8, value: 16, bytes: 24 } as const;
export const TERM = { values: 0, coefficient: 8, bytes: 16 } as const;
