import { expect } from 'chai';
import * as fc from 'fast-check';
import { FoundRequests, LoggedGrades } from '../../../../runtime/learn/judge/found-requests.js';

const ID: fc.Arbitrary<string> = fc.constantFrom('r1', 'r2', 'r3', 'r4');
const CANDIDATE = fc.constantFrom('a', 'b', 'c');

describe('requests that were found in a ledger', () => {
  it('have the highest grade of each candidate, on all pages of a request', () => {
    fc.assert(
      fc.property(
        fc.array(ID, { maxLength: 6 }),
        fc.array(fc.tuple(ID, CANDIDATE, fc.constantFrom(0, 0.5, 1, 3))),
        (ids, feedback) => {
          const found = new FoundRequests();
          for (const [number, requestId] of ids.entries())
            found.push({ path: 's', number, requestId, time: number, lacks: [], pipeline: 'p', unit: '' });
          const grades = new LoggedGrades(found);
          const expected = new Map(ids.map((id) => [id, new Map<string, number>()]));
          for (const [id, candidate, grade] of feedback) {
            grades.add(id, candidate, grade);
            const own = expected.get(id);
            own?.set(candidate, Math.max(grade, own.get(candidate) ?? 0));
          }
          for (const id of ['r1', 'r2', 'r3', 'r4'])
            expect(new Map(grades.of(id))).to.deep.equal(expected.get(id) ?? new Map());
          const all = Array.from(expected.values()).flatMap((own) => [...own.values()]);
          expect(grades.highest).to.equal(Math.max(0, ...all));
        },
      ),
    );
  });

  it('count what their records lack', () => {
    const found = new FoundRequests();
    for (const [number, lacks] of [['user', 'kiosk'], [], ['user']].entries())
      found.push({ path: 's', number, requestId: `r${number}`, time: 1, lacks, pipeline: 'p', unit: '' });
    expect([...found.lacks()]).to.deep.equal([
      ['kiosk', 1],
      ['user', 2],
    ]);
  });
});
