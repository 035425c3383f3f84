/** How the order of some candidates is drawn. */
export type Exploration =
  /** From the top: each place swaps with the next one by this probability. A candidate moves by one place at most. */
  | { readonly method: 'swap'; readonly probability: number }
  /**
   * Each place draws a candidate by exp(score / temperature); Plackett, "The analysis of permutations", Applied
   * Statistics 1975.
   */
  | { readonly method: 'plackett_luce'; readonly temperature: number }
  /** Each place takes the best candidate that is left, or, by this probability, any of those left. */
  | { readonly method: 'epsilon_greedy'; readonly epsilon: number };

/** An order that was drawn. All lists are by place. */
export interface DrawnOrder {
  /** The index of the candidate at each place. */
  readonly order: Int32Array;
  /** The probability that the candidate was drawn for its place, given those above it. */
  readonly propensity: Float64Array;
  /** The probability that the candidate is at its place, whatever is above it. NaN if it is not known. */
  readonly marginal: Float64Array;
}

/** Marginals are exact up to this many candidates, except for swaps. The cost doubles with each further candidate. */
export const MOST_EXACT = 10;

/**
 * Draws an order.
 * @param scores of the candidates, best first
 * @param random uniform in [0, 1)
 */
export function drawOrder(
  exploration: Exploration,
  scores: ArrayLike<number>,
  random: () => number,
): DrawnOrder {
  if (exploration.method === 'swap') return drawSwaps(exploration.probability, scores.length, random);
  return drawPlaces(chancesOf(exploration, scores), scores.length, random);
}

/** After a swap the next place has a single candidate, so it is not drawn. */
function drawSwaps(probability: number, count: number, random: () => number): DrawnOrder {
  const drawn = emptyOrder(count);
  const { order, propensity, marginal } = drawn;
  let isOpen = true;
  /** The probabilities that this place, and the one above it, do not follow a swap. */
  let [open, openAbove] = [1, 0];
  for (let place = 0; place < count; place++) {
    const swaps = place + 1 < count ? probability : 0;
    if (!isOpen) {
      order[place] = place - 1;
      propensity[place] = 1;
      marginal[place] = openAbove * probability;
      isOpen = true;
    } else {
      const isSwapped = random() < swaps;
      order[place] = isSwapped ? place + 1 : place;
      propensity[place] = isSwapped ? swaps : 1 - swaps;
      marginal[place] = open * (isSwapped ? swaps : 1 - swaps);
      isOpen = !isSwapped;
    }
    [open, openAbove] = [open * (1 - swaps) + openAbove * probability, open];
  }
  return drawn;
}

/** Writes the probability of each candidate that is left (1 in `isLeft`) to be drawn next; 0 for the others. */
type Chances = (isLeft: Uint8Array, chances: Float64Array) => void;

function chancesOf(
  exploration: Exclude<Exploration, { method: 'swap' }>,
  scores: ArrayLike<number>,
): Chances {
  return (isLeft, chances) => {
    chances.fill(0);
    const best = isLeft.indexOf(1);
    if (exploration.method === 'epsilon_greedy') {
      const left = isLeft.reduce((sum, one) => sum + one, 0);
      isLeft.forEach((one, i) => (chances[i] = (one * exploration.epsilon) / left));
      chances[best] = 1 - (exploration.epsilon * (left - 1)) / left;
      return;
    }
    let sum = 0;
    isLeft.forEach((one, i) => {
      if (one === 0) return;
      const weight = Math.exp(((scores[i] ?? 0) - (scores[best] ?? 0)) / exploration.temperature);
      chances[i] = weight;
      sum += weight;
    });
    chances.forEach((weight, i) => (chances[i] = weight / sum));
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
  if (count <= MOST_EXACT) writeMarginals(drawn, chancesFor, count);
  return drawn;
}

/** The first index at which the sum of the chances passes the point. Rounding never picks a chance of 0. */
function pick(chances: Float64Array, point: number): number {
  let sum = 0;
  let last = 0;
  for (const [index, chance] of chances.entries()) {
    if (chance === 0) continue;
    sum += chance;
    last = index;
    if (point < sum) break;
  }
  return last;
}

/** Sums over every set of candidates that can stand above a place. A set is a number with one bit a candidate. */
function writeMarginals({ order, marginal }: DrawnOrder, chancesFor: Chances, count: number): void {
  marginal.fill(0);
  const reached = new Float64Array(2 ** count);
  reached[0] = 1;
  const isLeft = new Uint8Array(count);
  const chances = new Float64Array(count);
  for (let taken = 0; taken < reached.length - 1; taken++) {
    let place = 0;
    for (let i = 0; i < count; i++) {
      const isTaken = (taken >> i) & 1;
      place += isTaken;
      isLeft[i] = 1 - isTaken;
    }
    chancesFor(isLeft, chances);
    const share = reached[taken] ?? 0;
    marginal[place] = (marginal[place] ?? 0) + share * (chances[order[place] ?? 0] ?? 0);
    for (let i = 0; i < count; i++) {
      const next = taken | (1 << i);
      if (isLeft[i] === 1) reached[next] = (reached[next] ?? 0) + share * (chances[i] ?? 0);
    }
  }
}

function emptyOrder(count: number): DrawnOrder {
  return {
    order: new Int32Array(count),
    propensity: new Float64Array(count),
    marginal: new Float64Array(count).fill(NaN),
  };
}
