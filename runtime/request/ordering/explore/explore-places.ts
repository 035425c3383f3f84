import type { DrawMethod, Exploration } from '../../../ground/api/ranking-edit.js';
import type { DrawnOrder } from './draw-order.js';
import { marginalsOf } from './draw-marginals.js';
import type { Draws, OpenPlaces } from './draws.js';

/** The first places of a ranking, after they were drawn. */
export class ExploredPlaces {
  readonly #runs: readonly DrawnRun[];
  #marginals: Float64Array | undefined;

  /**
   * @param step number of the step that explores
   * @param before the rows by place without exploration
   * @param order the rows by place as drawn
   * @param propensity by place: the probability of the row given those above it; NaN where nothing was drawn
   */
  constructor(
    readonly step: number,
    readonly before: Int32Array,
    readonly order: Int32Array,
    readonly propensity: Float64Array,
    runs: readonly DrawnRun[],
  ) {
    this.#runs = runs;
  }

  /** By place: the probability of the row there, whatever is above it; NaN where nothing was drawn. */
  get marginals(): Float64Array {
    return (this.#marginals ??= this.#findMarginals());
  }

  #findMarginals(): Float64Array {
    const found = new Float64Array(this.order.length).fill(NaN);
    for (const { draw, scores, open, drawn } of this.#runs) {
      const marginals = marginalsOf(draw, scores, drawn);
      open.places.forEach((place, at) => (found[place] = marginals[at] ?? NaN));
    }
    return found;
  }
}

interface DrawnRun {
  readonly draw: DrawMethod;
  /** That the draw depends on, by place without exploration. */
  readonly scores: Float64Array;
  readonly open: OpenPlaces;
  readonly drawn: DrawnOrder;
}

/** What a step asks for that explores. */
export interface ExploringStep {
  readonly step: number;
  readonly exploration: Exploration;
}

/** The part of a ranking that exploration reads. */
export interface PlacedRows {
  /** The first rows of the final order; at least as many as are explored. */
  readonly order: Int32Array;
  /** The rows with a place of their own, by position from 1. */
  readonly fixed: ReadonlyMap<number, number>;
  /** By row. */
  readonly scores: Float64Array;
  /** By row. */
  readonly tiers: Int32Array;
}

/**
 * Draws the order of the first places. Rows with a place of their own keep it. A row changes places only with rows of its
 * tier, so a buried row stays below the others.
 */
export function explorePlaces(
  { step, exploration }: ExploringStep,
  placed: PlacedRows,
  draws: Draws,
): ExploredPlaces {
  const before = placed.order.slice(0, exploration.top);
  const order = before.slice();
  const propensity = new Float64Array(before.length).fill(NaN);
  const drawOpen = draws(step);
  const runs: DrawnRun[] = [];
  for (const open of openPlaces(before, placed)) {
    const { draw, scores } = methodOf(exploration.draw, open);
    const drawn = drawOpen(draw, { ...open, scores });
    if (drawn === undefined) continue;
    runs.push({ draw, scores, open, drawn });
    for (const [at, place] of open.places.entries()) {
      order[place] = open.rows[drawn.order[at] ?? 0] ?? 0;
      propensity[place] = drawn.propensity[at] ?? NaN;
    }
  }
  return new ExploredPlaces(step, before, order, propensity, runs);
}

/** A weight below this share of the largest counts as this share. */
const LEAST_WEIGHT = 1e-12;

/** Weights are scores of Plackett and Luce: exp(log(weight)). @throws RangeError if a weight is none */
function methodOf(
  draw: Exploration['draw'],
  { rows, scores }: OpenPlaces,
): { readonly draw: DrawMethod; readonly scores: Float64Array } {
  if (draw.method !== 'weights') return { draw, scores };
  const weights = Float64Array.from(rows, (row) => draw.weights[row] ?? NaN);
  if (!weights.every((weight) => weight >= 0 && weight < Infinity))
    throw new RangeError('`explore` got a weight that is negative, not finite or missing');
  const largest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  const worths = weights.map((weight) =>
    largest === 0 ? 0 : Math.log(Math.max(weight / largest, LEAST_WEIGHT)),
  );
  return { draw: { method: 'plackett_luce', temperature: 1 }, scores: worths };
}

/** The places without a row of their own, in a list for each run of rows of one tier. */
function openPlaces(before: Int32Array, { fixed, scores, tiers }: PlacedRows): OpenPlaces[] {
  const runs: number[][] = [];
  let tier: number | undefined;
  for (const [place, row] of before.entries()) {
    if (fixed.get(place + 1) === row) continue;
    if (runs.length === 0 || tiers[row] !== tier) runs.push([]);
    tier = tiers[row];
    runs.at(-1)?.push(place);
  }
  return runs.map((places) => {
    const rows = Int32Array.from(places, (place) => before[place] ?? 0);
    // Limits and other rules can put a row above rows of higher scores. It then counts as the least of those above it.
    let least = Infinity;
    const falling = Float64Array.from(rows, (row) => (least = Math.min(least, scores[row] ?? 0)));
    return { places: Int32Array.from(places), rows, scores: falling };
  });
}
