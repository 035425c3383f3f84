import type { DrawMethod } from '../../../ground/api/ranking-edit.js';
import type { DrawnOrder } from './draw-order.js';
import { luceMarginals } from './luce-marginals.js';

/**
 * The probability of each drawn candidate to be at its place, whatever is above it. By place.
 * @param scores of the candidates, as for `drawOrder`
 */
export function marginalsOf(
  draw: DrawMethod,
  scores: ArrayLike<number>,
  { order, propensity }: DrawnOrder,
): Float64Array {
  const found = marginals(draw, scores, order);
  // The candidates above are one way to come to the place. So rounding never gives a probability of 0.
  let least = 1;
  return found.map((marginal, place) => {
    least *= propensity[place] ?? 1;
    return Math.min(1, Math.max(marginal, least));
  });
}

function marginals(draw: DrawMethod, scores: ArrayLike<number>, order: Int32Array): Float64Array {
  switch (draw.method) {
    case 'swap':
      return swapMarginals(draw.probability, order);
    case 'epsilon_greedy':
      return greedyMarginals(draw.epsilon, order);
    case 'plackett_luce':
      return sortedLuceMarginals(scores, draw.temperature, order);
  }
}

/** The weights of a policy are in any order, and the marginals need the best candidate first. */
function sortedLuceMarginals(
  scores: ArrayLike<number>,
  temperature: number,
  order: Int32Array,
): Float64Array {
  const sorted = Int32Array.from(scores, (_, index) => index).sort(
    (a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b,
  );
  const rank = new Int32Array(sorted.length);
  sorted.forEach((index, at) => (rank[index] = at));
  const descending = Float64Array.from(sorted, (index) => scores[index] ?? 0);
  return luceMarginals(
    descending,
    temperature,
    order.map((index) => rank[index] ?? 0),
  );
}

function swapMarginals(probability: number, order: Int32Array): Float64Array {
  const marginal = new Float64Array(order.length);
  /** The probabilities that this place, and the one above it, do not follow a swap. */
  let [open, openAbove] = [1, 0];
  for (const [place, index] of order.entries()) {
    const swaps = place + 1 < order.length ? probability : 0;
    marginal[place] = index < place ? openAbove * probability : open * (index === place ? 1 - swaps : swaps);
    [open, openAbove] = [open * (1 - swaps) + openAbove * probability, open];
  }
  return marginal;
}

/**
 * A candidate's probability depends only on how many candidates are left before it and after it. So the sum goes from place
 * to place over the number before it: `left[b]` is the probability that it is left, with b candidates before it.
 */
function greedyMarginals(epsilon: number, order: Int32Array): Float64Array {
  const marginal = new Float64Array(order.length);
  for (const [place, index] of order.entries()) {
    const left = new Float64Array(index + 2);
    left[index] = 1;
    for (let at = 0; at < place; at++) {
      const each = epsilon / (order.length - at);
      // In this direction, no number is written before it is read.
      for (let before = 0; before <= index; before++) {
        const after = order.length - at - 1 - before;
        left[before] =
          (left[before] ?? 0) * each * after + (left[before + 1] ?? 0) * (1 - epsilon + each * (before + 1));
      }
    }
    const any = left.reduce((sum, one) => sum + one, 0);
    marginal[place] = (any * epsilon) / (order.length - place) + (left[0] ?? 0) * (1 - epsilon);
  }
  return marginal;
}
