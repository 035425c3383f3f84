import { expect } from 'chai';
import { Random } from '../../../../../runtime/ground/core/random.js';
import { offPolicyEstimate } from '../../../../../runtime/learn/off-policy/estimate.js';
import type { DrawMethod } from '../../../../../runtime/ground/api/ranking-edit.js';
import { marginalsOf } from '../../../../../runtime/request/ordering/explore/draw-marginals.js';
import { drawOrder } from '../../../../../runtime/request/ordering/explore/draw-order.js';

const SEED = 20261122;
const DRAWS = 20_000;
const SCORES = [2, 1.5, 1.5, 0.2, -1];
const METHODS: readonly DrawMethod[] = [
  { method: 'swap', probability: 0.3 },
  { method: 'plackett_luce', temperature: 0.8 },
  { method: 'epsilon_greedy', epsilon: 0.4 },
];
/** The 0.9999 quantile of chi-square by degrees of freedom (Wilson and Hilferty 1931). */
const limit = (freedom: number): number =>
  freedom * (1 - 2 / (9 * freedom) + 3.719 * Math.sqrt(2 / (9 * freedom))) ** 3;

describe('draw order', () => {
  for (const exploration of METHODS) {
    describe(exploration.method, () => {
      const random = new Random(SEED);
      const pages = new Map<string, { count: number; probability: number }>();
      const marginals = new Map<string, { count: number; probability: number }>();
      before(() => {
        for (let draw = 0; draw < DRAWS; draw++) {
          const drawn = drawOrder(exploration, SCORES, () => random.next());
          const { order, propensity } = drawn;
          const marginal = marginalsOf(exploration, SCORES, drawn);
          const probability = propensity.reduce((product, one) => product * one, 1);
          count(pages, order.join(' '), probability);
          order.forEach((index, place) => {
            count(marginals, `${index}@${place}`, marginal[place] ?? NaN);
          });
        }
      });

      it('logs the probability of every page that it draws', () => {
        let [chi, freedom, sum, rest] = [0, -1, 0, 0];
        for (const { count: seen, probability } of pages.values()) {
          sum += probability;
          const expected = probability * DRAWS;
          if (expected < 20) {
            rest += seen;
            continue;
          }
          chi += (seen - expected) ** 2 / expected;
          freedom += 1;
        }
        expect(sum).to.be.within(0.99, 1 + 1e-9);
        expect(rest).to.be.below(DRAWS / 10);
        expect(freedom).to.be.above(3);
        expect(chi).to.be.below(limit(freedom));
      });

      it('knows the exact probability of each candidate at each place', () => {
        for (const [key, { count: seen, probability }] of marginals) {
          const deviation = Math.sqrt(probability * (1 - probability) * DRAWS);
          expect(Math.abs(seen - probability * DRAWS), key).to.be.at.most(5 * deviation + 1e-6);
        }
        for (let place = 0; place < SCORES.length; place++) {
          const sum = SCORES.reduce(
            (all, _, index) => all + (marginals.get(`${index}@${place}`)?.probability ?? 0),
            0,
          );
          expect(sum).to.be.closeTo(1, 1e-9);
        }
      });
    });
  }

  it('lets IPS find the value of the order without exploration', () => {
    const random = new Random(SEED);
    const [exploration] = METHODS;
    if (exploration === undefined) throw new Error('there are methods');
    const logged = Array.from({ length: 4000 }, (_, unit) => {
      const drawn = drawOrder(exploration, SCORES, () => random.next());
      const { order, propensity } = drawn;
      const marginal = marginalsOf(exploration, SCORES, drawn);
      const places = Array.from(order, (index, at) => ({
        place: at + 1,
        target: index === at ? 1 : 0,
        propensity: propensity[at] ?? NaN,
        marginal: marginal[at] ?? NaN,
        reward: (index + 1) / (at + 2),
      }));
      return { unit: String(unit), above: 1, places };
    });
    const { value, interval, logged: mean } = offPolicyEstimate(logged, 'ips', 'item_position', 1);
    const truth = SCORES.reduce((sum, _, at) => sum + (at + 1) / (at + 2), 0);
    expect(Math.abs(value - truth)).to.be.below(2 * (interval.upper - value));
    expect(mean).to.be.above(truth + 0.05);
  });

  it('moves nothing if nothing is to be explored', () => {
    for (const exploration of [
      { method: 'swap', probability: 0 },
      { method: 'epsilon_greedy', epsilon: 0 },
      { method: 'plackett_luce', temperature: 1e-9 },
    ] as const) {
      const { order, propensity } = drawOrder(exploration, [3, 2, 1], () => 0.999);
      expect([...order]).to.deep.equal([0, 1, 2]);
      expect([...propensity]).to.deep.equal([1, 1, 1]);
    }
  });

  it('draws from no candidates, from one, and from many', () => {
    const many = Array.from({ length: 50 }, (_, i) => -1000 * i);
    for (const exploration of METHODS) {
      expect([...drawOrder(exploration, [], () => 0).order]).to.deep.equal([]);
      const one = drawOrder(exploration, [5], () => 0.5);
      expect([one.order[0], one.propensity[0], ...marginalsOf(exploration, [5], one)]).to.deep.equal([
        0, 1, 1,
      ]);
      const drawn = drawOrder(exploration, many, () => 0.9);
      const { order, propensity } = drawn;
      expect([...order].sort((a, b) => a - b)).to.deep.equal(many.map((_, i) => i));
      for (const chance of [...propensity, ...marginalsOf(exploration, many, drawn)])
        expect(chance).to.be.within(Number.MIN_VALUE, 1);
    }
  });
});

function count(
  into: Map<string, { count: number; probability: number }>,
  key: string,
  probability: number,
): void {
  const known = into.get(key);
  if (known === undefined) into.set(key, { count: 1, probability });
  else known.count += 1;
}
