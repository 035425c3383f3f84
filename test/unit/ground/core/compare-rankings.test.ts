import { expect } from 'chai';
import fc from 'fast-check';
import { overlapAt, rankBiasedOverlap } from '../../../../runtime/ground/core/compare-rankings.js';

const ids = fc.uniqueArray(
  fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n'),
  { maxLength: 12 },
);

/** Equation 32 of Webber et al., computed from the definition of X_d for each depth. */
function referenceRbo(a: readonly string[], b: readonly string[], p: number): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  const [s, l] = [short.length, long.length];
  const overlap = (d: number): number => {
    const first = new Set(short.slice(0, d));
    return long.slice(0, d).filter((id) => first.has(id)).length;
  };
  let sum = 0;
  for (let d = 1; d <= l; d++) sum += (overlap(d) / d) * p ** d;
  for (let d = s + 1; d <= l; d++) sum += ((overlap(s) * (d - s)) / (s * d)) * p ** d;
  return ((1 - p) / p) * sum + ((overlap(l) - overlap(s)) / l + overlap(s) / s) * p ** l;
}

describe('rank-biased overlap', () => {
  it('equals equation 32 of Webber, Moffat and Zobel', () => {
    fc.assert(
      fc.property(ids, ids, fc.double({ min: 0.1, max: 0.99, noNaN: true }), (a, b, p) => {
        fc.pre(a.length > 0 && b.length > 0);
        expect(rankBiasedOverlap(a, b, p)).to.be.closeTo(referenceRbo(a, b, p), 1e-12);
      }),
    );
  });

  it('is 1 for equal rankings, 0 for disjoint ones, and the same in both directions', () => {
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        expect(rankBiasedOverlap(a, a)).to.be.closeTo(1, 1e-12);
        expect(rankBiasedOverlap(a, b)).to.be.closeTo(rankBiasedOverlap(b, a), 1e-12);
      }),
    );
    expect(rankBiasedOverlap(['a', 'b'], ['c'])).to.equal(0);
    expect(rankBiasedOverlap(['a'], [])).to.equal(0);
  });

  it('weighs a change at the top more than one further down', () => {
    const top = rankBiasedOverlap(['a', 'b', 'c', 'd'], ['b', 'a', 'c', 'd']);
    expect(top).to.be.below(rankBiasedOverlap(['a', 'b', 'c', 'd'], ['a', 'b', 'd', 'c']));
  });
});

describe('overlap@k', () => {
  it('is the share of common ids among the first k', () => {
    expect(overlapAt(['a', 'b', 'c'], ['c', 'a', 'x'], 2)).to.equal(0.5);
    expect(overlapAt(['a', 'b'], ['b', 'a'], 10)).to.equal(1);
    expect(overlapAt(['a', 'b'], ['b'], 10)).to.equal(0.5);
    expect(overlapAt([], [], 10)).to.equal(1);
  });
});
