import { expect } from 'chai';
import fc from 'fast-check';
import { ByteWriter } from '../../../../runtime/state/store/codec/bytes.js';

describe('records that one writer builds', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.integer({ min: 0, max: 200_000 }).map((length) => 'x'.repeat(length)),
  );

  it('do not change when more and larger records are built', () => {
    fc.assert(
      fc.property(fc.array(fc.array(text, { maxLength: 5 }), { maxLength: 20 }), (records) => {
        const writer = new ByteWriter();
        const built = records.map((texts) => {
          writer.start();
          const at = writer.zeros(3);
          const ascii = texts.map((one) => writer.text(one));
          expect(ascii).to.deep.equal(texts.map((one) => one.length === Buffer.byteLength(one)));
          expect(writer.ascii).to.equal(!ascii.includes(false));
          writer.bytes[at + 1] = texts.length;
          return writer.finish();
        });
        const expected = records.map((texts) =>
          Buffer.concat([Buffer.from([0, texts.length, 0]), Buffer.from(texts.join(''))]),
        );
        expect(built.every((record, i) => record.equals(expected[i] ?? record))).to.equal(true);
      }),
      { numRuns: 50 },
    );
  });

  it('contain nothing of an abandoned record', () => {
    const writer = new ByteWriter();
    writer.start();
    writer.text('kept');
    const kept = writer.finish();
    writer.start();
    writer.text('given up');
    writer.start();
    writer.zeros(4);
    expect([...writer.finish()]).to.deep.equal([0, 0, 0, 0]);
    expect(kept.toString()).to.equal('kept');
  });
});
