import { expect } from 'chai';
import fc from 'fast-check';
import { checkConflicts } from '../../../../runtime/project/config/curation/check-conflicts.js';
import { ClaimedTimes, type Claim } from '../../../../runtime/project/config/curation/claimed-times.js';
import { Diagnostics } from '../../../../runtime/project/config/diagnostics/diagnostics.js';
import type { CurationRule } from '../../../../runtime/project/config/model/curation.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';

const file = new SourceFile('curation/list.yaml', 'x'.repeat(100_000));

interface Pin {
  readonly position: number;
  readonly id: string;
  readonly from: number;
  readonly days: number;
}

function ruleOf({ position, id, from, days }: Pin, order: number): CurationRule {
  const at = { file, start: 2 * order, end: 2 * order + 1 };
  return {
    name: `list:api:${order}`,
    isStored: true,
    at,
    note: undefined,
    query: undefined,
    when: undefined,
    from,
    until: from + days,
    pins: [{ position, id: { value: id, at } }],
    hides: [],
    boosts: [],
    buries: [],
    sponsors: [],
    banners: [],
  };
}

const claimOf = (pin: Pin, order: number): Claim => {
  const rule = ruleOf(pin, order);
  return { rule, id: { value: pin.id, at: rule.at }, position: pin.position };
};

const pin = fc.record({
  position: fc.integer({ min: 1, max: 3 }),
  id: fc.constantFrom('a', 'b', 'c'),
  from: fc.nat(30),
  days: fc.integer({ min: 1, max: 8 }),
});

describe('the times of claims', () => {
  it('give the first earlier claim that a scan of all gives', () => {
    fc.assert(
      fc.property(fc.array(pin, { maxLength: 40 }), (pins) => {
        const times = new ClaimedTimes<string>();
        const before: Claim[] = [];
        for (const [order, one] of pins.entries()) {
          const claim = claimOf(one, order);
          const scanned = before.find(
            ({ id, rule }) =>
              id.value !== one.id && rule.from < claim.rule.until && claim.rule.from < rule.until,
          );
          expect(times.firstOther(claim, one.id)).to.equal(scanned);
          times.add(claim, one.id);
          before.push(claim);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('are compared with few others, however many there are', () => {
    let reads = 0;
    const times = new ClaimedTimes<string>();
    for (let order = 0; order < 5000; order++) {
      const claim = claimOf(
        { position: 1, id: `p${order % 7}`, from: 10 * ((order * 17) % 5000), days: 10 },
        order,
      );
      const counted = {
        ...claim,
        rule: new Proxy(claim.rule, {
          get(target, key: keyof CurationRule) {
            if (key === 'from' || key === 'until') reads++;
            return target[key];
          },
        }),
      };
      expect(times.firstOther(counted, claim.id.value)).to.equal(undefined);
      times.add(counted, claim.id.value);
    }
    expect(reads).to.be.at.most(5000 * 10);
  });
});

describe('conflicts of rules', () => {
  it('end the check after 1,000 errors, each told once', () => {
    const rules = Array.from({ length: 10_000 }, (_, n) =>
      ruleOf({ position: 1, id: `p${n}`, from: 0, days: 1 }, n),
    );
    const diagnostics = new Diagnostics();
    atOnce(checkConflicts({ rules }, diagnostics));
    atOnce(checkConflicts({ rules }, diagnostics));
    expect(diagnostics.all).to.have.length(1000);
    expect(diagnostics.all[0]?.message).to.contain('list:api:0 pins `p0` there');
  });
});
