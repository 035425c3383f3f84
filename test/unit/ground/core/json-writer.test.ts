import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { writeJson, type JsonText } from '../../../../runtime/ground/core/json-writer.js';

const textOf = ({ chunks }: JsonText): string => Buffer.concat(chunks).toString();

describe('JSON written in pieces', () => {
  it('equals the output of JSON.stringify, and knows its length', () =>
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const written = atOnce(writeJson(value));
        expect(textOf(written)).to.equal(JSON.stringify(value));
        expect(written.length).to.equal(Buffer.byteLength(JSON.stringify(value)));
        expect(JSON.stringify(written)).to.equal(JSON.stringify(value));
      }),
    ));

  it('omits undefined properties, and writes null for undefined list elements', () => {
    const value = { a: undefined, b: [undefined, NaN], c: { d: undefined } };
    expect(textOf(atOnce(writeJson(value)))).to.equal(JSON.stringify(value));
  });

  it('inserts text that is already written', () => {
    const events = atOnce(writeJson([{ at: 'ü' }, null]));
    const value = { answer: { events }, list: [events], events };
    const plain = [{ at: 'ü' }, null];
    const wanted = JSON.stringify({ answer: { events: plain }, list: [plain], events: plain });
    expect(textOf(atOnce(writeJson(value)))).to.equal(wanted);
    expect(JSON.stringify(value)).to.equal(wanted);
    expect(events.toJSON()).to.deep.equal(plain);
  });

  it('yields between the elements of a list within an object', () => {
    const work = writeJson({ page: Array.from({ length: 100 }, (_, i) => ({ i })) });
    let pieces = 0;
    while (work.next().done !== true) pieces++;
    expect(pieces).to.be.at.least(100);
  });

  it('has several chunks if it is long', () => {
    const long = atOnce(writeJson(Array.from({ length: 100 }, () => 'é'.repeat(10_000))));
    expect(long.chunks.length).to.be.greaterThan(1);
    expect(long.toJSON()).to.have.length(100);
  });
});
