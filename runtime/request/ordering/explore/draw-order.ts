import type { DrawMethod } from '../../../ground/api/ranking-edit.js';

/** An order that was drawn. All lists are by place. */
export interface DrawnOrder {
  /** The index of the candidate at each place. */
  readonly order: Int32Array;
  /** The probability that the candidate was drawn for its place, given those above it. */
  readonly propensity: Float64Array;
}

/**
 * Draws an order.
 * @param scores of the candidates, best first; in any order for `plackett_luce`
 * @param random uniform in [0, 1)
 */
export function drawOrder(draw: DrawMethod, scores: ArrayLike<number>, random: () => number): DrawnOrder {
  if (draw.method === 'swap') return drawSwaps(draw.probability, scores.length, random);
  return drawPlaces(chancesOf(draw, scores), scores.length, random);
}

/** After a swap the next place has a single candidate, so it is not drawn. */
function drawSwaps(probability: number, count: number, random: () => number): DrawnOrder {
  const drawn = emptyOrder(count);
  const { order, propensity } = drawn;
  let isOpen = true;
  for (let place = 0; place < count; place++) {
    const swaps = place + 1 < count ? probability : 0;
    if (!isOpen) {
      order[place] = place - 1;
      propensity[place] = 1;
      isOpen = true;
    } else {
      const isSwapped = random() < swaps;
      order[place] = isSwapped ? place + 1 : place;
      propensity[place] = isSwapped ? swaps : 1 - swaps;
      isOpen = !isSwapped;
    }
  }
  return drawn;
}

/** Writes the probability of each candidate that is left (1 in `isLeft`) to be drawn next; 0 for the others. */
export type Chances = (isLeft: Uint8Array, chances: Float64Array) => void;

export function chancesOf(draw: Exclude<DrawMethod, { method: 'swap' }>, scores: ArrayLike<number>): Chances {
  return (isLeft, chances) => {
    chances.fill(0);
    const best = isLeft.indexOf(1);
    if (draw.method === 'epsilon_greedy') {
      let left = 0;
      for (const one of isLeft) left += one;
      const each = draw.epsilon / left;
      for (let i = best; i < chances.length; i++) chances[i] = isLeft[i] === 1 ? each : 0;
      chances[best] = 1 - (draw.epsilon * (left - 1)) / left;
      return;
    }
    let sum = 0;
    for (let i = best; i < chances.length; i++) {
      if (isLeft[i] === 0) continue;
      const weight = Math.exp(((scores[i] ?? 0) - (scores[best] ?? 0)) / draw.temperature);
      chances[i] = weight;
      sum += weight;
    }
    for (let i = best; i < chances.length; i++) chances[i] = (chances[i] ?? 0) / sum;
  };
}

function drawPlaces(chancesFor: Chances, count: number, random: () => number): DrawnOrder {
  const drawn = emptyOrder(count);
  const isLeft = new Uint8Array(count).fill(1);
  const chances = new Float64Array(count);
  for (let place = 0; place < count; place++) {
    chancesFor(isLeft, chances);
    const index = pick(chances, random());
    drawn.order[place] = index;
    drawn.propensity[place] = chances[index] ?? NaN;
    isLeft[index] = 0;
  }
  return drawn;
}

/** The first index at which the sum of the chances passes the point. Rounding never picks a chance of 0. */
function pick(chances: Float64Array, point: number): number {
  let sum = 0;
  let last = 0;
  for (let index = 0; index < chances.length; index++) {
    const chance = chances[index] ?? 0;
    if (chance === 0) continue;
    sum += chance;
    last = index;
    if (point < sum) break;
  }
  return last;
}

function emptyOrder(count: number): DrawnOrder {
  return { order: new Int32Array(count), propensity: new Float64Array(count) };
}
