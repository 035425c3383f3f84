import { expect } from 'chai';
import fc from 'fast-check';
import { Slacks } from '../../../../../runtime/request/ordering/places/slacks.js';

type Change =
  | { readonly kind: 'add'; readonly from: number; readonly to: number; readonly change: number }
  | { readonly kind: 'each'; readonly factor: number }
  | { readonly kind: 'drop'; readonly index: number };

const CHANGE: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    kind: fc.constant('add' as const),
    from: fc.nat(20),
    to: fc.nat(20),
    change: fc.integer({ min: -3, max: 3 }),
  }),
  fc.record({ kind: fc.constant('each' as const), factor: fc.integer({ min: -2, max: 2 }) }),
  fc.record({ kind: fc.constant('drop' as const), index: fc.nat(19) }),
);

describe('slacks of a bound', () => {
  it('are those of a plain list after any changes', () => {
    const lists = fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(lists, fc.array(CHANGE, { maxLength: 30 }), (start, changes) => {
        const slacks = new Slacks(Int32Array.from(start));
        const plain = [...start];
        for (const one of changes) {
          if (one.kind === 'add') {
            const to = Math.min(one.to, plain.length);
            slacks.add(one.from, to, one.change);
            for (let at = one.from; at < to; at++) plain[at] = (plain[at] ?? 0) + one.change;
          } else if (one.kind === 'each') {
            slacks.addEach((index) => one.factor * index);
            for (let at = 0; at < plain.length; at++) plain[at] = (plain[at] ?? 0) + one.factor * at;
          } else if (one.index < plain.length && (plain[one.index] ?? 0) < 1e6) {
            slacks.drop(one.index);
            plain[one.index] = 2 ** 29;
          }
          const zeros = plain.flatMap((slack, index) => (slack <= 0 ? [index] : []));
          expect([slacks.first, slacks.last]).to.deep.equal([zeros[0], zeros.at(-1)]);
          const least = Math.min(...plain);
          if (least < 1e6) expect(slacks.least).to.equal(least);
        }
      }),
      { numRuns: 500 },
    );
  });
});
