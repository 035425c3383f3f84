import { expect } from 'chai';
import {
  DEFAULTED,
  defaultedCause,
  FEAST_STATUSES,
  feastStatus,
  isKnown,
  Status,
  STATUS_NAMES,
  statusAt,
  statusName,
} from '../../../../runtime/ground/api/status.js';

const CODES = Object.entries(Status) as [keyof typeof Status, number][];

describe('the table of statuses', () => {
  it('has a code of its own for each status, below the bit of defaults', () => {
    expect(new Set(CODES.map(([, code]) => code)).size).to.equal(CODES.length);
    for (const [name, code] of CODES) {
      expect(code).to.be.within(0, DEFAULTED - 1);
      expect(statusName(code)).to.equal(name);
      expect([statusName(DEFAULTED | code), defaultedCause(DEFAULTED | code)]).to.deep.equal([
        'defaulted',
        name,
      ]);
    }
    expect(STATUS_NAMES).to.deep.equal([...CODES.map(([name]) => name), 'defaulted']);
  });

  it('keeps the codes that plugins were compiled with', () => {
    expect(Status).to.include({
      present: 0,
      null: 1,
      absent: 2,
      missing_entity: 3,
      missing_feature: 4,
      expired: 5,
      stale: 6,
      failed: 8,
    });
  });

  it('treats present, stale and defaulted cells as known, and a missing cell as unknown', () => {
    const known = CODES.filter(([, code]) => isKnown(code)).map(([name]) => name);
    expect(known).to.deep.equal(['present', 'stale']);
    for (const [, code] of CODES) expect(isKnown(DEFAULTED | code)).to.equal(true);
    expect(isKnown(undefined)).to.equal(false);
    expect(statusAt(Uint8Array.of(Status.stale), 0)).to.equal(Status.stale);
    expect(statusAt(new Uint8Array(0), 0)).to.equal(Status.absent);
  });

  it("has Feast's spelling of each status; a default has that of its cause", () => {
    expect(new Set(CODES.map(([, code]) => feastStatus(code)))).to.deep.equal(new Set(FEAST_STATUSES));
    for (const [, code] of CODES) expect(feastStatus(DEFAULTED | code)).to.equal(feastStatus(code));
  });
});
