import { hash } from 'node:crypto';

/** Set before what is hashed, so that the arms of units do not depend on their places in a layer. */
export type PointOf = 'layer' | 'arm';

/**
 * The point of a unit in [0, 1): the first 53 bits of the SHA-256 of the purpose, the name and the unit in UTF-8, with a
 * zero byte between them, divided by 2^53. Every language computes the same number; clients/python has a copy.
 * @param name of the layer, or of the experiment
 */
export function unitPoint(purpose: PointOf, name: string, unit: string): number {
  // As a text, since a Buffer takes three times as long.
  const digest = hash('sha256', `${purpose}\u0000${name}\u0000${unit}`, 'binary');
  return (wordAt(digest, 0) * 2 ** 21 + (wordAt(digest, 4) >>> 11)) / 2 ** 53;
}

/** The unsigned number in four bytes, the highest first. */
function wordAt(bytes: string, at: number): number {
  const byte = (offset: number): number => bytes.charCodeAt(at + offset);
  return ((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0;
}
