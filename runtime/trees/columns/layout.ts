import type { TreeEnsemble } from '../../api/tree-ensemble.js';
import type { LeafCodes } from './leaf-codes.js';
import type { NodeTests } from './node-tests.js';

/** Rows of a block: one bit of a 128-bit vector each. */
export const BLOCK = 128;
/** Most blocks of one run: a tree's code is fetched once for all of them. */
const MOST_BLOCKS = 8;
/** What their bits may take, so that a large model keeps to the cache, and to little memory. */
const MOST_MASK_BYTES = 4 * 1024 * 1024;
const PAGE = 65_536;

/** Where things lie in the memory of a column program; all in bytes, each a multiple of 16. */
export interface ProgramLayout {
  /** How many blocks are scored at a time. */
  readonly blocks: number;
  /** Numbers of the features that any test reads, in the order of their values. */
  readonly features: readonly number[];
  /** By block: a float64 per row, for each of `features`. */
  readonly values: number;
  /** For each of `features`, 16 bytes: all ones where its value is the same for every row. */
  readonly shared: number;
  /** The bits of the tests: by block and slot, 16 bytes. Row r of the block is bit r>>4 of byte r&15. */
  readonly masks: number;
  /** 16 bytes for each slot of the largest numeric group; nothing is set there between blocks. */
  readonly first: number;
  /** Bytes of one block's values and bits. */
  readonly valueBytes: number;
  readonly maskBytes: number;
  /** By numeric group of tests: its thresholds, filled up with NaN to one less than a power of two. */
  readonly thresholds: readonly number[];
  /** By tree: what its leaves add, by code. */
  readonly leaves: readonly number[];
  /** By output, a sum for each row of all blocks, in the ensemble's precision. */
  readonly sums: readonly number[];
  /** Bytes of one number of the ensemble's precision. */
  readonly width: 4 | 8;
  /** 32 bytes that a tree passes its rows' leaves through. */
  readonly scratch: number;
  readonly pages: number;
}

export function layOut(ensemble: TreeEnsemble, tests: NodeTests, codes: readonly LeafCodes[]): ProgramLayout {
  const width = ensemble.precision === 'float32' ? 4 : 8;
  const features = [...new Set([...tests.numeric, ...tests.categorical].map(({ feature }) => feature))];
  let end = 0;
  const take = (bytes: number): number => {
    const at = end;
    end += Math.ceil(bytes / 16) * 16;
    return at;
  };
  const valueBytes = features.length * BLOCK * 8;
  const maskBytes = tests.slots * 16;
  const blocks = Math.max(1, Math.min(MOST_BLOCKS, Math.floor(MOST_MASK_BYTES / maskBytes)));
  return {
    blocks,
    features,
    width,
    valueBytes,
    maskBytes,
    scratch: take(32),
    first: take(16 * (2 + Math.max(0, ...tests.numeric.map(({ thresholds }) => thresholds.length)))),
    shared: take(features.length * 16),
    values: take(blocks * valueBytes),
    sums: ensemble.base.map(() => take(blocks * BLOCK * width)),
    thresholds: tests.numeric.map(({ thresholds }) => take(2 ** searchSteps(thresholds.length) * 8)),
    leaves: codes.map(({ bits }) => take(2 ** bits * width)),
    masks: take(blocks * maskBytes),
    pages: Math.ceil(end / PAGE),
  };
}

/** Halvings that find the number of thresholds below a value. */
export function searchSteps(thresholds: number): number {
  return Math.ceil(Math.log2(thresholds + 1));
}
