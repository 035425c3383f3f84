import { expect } from 'chai';
import * as fc from 'fast-check';
import { readReport } from '../../../../runtime/state/ledger/frame-splitter.js';
import { keepNewest, newestRecords, readAgain } from '../../../../runtime/state/ledger/newest-records.js';
import type { DecodedRecord } from '../../../../runtime/state/ledger/record-decoder.js';
import { RecordPlaces, type RecordPlace } from '../../../../runtime/state/ledger/record-places.js';
import { readRecords } from '../../../../runtime/state/ledger/record-reader.js';
import { recordSchema } from '../../../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../../../runtime/state/ledger/record-writer.js';
import { schemaFrame } from '../../../../runtime/state/ledger/schema-frame.js';
import { withFiles } from '../../../support/temporary-files.js';

const SCHEMA = recordSchema(
  'ranking',
  [{ name: 'a', is: 'value', rows: 'record', type: 'text', nullable: false }],
  {},
);

interface Written {
  readonly time: number;
  readonly isDamaged: boolean;
}

/** Each record has a number of its own. */
function segmentsOf(segments: readonly (readonly Written[])[]): Record<string, Buffer> {
  const writer = new RecordWriter();
  let sequence = 0;
  const frameOf = ({ time, isDamaged }: Written): Buffer => {
    writer.begin(SCHEMA, { candidate: 0, change: 0 }, { instance: Buffer.alloc(16), sequence, time });
    writer.text(`text ${sequence++}`);
    const frame = Buffer.from(writer.finish());
    if (isDamaged) frame.writeUInt8(frame.readUInt8(frame.length - 9) ^ 1, frame.length - 9);
    return frame;
  };
  return Object.fromEntries(
    segments.map((records, at) => [
      `w${at}-000001.mlr`,
      Buffer.concat([schemaFrame(SCHEMA), ...records.map(frameOf)]),
    ]),
  );
}

describe('the newest records of a ledger', () => {
  it('are found by their times, and each is read again once, from segments in any order with damaged records', async () => {
    const record = fc.record({ time: fc.integer({ min: 1, max: 9 }), isDamaged: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(record, { maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 40 }),
        (segments, most) =>
          withFiles(segmentsOf(segments), async (root) => {
            const pick = ({
              sequence,
              time,
            }: DecodedRecord): { sequence: number; time: number } | undefined =>
              sequence % 3 === 0 ? undefined : { sequence, time };
            const found = await newestRecords(root, most, pick);
            const places = new RecordPlaces();
            await keepNewest<RecordPlace & { readonly time: number }>(
              root,
              most,
              (record, place) => {
                const picked = pick(record);
                return picked && { ...picked, ...place };
              },
              readReport(),
              places,
            );
            expect(places.length).to.equal(found.length);
            let readable = 0;
            for await (const { sequence } of readRecords(root)) if (sequence % 3 !== 0) readable += 1;
            expect(found.length).to.equal(Math.min(most, readable));
            const times = found.map(({ time }) => time);
            expect(times).to.deep.equal(times.toSorted((a, b) => a - b));
            const texts = new Map<number, unknown>();
            for await (const [at, again] of readAgain(places)) {
              expect(texts.has(at)).to.equal(false);
              texts.set(at, again.value('a')?.at(0));
            }
            expect(found.map((_, at) => texts.get(at))).to.deep.equal(
              found.map(({ sequence }) => `text ${sequence}`),
            );
          }),
      ),
      { numRuns: 50 },
    );
  });
});
