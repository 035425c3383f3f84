import { seedOf, unitPoint } from './unit-point.js';

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
 * Gives the units of an experiment their arms. The place in the layer decides who takes part, and a point of its own decides the
 * arm. So a larger share only adds units, and no unit changes its arm.
 */
export class Assigner {
  readonly #assignment: Assignment;
  readonly #layerSeed: number;
  readonly #armSeed: number;
  readonly #weights: number;

  constructor(assignment: Assignment) {
    this.#assignment = assignment;
    this.#layerSeed = seedOf('layer', assignment.layer);
    this.#armSeed = seedOf('arm', assignment.name);
    this.#weights = assignment.arms.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** Whether a unit takes part: whether its place in the layer is in the share. */
  takesPart(unit: string): boolean {
    const { share, offset } = this.#assignment;
    if (offset === 0 && share === 1) return true; // all places are below 1
    const place = unitPoint(this.#layerSeed, unit);
    return place >= offset && place < offset + share;
  }

  /** The index of the arm of a unit that takes part. */
  drawnArm(unit: string): number {
    const { arms } = this.#assignment;
    const point = unitPoint(this.#armSeed, unit) * this.#weights;
    let end = 0;
    const found = arms.findIndex(({ weight }) => point < (end += weight));
    return found === -1 ? arms.length - 1 : found;
  }

  /** The index of a unit's arm; undefined if the unit does not take part. */
  armOf(unit: string): number | undefined {
    return this.takesPart(unit) ? this.drawnArm(unit) : undefined;
  }
}
