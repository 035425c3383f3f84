import { expect } from 'chai';
import {
  nonIncreasing,
  RandomExamination,
  SwapExamination,
  type ShownCandidate,
} from '../../../../runtime/learn/off-policy/examination.js';

/** Candidates by place: [before, propensity, clicked]. */
function page(...rows: readonly (readonly [number, number, boolean])[]): ReadonlyMap<number, ShownCandidate> {
  return new Map(
    rows.map(([before, propensity, clicked], at) => [
      at + 1,
      { place: at + 1, before, propensity, marginal: propensity, clicked },
    ]),
  );
}

describe('the examination of places', () => {
  it('is the ratio of the clicks on swapped neighbours, weighted by the probability of their order', () => {
    const swaps = new SwapExamination();
    // Kept with 0.8: two clicks at place 1. Swapped with 0.2: a click at place 2.
    swaps.add(page([1, 0.8, true], [2, 1, false]));
    swaps.add(page([1, 0.8, true], [2, 1, true]));
    swaps.add(page([2, 0.2, false], [1, 1, true]));
    swaps.add(page([2, 0.2, true], [1, 1, false]));
    const [first, second] = swaps.result();
    expect(first).to.deep.equal({ place: 1, value: 1, standardError: 0, clicks: 3 });
    expect(second?.value).to.be.closeTo((1 / 0.8 + 1 / 0.2) / (2 / 0.8 + 1 / 0.2), 1e-12);
    expect(second?.clicks).to.equal(2);
  });

  it('ends at a place that was never swapped, and leaves out pages that were not drawn', () => {
    const swaps = new SwapExamination();
    for (const isSwapped of [true, false])
      swaps.add(
        page([isSwapped ? 2 : 1, 0.5, true], [isSwapped ? 1 : 2, 1, true], [3, NaN, true], [4, NaN, true]),
      );
    swaps.add(page([1, NaN, false], [2, NaN, true]));
    expect(swaps.result().map(({ place, value }) => [place, value])).to.deep.equal([
      [1, 1],
      [2, 1],
    ]);
    expect(new SwapExamination().result()).to.deep.equal([]);
  });

  it('leaves out neighbours with a place of their own, which are never swapped', () => {
    const swaps = new SwapExamination();
    const swapped = (): void => {
      swaps.add(page([1, 0.5, true], [2, 1, false]));
      swaps.add(page([2, 0.5, false], [1, 1, true]));
    };
    swapped();
    const before = swaps.result();
    for (let at = 0; at < 20; at++) swaps.add(page([1, 0.5, false], [2, NaN, true]));
    expect(swaps.result()).to.deep.equal(before);
  });

  it('compares a place with the first place of the same pages, for pages of different sizes', () => {
    const random = new RandomExamination();
    // Users look at the second place half as often. The longer pages have no better candidates in the first two places.
    for (let at = 0; at < 8; at++) random.add(page([1, 0.5, at < 4], [2, 0.5, at < 2]));
    for (let at = 0; at < 8; at++) random.add(page([1, 0.25, at < 4], [2, 0.25, at < 2], [3, 0.25, at < 1]));
    const values = random.result().map(({ value }) => Number(value.toFixed(12)));
    expect(values).to.deep.equal([1, 0.5, 0.25]);
  });

  it('compares all pages if each shows one place', () => {
    const random = new RandomExamination();
    for (let at = 0; at < 8; at++)
      for (const place of [1, 2])
        random.add(
          new Map([
            [place, { place, before: undefined, propensity: 0.5, marginal: 0.5, clicked: at < 4 / place }],
          ]),
        );
    expect(random.result().map(({ value }) => value)).to.deep.equal([1, 0.5]);
  });

  it('is the ratio of the clicks at places in random order', () => {
    const random = new RandomExamination();
    for (let at = 0; at < 10; at++) random.add(page([1, 0.5, at < 8], [2, 0.5, at < 4], [3, NaN, true]));
    const values = random.result().map(({ value }) => Number(value.toFixed(12)));
    expect(values).to.deep.equal([1, 0.5]);
  });

  it('never increases in the file', () => {
    expect(nonIncreasing([1, 0.5, 0.7, 0.2])).to.deep.equal([1, 0.6, 0.6, 0.2]);
    expect(nonIncreasing([1, 1.2, 0.4])).to.deep.equal([1, 1, 0.4]);
  });
});
