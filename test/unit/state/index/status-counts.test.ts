import { expect } from 'chai';
import fc from 'fast-check';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import { DEFAULTED, defaultedCause, Status, statusName } from '../../../../runtime/ground/api/status.js';
import { StatusCounts } from '../../../../runtime/state/index/status-counts.js';

const STATUSES = [
  ...Object.values(Status),
  ...[Status.null, Status.missing_entity, Status.missing_feature, Status.expired].map(
    (one) => DEFAULTED | one,
  ),
];

function columnOf(status: Uint8Array): Column {
  return { kind: 'number', stride: 1, status, values: new Float64Array(status.length) };
}

describe('StatusCounts', () => {
  it('counts each row of the request once, ignores later rows, and adds up', () => {
    const statuses = fc.array(
      fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, fc.constantFrom(...STATUSES)),
      {
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom('a', 'b'), statuses, fc.nat(9), fc.nat(7))),
        (columns) => {
          const total = new StatusCounts();
          const expected = new Map<string, number>();
          for (const [view, list, more, offset] of columns) {
            const bytes = new Uint8Array(offset + list.length + more).fill(Status.failed);
            bytes.set(list, offset);
            const counts = new StatusCounts();
            counts.count(view, columnOf(bytes.subarray(offset)), list.length);
            total.addAll(counts);
            for (const status of list) {
              const key = [view, statusName(status), defaultedCause(status)].join();
              expected.set(key, (expected.get(key) ?? 0) + 1);
            }
          }
          const found = total
            .list()
            .map((one) => [[one.view, one.status, one.cause].join(), one.values] as const);
          expect(new Map(found)).to.deep.equal(expected);
        },
      ),
    );
  });
});
