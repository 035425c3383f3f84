import { expect } from 'chai';
import fc from 'fast-check';
import type { DrawMethod } from '../../../../../runtime/ground/api/ranking-edit.js';
import { Random } from '../../../../../runtime/ground/core/random.js';
import { marginalsOf } from '../../../../../runtime/request/ordering/explore/draw-marginals.js';
import { drawOrder } from '../../../../../runtime/request/ordering/explore/draw-order.js';
import { luceMarginals } from '../../../../../runtime/request/ordering/explore/luce-marginals.js';

/** By place and candidate: the probability, summed over all orders. */
function summed(chances: (left: readonly number[]) => readonly number[], count: number): number[][] {
  const found = Array.from({ length: count }, () => new Array<number>(count).fill(0));
  const visit = (left: readonly number[], probability: number): void => {
    chances(left).forEach((chance, at) => {
      const index = left[at] ?? 0;
      const places = found[count - left.length] ?? [];
      places[index] = (places[index] ?? 0) + probability * chance;
      if (left.length > 1) visit(left.toSpliced(at, 1), probability * chance);
    });
  };
  if (count > 0)
    visit(
      Array.from({ length: count }, (_, i) => i),
      1,
    );
  return found;
}

/** By place: the probability in an order of Plackett-Luce, summed over the sets of candidates above the place. */
function luceBySets(worths: readonly number[], order: Int32Array): number[] {
  const rates = worths.map(Math.exp);
  const found = Array.from(order, () => 0);
  /** By set: the probability that its candidates have the first places. */
  const first = new Float64Array(1 << rates.length);
  first[0] = 1;
  for (let set = 0; set < first.length; set++) {
    const isIn = (index: number): boolean => (set & (1 << index)) !== 0;
    const left = rates.reduce((sum, rate, index) => sum + (isIn(index) ? 0 : rate), 0);
    const place = rates.reduce((size, _, index) => size + Number(isIn(index)), 0);
    rates.forEach((rate, index) => {
      if (isIn(index)) return;
      const chance = ((first[set] ?? 0) * rate) / left;
      first[set | (1 << index)] = (first[set | (1 << index)] ?? 0) + chance;
      if (order[place] === index) found[place] = (found[place] ?? 0) + chance;
    });
  }
  return found;
}

const sorted = (scores: readonly number[]): number[] => [...scores].sort((a, b) => b - a);

