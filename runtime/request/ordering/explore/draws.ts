import type { DrawMethod } from '../../../ground/api/ranking-edit.js';
import type { Plan } from '../../compile/plan.js';
import { keyedRandom } from '../../../ground/core/keyed-random.js';
import { drawOrder, type DrawnOrder } from './draw-order.js';

/** Candidates that may change places with each other. All lists are by place, from the top. */
export interface OpenPlaces {
  /** The ranks, from 0. */
  readonly places: Int32Array;
  /** The rows without exploration. */
  readonly rows: Int32Array;
  /** Never increasing; logarithms of the weights of a policy can. */
  readonly scores: Float64Array;
}

/**
 * Where the drawn orders of one request come from.
 * @param step number of the step that explores
 * @returns draws the orders of lists of places, from the top; undefined if an order is not known
 */
export type Draws = (step: number) => (draw: DrawMethod, open: OpenPlaces) => DrawnOrder | undefined;

/**
 * Draws that depend on a secret, the id of the request and the name of the step. So all pages of a request, and its
 * explanation, have the same draws, on every instance.
 * @param salt an empty text: nothing is drawn
 */
export function saltedDraws({ steps }: Plan, salt: string, requestId: string): Draws | undefined {
  if (salt === '') return undefined;
  return (number) => {
    const name = steps.find((step) => step.number === number)?.as ?? '';
    const random = keyedRandom(salt, JSON.stringify([requestId, name]));
    return (draw, { scores }) => drawOrder(draw, scores, random);
  };
}
