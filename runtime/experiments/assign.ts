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
 * Whether a unit takes part: whether its place in the layer is in the share.
 * @param placeOf the place of the unit in the layer; called only if it decides
 */
export function takesPart(
  { layer, share, offset }: Assignment,
  unit: string,
  placeOf: (layer: string, unit: string) => number = placeIn,
): boolean {
  if (offset === 0 && share === 1) return true; // all places are below 1
  const place = placeOf(layer, unit);
  return place >= offset && place < offset + share;
}

/** The place of a unit in a layer, in [0, 1). */
export function placeIn(layer: string, unit: string): number {
  return unitPoint('layer', layer, unit);
}

/** The index of the arm of a unit that takes part. */
export function drawnArm({ name, arms }: Assignment, unit: string): number {
  const total = arms.reduce((sum, { weight }) => sum + weight, 0);
  const point = unitPoint('arm', name, unit) * total;
  let end = 0;
  const found = arms.findIndex(({ weight }) => point < (end += weight));
  return found === -1 ? arms.length - 1 : found;
}

/**
 * The index of a unit's arm; undefined if the unit does not take part. The place in the layer decides who takes part, and
 * a point of its own decides the arm. So a larger share only adds units, and no unit changes its arm.
 */
export function armOf(assignment: Assignment, unit: string): number | undefined {
  return takesPart(assignment, unit) ? drawnArm(assignment, unit) : undefined;
}
