import { expect } from 'chai';
import { drawSupported, toldOf } from '../../../prove/experiments/drawn-logs.js';
import { Random } from '../../../../runtime/ground/core/random.js';
import {
  ESTIMATORS,
  offPolicyEstimate,
  type DrawnPage,
} from '../../../../runtime/learn/off-policy/estimate.js';

/** A page with [target, propensity, marginal, reward] of each place. */
function page(unit: string, ...places: readonly (readonly [number, number, number, number])[]): DrawnPage {
  return {
    unit,
    above: 1,
    places: places.map(([target, propensity, marginal, reward], at) => ({
      place: at + 1,
      target,
      propensity,
      marginal,
      reward,
    })),
  };
}

const PAGES = [
  page('u1', [1, 0.5, 0.5, 1], [1, 0.5, 0.25, 0]),
  page('u2', [0, 0.5, 0.5, 1], [1, 1, 0.25, 1]),
  page('u3', [1, 0.5, 0.5, 0], [0, 0.5, 0.75, 1]),
  page('u3', [1, 0.5, 0.5, 1], [1, 0.5, 0.25, 1]),
];

/** By log: the share of the pages on which it could never show what the pipeline shows. */
const SUPPORT = Array.from({ length: 20 }, (_, log) => log / 40);

describe('offPolicyEstimate', () => {
  it('covers the truth on 20 logs, or has more than 20 % that the log could not show', () => {
    const told = SUPPORT.map((unsupported, log) => {
      const [pages, truth] = drawSupported(unsupported, 4000, new Random(20261126 + log));
      return ESTIMATORS.map((estimator) => {
        const { interval, unsupported: share, isWidened } = offPolicyEstimate(pages, estimator, 'page', 1);
        const isCovered = interval.lower <= truth && truth <= interval.upper;
        return share > 0.2 ? 'refused' : isCovered ? (isWidened ? 'widened' : 'covered') : 'missed';
      });
    });
    const both = (word: string): readonly string[] => [word, word];
    expect(told.slice(0, 3).flat()).to.not.include.members(['missed', 'refused']);
    expect(told.slice(4, 7)).to.deep.equal([both('widened'), both('widened'), both('widened')]);
    expect(told.flat().filter((word) => word === 'missed')).to.deep.equal([]);
    expect(told.slice(10)).to.deep.equal(told.slice(10).map(() => both('refused')));
  });

  it('covers the truth on small logs whose support is just not whole', () => {
    for (const estimator of ESTIMATORS)
      for (const unsupported of [0.05, 0.075, 0.1, 0.125]) {
        const { missed } = toldOf(unsupported, 60, 2000, estimator, new Random(20261126));
        expect(missed, `${estimator}, ${unsupported}`).to.be.below(0.15);
      }
  });

  it('is the formula that docs/experiments/reports.md states for snips', () => {
    const pages = [...PAGES, page('u4', [1, 0.5, 0.5, 1])];
    const places = [1, 2].map((place) => {
      const shown = pages.flatMap((one) => one.places.filter((other) => other.place === place));
      const weights = shown.map(({ target, marginal }) => target / marginal);
      const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);
      const rewards = sum(shown.map(({ reward }, at) => (weights[at] ?? 0) * reward));
      return (rewards / sum(weights)) * (shown.length / pages.length);
    });
    const { value } = offPolicyEstimate(pages, 'snips', 'item_position', 1);
    expect(value).to.be.closeTo((places[0] ?? 0) + (places[1] ?? 0), 1e-12);
  });

  it('weighs each place by its own probability for item_position', () => {
    const { value, logged, largest, pages, units } = offPolicyEstimate(PAGES, 'ips', 'item_position', 1);
    // Place 1: 2 + 0 + 0 + 2; place 2: 0 + 4 + 0 + 4.
    expect(value).to.equal((2 + 4 + 0 + 2 + 4) / 4);
    expect([logged, largest, pages, units]).to.deep.equal([1.5, 4, 4, 3]);
    const snips = offPolicyEstimate(PAGES, 'snips', 'item_position', 1).value;
    expect(snips).to.be.closeTo(4 / 6 + 8 / 12, 1e-12);
  });

  it('multiplies the weights of the places above for cascade, and of all places for page', () => {
    expect(offPolicyEstimate(PAGES, 'ips', 'cascade', 1).value).to.equal((2 + 2 + 4) / 4);
    expect(offPolicyEstimate(PAGES, 'ips', 'page', 1).value).to.equal((4 * 1 + 4 * 2) / 4);
    expect(offPolicyEstimate(PAGES, 'snips', 'page', 1).value).to.be.closeTo(12 / 8, 1e-12);
  });

  it('counts effective pages, and what the log could not show', () => {
    const { effective, unsupported } = offPolicyEstimate(PAGES, 'ips', 'page', 1);
    expect(effective).to.equal(64 / 32);
    expect(unsupported).to.equal(0);
    const never = offPolicyEstimate([page('a', [0, 1, 1, 1]), page('b', [1, 1, 1, 0])], 'ips', 'page', 1);
    expect(never.unsupported).to.equal(0.5);
    expect(offPolicyEstimate([page('a', [0, 1, 1, 1])], 'snips', 'page', 1)).to.include({
      value: 0,
      effective: 0,
    });
  });

  it('is the logged value if the pipeline shows what the log showed', () => {
    const same = PAGES.map(({ unit, places }) =>
      page(unit, ...places.map(({ reward }) => [1, 1, 1, reward] as const)),
    );
    for (const reward of ['item_position', 'cascade', 'page'] as const)
      for (const estimator of ['ips', 'snips'] as const) {
        const found = offPolicyEstimate(same, estimator, reward, 1);
        expect(found.value).to.be.closeTo(found.logged, 1e-12);
        expect(found.effective).to.equal(4);
      }
  });

  it('weighs a later page by the pages above it, of which its draws depend', () => {
    // Orders of three candidates, each as likely, on pages of one; the pipeline shows 0 1 2. The second page is logged.
    const orders = [
      [0, 1, 2],
      [0, 2, 1],
      [1, 0, 2],
      [1, 2, 0],
      [2, 0, 1],
      [2, 1, 0],
    ];
    const second = orders.map(([first, one], at): DrawnPage => ({
      unit: String(at),
      above: first === 0 ? 3 : 0,
      places: [
        {
          place: 2,
          target: one === 1 ? 1 : 0,
          propensity: 1 / 2,
          marginal: 1 / 3,
          reward: one === 1 ? 0.6 : 0.9,
        },
      ],
    }));
    for (const reward of ['item_position', 'cascade', 'page'] as const) {
      const { value, unsupported } = offPolicyEstimate(second, 'ips', reward, 1);
      expect(value, reward).to.be.closeTo(0.6, 1e-12);
      expect(unsupported, reward).to.be.closeTo(0, 1e-12);
    }
  });

  it('does not take a page without candidates for one that the log could not show', () => {
    const empty = PAGES.map(({ unit }) => page(unit));
    expect(offPolicyEstimate([...PAGES, ...empty], 'ips', 'page', 1).unsupported).to.equal(0);
    expect(offPolicyEstimate(empty, 'snips', 'page', 1)).to.include({
      value: 0,
      unsupported: 0,
      effective: 4,
    });
  });

  it('has an interval over users: the pages of one user are not independent', () => {
    const pages = Array.from({ length: 100 }, (_, at) => page(`u${at}`, [1, 1, 1, at % 2]));
    const twice = [...pages, ...pages];
    const width = (of: readonly DrawnPage[]): number => {
      const { lower, upper } = offPolicyEstimate(of, 'ips', 'page', 1).interval;
      return upper - lower;
    };
    expect(width(twice)).to.be.closeTo(width(pages), 1e-12);
    expect(width(pages)).to.be.closeTo((2 * 1.96 * 0.5) / Math.sqrt(99), 1e-9);
  });
});
