import { expect } from 'chai';
import { offPolicyEstimate, type DrawnPage } from '../../../../runtime/learn/off-policy/estimate.js';

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

describe('offPolicyEstimate', () => {
  it('weighs each place by its own probability for item_position', () => {
    const { value, logged, largest, pages, units } = offPolicyEstimate(PAGES, 'ips', 'item_position');
    // Place 1: 2 + 0 + 0 + 2; place 2: 0 + 4 + 0 + 4.
    expect(value).to.equal((2 + 4 + 0 + 2 + 4) / 4);
    expect([logged, largest, pages, units]).to.deep.equal([1.5, 4, 4, 3]);
    const snips = offPolicyEstimate(PAGES, 'snips', 'item_position').value;
    expect(snips).to.be.closeTo(4 / 6 + 8 / 12, 1e-12);
  });

  it('multiplies the weights of the places above for cascade, and of all places for page', () => {
    expect(offPolicyEstimate(PAGES, 'ips', 'cascade').value).to.equal((2 + 2 + 4) / 4);
    expect(offPolicyEstimate(PAGES, 'ips', 'page').value).to.equal((4 * 1 + 4 * 2) / 4);
    expect(offPolicyEstimate(PAGES, 'snips', 'page').value).to.be.closeTo(12 / 8, 1e-12);
  });

  it('counts effective pages, and what the log could not show', () => {
    const { effective, unsupported } = offPolicyEstimate(PAGES, 'ips', 'page');
    expect(effective).to.equal(64 / 32);
    expect(unsupported).to.equal(0);
    const never = offPolicyEstimate([page('a', [0, 1, 1, 1]), page('b', [1, 1, 1, 0])], 'ips', 'page');
    expect(never.unsupported).to.equal(0.5);
    expect(offPolicyEstimate([page('a', [0, 1, 1, 1])], 'snips', 'page')).to.include({
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
        const found = offPolicyEstimate(same, estimator, reward);
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
      const { value, unsupported } = offPolicyEstimate(second, 'ips', reward);
      expect(value, reward).to.be.closeTo(0.6, 1e-12);
      expect(unsupported, reward).to.be.closeTo(0, 1e-12);
    }
  });

  it('does not take a page without candidates for one that the log could not show', () => {
    const empty = PAGES.map(({ unit }) => page(unit));
    expect(offPolicyEstimate([...PAGES, ...empty], 'ips', 'page').unsupported).to.equal(0);
    expect(offPolicyEstimate(empty, 'snips', 'page')).to.include({ value: 0, unsupported: 0, effective: 4 });
  });

  it('has an interval over users: the pages of one user are not independent', () => {
    const pages = Array.from({ length: 100 }, (_, at) => page(`u${at}`, [1, 1, 1, at % 2]));
    const twice = [...pages, ...pages];
    const width = (of: readonly DrawnPage[]): number => {
      const { lower, upper } = offPolicyEstimate(of, 'ips', 'page').interval;
      return upper - lower;
    };
    expect(width(twice)).to.be.closeTo(width(pages), 1e-12);
    expect(width(pages)).to.be.closeTo((2 * 1.96 * 0.5) / Math.sqrt(99), 1e-9);
  });
});
