import { expect } from 'chai';
import fc from 'fast-check';
import { takeRule } from '../../../../../runtime/request/ordering/rules.js';
import { draftCoins } from '../../../../../runtime/request/experiments/draft-coins.js';
import { teamDraft } from '../../../../../runtime/request/pipeline/interleave/team-draft.js';
import type { DraftSide } from '../../../../../runtime/request/pipeline/interleave/draft-rules.js';
import { Team } from '../../../../../runtime/request/pipeline/interleave/team.js';
import { referenceCoins, referenceDraft } from '../../../../support/reference-draft.js';

const PAGE = { size: 5, first: 0 };
const COUNT = 12;

const side = (order: readonly number[], more: Partial<DraftSide> = {}): DraftSide => ({
  order: Int32Array.from(order),
  fixed: new Map(),
  rules: [],
  page: PAGE,
  ...more,
});

/** The order of an arm, which may lack some of the rows. */
const orders = fc.shuffledSubarray(
  Array.from({ length: COUNT }, (_, row) => row),
  { minLength: 0, maxLength: COUNT },
);
const ids = fc.string({ minLength: 1, maxLength: 8 });

describe('a team draft', () => {
  it('is that of the documentation, for any two orders', () => {
    fc.assert(
      fc.property(orders, orders, ids, (control, arm, request) => {
        const { order, teams } = teamDraft(side(control), side(arm), COUNT, draftCoins('e', request), COUNT);
        const expected = referenceDraft(control.map(String), arm.map(String), referenceCoins('e', request));
        expect([...order].map(String)).to.deep.equal(expected.order);
        const named = [undefined, 0, 1] as const;
        expect([...order].map((row) => named[teams[row] ?? 0])).to.deep.equal(expected.teams);
      }),
    );
  });

  it('loses and doubles no candidate, and gives both arms the same number of picks', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...Array(COUNT).keys()], { minLength: COUNT }),
        ids,
        (arm, request) => {
          const control = [...Array(COUNT).keys()];
          const { order, teams } = teamDraft(
            side(control),
            side(arm),
            COUNT,
            draftCoins('e', request),
            COUNT,
          );
          expect([...order].sort((a, b) => a - b)).to.deep.equal(control);
          const picks = (team: Team): number => teams.filter((one) => one === team).length;
          expect(Math.abs(picks(Team.control) - picks(Team.arm))).to.be.at.most(1);
        },
      ),
    );
  });

  it('begins with the same rows whatever the number of places', () => {
    fc.assert(
      fc.property(orders, orders, ids, fc.nat(COUNT), (control, arm, request, most) => {
        const draft = (places: number): ReturnType<typeof teamDraft> =>
          teamDraft(side(control), side(arm), COUNT, draftCoins('e', request), places);
        const [whole, page] = [draft(COUNT), draft(most)];
        expect([...page.order]).to.deep.equal([...whole.order.subarray(0, most)]);
        for (const row of page.order) expect(page.teams[row]).to.equal(whole.teams[row]);
      }),
    );
  });

  it('keeps a place that both arms keep, without credit for the same row', () => {
    fc.assert(
      fc.property(orders, orders, ids, fc.integer({ min: 1, max: 3 }), (control, arm, request, position) => {
        const pinned = (rows: readonly number[]): number[] => {
          const others = rows.filter((row) => row !== 0);
          others.splice(position - 1, 0, 0);
          return others;
        };
        fc.pre(control.length >= 5 && arm.length >= 5);
        const fixed = new Map([[position, 0]]);
        const { order, teams } = teamDraft(
          side(pinned(control), { fixed }),
          side(pinned(arm), { fixed }),
          COUNT,
          draftCoins('e', request),
          COUNT,
        );
        expect(order[position - 1]).to.equal(0);
        expect(teams[0]).to.equal(Team.none);
        expect(new Set(order).size).to.equal(order.length);
      }),
    );
  });

  it('gives a place that both arms keep for different rows to one of the two', () => {
    fc.assert(
      fc.property(ids, (request) => {
        const control = side([5, 6, 1, 2, 3, 4, 7, 8], { fixed: new Map([[3, 1]]) });
        const arm = side([1, 5, 2, 8, 7, 4, 3, 6], { fixed: new Map([[3, 2]]) });
        const { order, teams } = teamDraft(control, arm, 9, draftCoins('e', request), 9);
        expect([1, 2]).to.include(order[2]);
        expect(teams[order[2] ?? 0]).to.equal(order[2] === 1 ? Team.control : Team.arm);
        expect([...order].sort((a, b) => a - b)).to.deep.equal([1, 2, 3, 4, 5, 6, 7, 8]);
      }),
    );
  });

  it('keeps the limits of both arms over the mixed page', () => {
    const groups = Int32Array.from({ length: COUNT }, (_, row) => row % 4);
    const rules = [takeRule('limit', 1, { groups, most: 2, within: 'page' }, COUNT)];
    const within = (order: Iterable<number>, from: number): number[] => {
      const counts = new Array<number>(4).fill(0);
      for (const row of [...order].slice(from, from + PAGE.size))
        counts[row % 4] = (counts[row % 4] ?? 0) + 1;
      return counts;
    };
    const kept = orders.filter(
      (order) => order.length === COUNT && [0, 5].every((from) => Math.max(...within(order, from)) <= 2),
    );
    fc.assert(
      fc.property(kept, kept, ids, (control, arm, request) => {
        const { order } = teamDraft(
          side(control, { rules }),
          side(arm, { rules }),
          COUNT,
          draftCoins('e', request),
          COUNT,
        );
        expect(new Set(order).size).to.equal(COUNT);
        expect(Math.max(...within(order, 0))).to.be.at.most(2);
      }),
      { numRuns: 50 },
    );
  });

  it('shows one candidate of a group, even if each arm keeps another', () => {
    const groups = Int32Array.from([0, 0, 1, 2]);
    const rules = [takeRule('keepOne', 1, { groups }, 4)];
    for (const request of ['a', 'b', 'c', 'd', 'e']) {
      const coin = draftCoins('e', request);
      const { order } = teamDraft(side([0, 2, 3], { rules }), side([1, 3, 2], { rules }), 4, coin, 4);
      expect([...order].filter((row) => row < 2)).to.have.length(1);
      expect(order).to.have.length(3);
    }
  });

  it('throws fair coins', () => {
    const coin = draftCoins('popularity', 'r1');
    let heads = 0;
    for (let round = 0; round < 4096; round++) if (coin(round)) heads += 1;
    expect(heads).to.be.within(1900, 2200);
    expect(draftCoins('text', 'r1')(0)).to.be.a('boolean');
    const other = Array.from({ length: 64 }, (_, round) => draftCoins('text', 'r1')(round));
    expect(Array.from({ length: 64 }, (_, round) => coin(round))).not.to.deep.equal(other);
  });
});
