import { expect } from 'chai';
import { alwaysFactor, effectOf } from '../../../../runtime/learn/evaluation/effect.js';
import {
  detectableEffect,
  sampleRatioTest,
  signTest,
  unitsNeeded,
} from '../../../../runtime/learn/evaluation/experiment-tests.js';
import { UnitMoments } from '../../../../runtime/learn/evaluation/unit-moments.js';

function momentsOf(units: readonly (readonly [number, number?])[]): UnitMoments {
  const moments = new UnitMoments();
  for (const [outcome, base] of units) moments.add(outcome, base);
  return moments;
}

describe('the moments of units', () => {
  it('are the mean and the variance of the mean with a base of 1', () => {
    const { value, variance, units } = momentsOf([[1], [2], [6]]);
    expect([units, value]).to.deep.equal([3, 3]);
    expect(variance).to.be.closeTo(7 / 3, 1e-12);
  });

  it('have the variance of a ratio by the delta method', () => {
    const pairs = [
      [1, 4],
      [0, 1],
      [3, 5],
      [2, 2],
    ] as const;
    const { value, variance } = momentsOf(pairs);
    expect(value).to.be.closeTo(6 / 12, 1e-12);
    // The variance of the mean of (outcome − ratio · base) / mean base, by hand.
    const parts = pairs.map(([outcome, base]) => (outcome - 0.5 * base) / 3);
    const expected = parts.reduce((sum, part) => sum + part * part, 0) / 3 / 4;
    expect(variance).to.be.closeTo(expected, 1e-12);
  });

  it('can be merged, and keep their digits far from 0', () => {
    const units = Array.from({ length: 100 }, (_, at) => [1e9 + (at % 7), 1 + (at % 3)] as const);
    const all = momentsOf(units);
    const merged = momentsOf(units.slice(0, 30));
    merged.merge(momentsOf(units.slice(30)));
    merged.merge(new UnitMoments());
    expect(merged.units).to.equal(100);
    expect(merged.value / all.value).to.be.closeTo(1, 1e-12);
    expect(merged.variance / all.variance).to.be.closeTo(1, 1e-9);
    expect(momentsOf(units.map(([outcome]) => [outcome])).variance).to.be.closeTo(0.04088383838, 1e-6);
  });

  it('are not known for too few units', () => {
    expect(new UnitMoments().value).to.be.NaN;
    expect(momentsOf([[1]]).variance).to.be.NaN;
  });
});

describe('the effect of an arm', () => {
  it('has the interval of Welch', () => {
    // R: t.test(c(4, 6, 8, 7), c(1, 2, 6, 3, 3))
    const { difference, fixed } = effectOf(
      momentsOf([[4], [6], [8], [7]]),
      momentsOf([[1], [2], [6], [3], [3]]),
    );
    expect(difference).to.be.closeTo(3.25, 1e-12);
    expect(fixed.lower).to.be.closeTo(0.4074763796, 1e-4);
    expect(fixed.upper).to.be.closeTo(6.0925236204, 1e-4);
  });

  it('has an always-valid interval of less than twice the width, from 500 units to millions', () => {
    for (const units of [500, 1000, 5000, 100_000, 3_000_000])
      expect(alwaysFactor(units) / 1.96, String(units)).to.be.within(1.5, 2);
    // 2 (tρ² + 1) / tρ² · ln(√(tρ² + 1) / α) at the tuned size, by hand.
    expect(alwaysFactor(5000)).to.be.closeTo(3.0354, 1e-3);
  });

  it('is certain if many units do not vary, and unknown with few or without units', () => {
    const alike = (value: number, count: number): UnitMoments =>
      momentsOf(Array.from({ length: count }, () => [value] as const));
    const same = alike(2, 29);
    expect(effectOf(alike(2, 30), alike(1, 30)).fixed).to.deep.equal({ lower: 1, upper: 1 });
    expect(effectOf(alike(2, 2), same).always).to.deep.equal({ lower: 0, upper: 0 });
    const { difference, fixed, always } = effectOf(same, alike(1, 500));
    expect(difference).to.equal(1);
    for (const { lower, upper } of [fixed, always]) expect([lower, upper]).to.deep.equal([NaN, NaN]);
    expect(effectOf(same, new UnitMoments()).difference).to.be.NaN;
    expect(effectOf(momentsOf([[1], [2]]), momentsOf([[0], [0]])).relative).to.be.NaN;
  });
});

describe('the tests of an experiment', () => {
  it('compare numbers of units with weights', () => {
    expect(sampleRatioTest([500, 500], [50, 50])).to.equal(1);
    // As scipy.stats.chisquare computes them.
    expect(sampleRatioTest([520, 480], [1, 1])).to.be.closeTo(0.205903210732068, 1e-9);
    expect(sampleRatioTest([300, 340, 360], [30, 30, 40])).to.be.closeTo(0.009403562551495213, 1e-9);
    expect(sampleRatioTest([0, 0], [1, 1])).to.equal(1);
  });

  it('do not compare numbers of units with weights that expect fewer than five', () => {
    // One unit of an arm of 1 % is not rare enough to hide anything: it happens in 1 of 100 experiments.
    expect(sampleRatioTest([0, 1], [99, 1])).to.equal(1);
    expect(sampleRatioTest([4, 0], [1, 1])).to.equal(1);
    expect(sampleRatioTest([396, 100], [99, 1])).to.equal(1);
    expect(sampleRatioTest([10, 0], [1, 1])).to.be.closeTo(0.0015654022580025018, 1e-9);
    // The two small arms count as one of 5.
    const two = sampleRatioTest([590, 10], [99, 1]);
    expect(sampleRatioTest([590, 10, 0], [99, 0.5, 0.5])).to.be.closeTo(two, 1e-12);
    expect(sampleRatioTest([10, 380, 10], [0.1, 99, 0.9])).to.equal(1);
  });

  it('count the preferences of users', () => {
    // As scipy.stats.binomtest computes them.
    expect(signTest(8, 2)).to.be.closeTo(0.109375, 1e-12);
    expect(signTest(2, 8)).to.be.closeTo(0.109375, 1e-12);
    expect(signTest(5, 5)).to.equal(1);
    expect(signTest(0, 0)).to.equal(1);
    expect(signTest(560, 440)).to.be.closeTo(0.00016504987055045286, 1e-12);
  });

  it('say what would be found, and how many units it takes', () => {
    expect(detectableEffect(1)).to.be.closeTo(2.801585, 1e-5);
    expect(unitsNeeded(1, 2.801585 / 2)).to.be.closeTo(4, 1e-5);
  });
});
