import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { isLz4Frame, Lz4Error, readLz4 } from '../../../../runtime/state/wyvern/lz4-frame.js';
import { xxh32 } from '../../../../runtime/state/wyvern/xxh32.js';
import { repositoryPath } from '../../../support/repository.js';

/** Frames that Python's lz4 wrote; test/acceptance/lz4_frames.py --fixtures prints them. */
const FRAMES = readFileSync(repositoryPath('test/unit/cli/import-wyvern/frames.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { frame: string; sha256: string })
  .map(({ frame, sha256 }) => ({ frame: Buffer.from(frame, 'base64'), sha256 }));
const MOST = 2 ** 20;

/** Bytes that are read, or the message of the error. */
function outcome(frame: Buffer, most = MOST): Buffer | string {
  try {
    return readLz4(frame, most);
  } catch (error) {
    if (error instanceof Lz4Error) return error.message;
    throw error;
  }
}

describe('LZ4 frames', () => {
  it('have the checksum of the specification', () => {
    expect(xxh32(Buffer.from(''))).to.equal(0x02cc5d05);
    expect(xxh32(Buffer.from('abc'))).to.equal(0x32d153ff);
    expect(xxh32(Buffer.from('Nobody inspects the spammish repetition'))).to.equal(0xe2293b2f);
  });

  it("are read as Python's lz4 writes them, with each option of the format", () => {
    expect(FRAMES).to.have.length(7);
    for (const { frame, sha256 } of FRAMES) {
      expect(isLz4Frame(frame)).to.equal(true);
      expect(createHash('sha256').update(readLz4(frame, MOST)).digest('hex')).to.equal(sha256);
    }
  });

  it('are refused when they are cut short, whatever the place', () => {
    for (const { frame } of FRAMES.filter(({ frame: one }) => one.length < 2000))
      for (let length = 1; length < frame.length; length++) {
        const cut = outcome(frame.subarray(0, length));
        // Two frames may be cut between them.
        if (typeof cut !== 'string')
          expect(readLz4(frame, MOST).subarray(0, cut.length).equals(cut)).to.equal(true);
      }
    expect(outcome(FRAMES[1]?.frame.subarray(0, 40) ?? Buffer.alloc(0))).to.equal('the frame is cut short');
  });

  it('with checksums never give other bytes when a bit is wrong', () => {
    const whole = FRAMES[2];
    if (whole === undefined) throw new Error('no frame');
    const content = readLz4(whole.frame, MOST);
    fc.assert(
      fc.property(fc.nat({ max: whole.frame.length * 8 - 1 }), (bit) => {
        const damaged = Buffer.from(whole.frame);
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const read = outcome(damaged);
        if (typeof read !== 'string') expect(read.equals(content)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });

  it('of any bytes give a result or an error of their own', () => {
    const head = FRAMES[1]?.frame.subarray(0, 15) ?? Buffer.alloc(0);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        outcome(Buffer.concat([head, bytes]));
        outcome(Buffer.from(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('may not grow beyond the limit', () => {
    const [, , , long] = FRAMES;
    expect(outcome(long?.frame ?? Buffer.alloc(0), 1000)).to.equal('the value has more than 1000 bytes');
  });
});
