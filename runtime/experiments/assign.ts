import { unitPoint } from './unit-point.js';

/** What the choice of an arm depends on. */
export interface Assignment {
  readonly name: string;
  readonly layer: string;
  /** From 0 to 1. */
  readonly share: number;
  /** From 0 to 1: where the share begins in the layer. */
  readonly offset: number;
  readonly arms: readonly { readonly name: string; readonly weight: number }[];
}

/**
 * The index of a unit's arm; undefined if the unit does not take part. The place in the layer decides who takes part, and
 * a point of its own decides the arm. So a larger share only adds units, and no unit changes its arm.
 * @param place `unitPoint('layer', …)`, for several experiments of one layer
 */
export function armOf(
  { name, layer, share, offset, arms }: Assignment,
  unit: string,
  place = unitPoint('layer', layer, unit),
): number | undefined {
  if (place < offset || place >= offset + share) return undefined;
  const total = arms.reduce((sum, { weight }) => sum + weight, 0);
  const point = unitPoint('arm', name, unit) * total;
  let end = 0;
  const found = arms.findIndex(({ weight }) => point < (end += weight));
  return found === -1 ? arms.length - 1 : found;
}