describe('marginals of drawn orders', () => {
  it('equal the sum over all orders', () => {
    const scores = fc.array(fc.double({ min: -30, max: 30, noNaN: true }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(scores, fc.double({ min: 0.05, max: 1, noNaN: true }), fc.integer(), (any, size, seed) => {
        const values = sorted(any);
        const random = new Random(seed);
        const greedy = summed(
          (left) => left.map((_, at) => (at === 0 ? 1 - size : 0) + size / left.length),
          values.length,
        );
        const luce = summed((left) => {
          const [best = 0] = left.map((index) => values[index] ?? 0);
          const weights = left.map((index) => Math.exp(((values[index] ?? 0) - best) / (2 * size)));
          return weights.map((weight) => weight / weights.reduce((sum, one) => sum + one, 0));
        }, values.length);
        for (const [draw, expected] of [
          [{ method: 'epsilon_greedy', epsilon: size }, greedy],
          [{ method: 'plackett_luce', temperature: 2 * size }, luce],
        ] as const satisfies readonly (readonly [DrawMethod, unknown])[]) {
          const drawn = drawOrder(draw, values, () => random.next());
          marginalsOf(draw, values, drawn).forEach((marginal, place) => {
            expect(marginal).to.be.closeTo(expected[place]?.[drawn.order[place] ?? 0] ?? NaN, 1e-8);
          });
        }
      }),
      { seed: 17, numRuns: 100 },
    );
  });

  it('depend only on the differences of scores, and end for scores of any size', () => {
    const order = Int32Array.of(0, 1, 2);
    const plain = [...luceMarginals([2, 1, 0], 1, order)];
    const shifted = [...luceMarginals([1e15 + 2, 1e15 + 1, 1e15], 1, order)];
    shifted.forEach((marginal, place) => expect(marginal).to.be.closeTo(plain[place] ?? NaN, 1e-9));
    expect([...luceMarginals([1e17, 0, -1e17], 1, order)]).to.deep.equal([1, 1, 1]);
  });

  it('share the places of equal scores where score / temperature is not a number any more', () => {
    for (const [size, temperature] of [
      [1e16, 1],
      [1e300, 1e-10],
      [Number.MAX_VALUE, 5e-324],
    ] as const) {
      const draw = { method: 'plackett_luce', temperature } as const;
      const scores = [size, size, 1, 1, 1, -size];
      // Their sum overflows, and so does the quotient. The limit: equal scores share their places, the others never meet.
      const { order, propensity } = drawOrder(draw, scores, () => 0.999);
      expect([...order]).to.deep.equal([1, 0, 4, 3, 2, 5]);
      const [half, third] = [0.5, 1 / 3];
      [half, 1, third, half, 1, 1].forEach((one, place) =>
        expect(propensity[place]).to.be.closeTo(one, 1e-12),
      );
      const marginals = marginalsOf(draw, scores, { order, propensity });
      [half, half, third, third, third, 1].forEach((one, place) =>
        expect(marginals[place]).to.be.closeTo(one, 1e-9),
      );
    }
  });

  it('are within 1e-9 of what they should be', () => {
    // All orders of equal scores are alike, and so are both ends of a list and its mirror image.
    for (let count = 1; count <= 50; count++) {
      const order = Int32Array.from({ length: count }, (_, place) => place);
      for (const marginal of luceMarginals(new Float64Array(count), 1, order))
        expect(marginal, `${count} candidates`).to.be.closeTo(1 / count, 1e-9);
    }
    const random = new Random(17);
    for (const count of [3, 7, 11])
      for (let round = 0; round < 20; round++) {
        const spread = 12 * random.next();
        const scores = sorted(Array.from({ length: count }, () => spread * random.next()));
        const order = drawOrder({ method: 'plackett_luce', temperature: 4 }, scores, () =>
          random.next(),
        ).order;
        const expected = luceBySets(scores, order);
        luceMarginals(scores, 1, order).forEach((marginal, place) =>
          expect(marginal, `${scores.join()} at ${place}`).to.be.closeTo(expected[place] ?? NaN, 1e-9),
        );
      }
  });

  it('sum to 1 over the candidates of a place, also for many candidates and for worths far apart', () => {
    for (const gap of [0, 0.1, 15, 39, 41, 1e6]) {
      const worths = Float64Array.from({ length: 50 }, (_, i) => -gap * i);
      for (const place of [0, 49]) {
        let sum = 0;
        for (let index = 0; index < worths.length; index++) {
          // Only the candidate at `place` matters.
          const order = Int32Array.from(worths, (_, at) => (at === place ? index : at));
          sum += luceMarginals(worths, 1, order)[place] ?? NaN;
        }
        expect(sum, `gap ${gap}, place ${place}`).to.be.closeTo(1, 1e-7);
      }
    }
  });

  it('are what many draws of 24 candidates show', () => {
    const scores = Array.from({ length: 24 }, (_, i) => -0.2 * i);
    const draw = { method: 'plackett_luce', temperature: 1 } as const;
    const random = new Random(20261122);
    const rounds = 3000;
    const seen = new Float64Array(24);
    for (let round = 0; round < rounds; round++) {
      const { order } = drawOrder(draw, scores, () => random.next());
      for (const [place, index] of order.entries())
        if (index === 23 - place) seen[place] = (seen[place] ?? 0) + 1;
    }
    const order = Int32Array.from(scores, (_, place) => 23 - place);
    marginalsOf(draw, scores, { order, propensity: new Float64Array(24) }).forEach((marginal, place) => {
      const error = Math.sqrt((marginal * (1 - marginal)) / rounds);
      expect(Math.abs((seen[place] ?? 0) / rounds - marginal), `place ${place}`).to.be.below(4.5 * error);
    });
  });
});
