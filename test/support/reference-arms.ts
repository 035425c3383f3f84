import { referenceMurmur3 } from './reference-murmur3.js';

/** An experiment, as docs/experiments/live.md describes it. */
export interface ReferenceExperiment {
  readonly name: string;
  readonly layer: string;
  /** In percent. */
  readonly offset: number;
  readonly share: number;
  /** Weights by arm, in the order of the file. */
  readonly arms: Readonly<Record<string, number>>;
}

/** A point as docs/experiments/live.md defines it. */
function point(purpose: string, name: string, unit: string): number {
  const seed = referenceMurmur3(Buffer.from(`${purpose}\u0000${name}`));
  return referenceMurmur3(Buffer.from(unit), seed) / 2 ** 32;
}

/** The arm of a unit, computed from the documentation alone; undefined if the unit does not take part. */
export function referenceArm(
  { name, layer, offset, share, arms }: ReferenceExperiment,
  unit: string,
): string | undefined {
  const place = 100 * point('layer', layer, unit);
  if (place < offset || place >= offset + share) return undefined;
  const total = Object.values(arms).reduce((sum, weight) => sum + weight, 0);
  let left = point('arm', name, unit) * total;
  for (const [arm, weight] of Object.entries(arms)) {
    if (left < weight) return arm;
    left -= weight;
  }
  throw new Error('a point is below 1');
}
