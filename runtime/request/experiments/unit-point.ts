import { murmur3OfText } from '../../ground/core/murmur3.js';

/** What a point decides: who takes part, or which arm. Different seeds make the two independent. */
export type PointOf = 'layer' | 'arm';

/**
 * The seed of the points of one layer, or of one experiment: the MurmurHash3 of the purpose and the name in UTF-8, with a
 * zero byte between them.
 */
export function seedOf(purpose: PointOf, name: string): number {
  return murmur3OfText(`${purpose}\u0000${name}`);
}

/**
 * The point of a unit in [0, 1): its MurmurHash3 in UTF-8, with a seed, divided by 2^32. Every language computes the same
 * number; clients/python has a copy. A request needs one for each experiment, and a cryptographic hash takes many times as
 * long.
 */
export function unitPoint(seed: number, unit: string): number {
  return murmur3OfText(unit, seed) / 2 ** 32;
}
