import { expect } from 'chai';
import * as fc from 'fast-check';
import type { Column } from '../../../../runtime/ground/api/columns.js';
import { isKnown, Status } from '../../../../runtime/ground/api/status.js';
import { crc32c, crc32cOfWords } from '../../../../runtime/state/ledger/crc32c.js';
import { At } from '../../../../runtime/state/ledger/format.js';
import { readReport, type ReadReport } from '../../../../runtime/state/ledger/frame-splitter.js';
import type { DecodedRecord } from '../../../../runtime/state/ledger/record-decoder.js';
import { readBytes, readRecords } from '../../../../runtime/state/ledger/record-reader.js';
import {
  recordSchema,
  type RecordColumn,
  type RecordSchema,
} from '../../../../runtime/state/ledger/record-schema.js';
import { RecordWriter } from '../../../../runtime/state/ledger/record-writer.js';
import { schemaFrame, sealFrame } from '../../../../runtime/state/ledger/schema-frame.js';

const INSTANCE = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const STAMP = { instance: INSTANCE, sequence: 2 ** 33 + 5, time: 1_767_225_600_123 };
const STATUSES = Object.values(Status);

type Fill = (writer: RecordWriter) => void;

function frameOf(schema: RecordSchema, rows: { candidate: number; change: number }, fill: Fill): Buffer {
  const writer = new RecordWriter();
  writer.begin(schema, rows, STAMP);
  fill(writer);
  return Buffer.from(writer.finish());
}

/** A segment with these records of one schema. */
function segmentOf(schema: RecordSchema, frames: readonly Uint8Array[]): Buffer {
  return Buffer.concat([schemaFrame(schema), ...frames]);
}

function read(bytes: Uint8Array): { records: DecodedRecord[]; report: ReadReport } {
  const report = readReport();
  return { records: [...readBytes(bytes, report)], report };
}

const column = (name: string, rest: Partial<RecordColumn> = {}): RecordColumn => ({
  name,
  is: 'value',
  rows: 'candidate',
  type: 'float64',
  nullable: false,
  ...rest,
});

describe('CRC-32C', () => {
  it('gives the check value of RFC 3720 and of the catalogue of CRCs', () => {
    expect(crc32c(Buffer.from('123456789'))).to.equal(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).to.equal(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).to.equal(0x62a8ab43);
  });

  it('is the same by words', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000, size: 'max' }), (bytes) => {
        const whole = bytes.slice(0, bytes.length & ~3);
        const words = new Int32Array(whole.buffer, 0, whole.length / 4);
        expect(crc32cOfWords(words, 0, words.length)).to.equal(crc32c(whole));
      }),
    );
  });
});

/** A column of the frame with any values and statuses, and the rows of it that are written. */
const anyCells = (count: number): fc.Arbitrary<{ column: Column; type: RecordColumn }> => {
  const statuses = fc
    .array(fc.constantFrom(...STATUSES), { minLength: count, maxLength: count })
    .map((codes) => Uint8Array.from(codes));
  const many = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
    fc.array(one, { minLength: count, maxLength: count });
  const stride = fc.constantFrom<0 | 1>(0, 1);
  const size = fc.integer({ min: 1, max: 5 });
  const nullable = fc.boolean();
  const numbers = fc.oneof(
    fc.double(),
    fc.constantFrom(0, -0, 1, NaN, Infinity, 2 ** 53, 1e-320),
    fc.float(),
  );
  const lists = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<{ values: T[]; offsets: Int32Array }> =>
    many(fc.array(one, { maxLength: 4 })).map((rows) => {
      let end = 0;
      return {
        values: rows.flat(),
        offsets: Int32Array.from([0, ...rows.map((row) => (end += row.length))]),
      };
    });
  return fc.oneof(
    fc.record({ values: many(numbers), status: statuses, stride, nullable }).map((cells) => ({
      column: { kind: 'number' as const, ...cells, values: Float64Array.from(cells.values) },
      type: column('c', { type: 'float64', nullable: cells.nullable }),
    })),
    fc
      .record({ values: many(fc.string({ unit: 'grapheme' })), status: statuses, stride, nullable })
      .map((cells) => ({
        column: { kind: 'text' as const, ...cells },
        type: column('c', { type: 'text', nullable: cells.nullable }),
      })),
    fc.record({ cells: lists(fc.string()), status: statuses, stride, nullable }).map((all) => ({
      column: { kind: 'texts' as const, ...all.cells, status: all.status, stride: all.stride },
      type: column('c', { type: 'texts', nullable: all.nullable }),
    })),
    fc.record({ cells: lists(numbers), status: statuses, stride, nullable }).map((all) => ({
      column: {
        kind: 'numbers' as const,
        values: Float64Array.from(all.cells.values),
        offsets: all.cells.offsets,
        status: all.status,
        stride: all.stride,
      },
      type: column('c', { type: 'numbers', nullable: all.nullable }),
    })),
    size.chain((width) =>
      fc
        .record({
          values: fc.array(numbers, { minLength: count * width, maxLength: count * width }),
          wide: fc.boolean(),
          status: statuses,
          stride,
          nullable,
        })
        .map((all) => ({
          column: {
            kind: 'vector' as const,
            size: width,
            values: all.wide ? Float64Array.from(all.values) : Float32Array.from(all.values),
            status: all.status,
            stride: all.stride,
          },
          type: column('c', { type: 'vector', size: width, nullable: all.nullable }),
        })),
    ),
  );
};

/** What a reader must find in a row of a column of the frame. */
function expectedAt(cells: Column, { nullable }: RecordColumn, row: number): unknown {
  const from = row * cells.stride;
  if (nullable && !isKnown(cells.status[from])) return undefined;
  switch (cells.kind) {
    case 'number':
    case 'text':
      return cells.values[from];
    case 'texts':
    case 'numbers':
      return Array.from<number | string>(cells.values.slice(cells.offsets[from], cells.offsets[from + 1]));
    case 'vector':
      return Array.from(cells.values.slice(from * cells.size, (from + 1) * cells.size));
  }
}

describe('a record', () => {
  it('reads back as written: any types, statuses, strides and rows', () => {
    const records = fc.integer({ min: 1, max: 6 }).chain((count) =>
      fc.record({
        count: fc.constant(count),
        columns: fc.array(anyCells(count), { maxLength: 5 }),
        rows: fc.option(fc.array(fc.nat(count - 1), { maxLength: 8 }), { nil: undefined }),
      }),
    );
    fc.assert(
      fc.property(records, ({ count, columns, rows }) => {
        const schema = recordSchema(
          'ranking',
          columns.map(({ type }, i) => ({ ...type, name: `c${i}` })),
          { pipeline: 'search' },
        );
        const candidate = rows?.length ?? count;
        const frame = frameOf(schema, { candidate, change: 0 }, (writer) => {
          for (const cells of columns) writer.column(cells.column, rows);
        });
        const { records: found, report } = read(segmentOf(schema, [frame, frame]));
        expect(report).to.deep.equal({ ...readReport(), records: 2 });
        for (const record of found) {
          expect(record.sequence).to.equal(STAMP.sequence);
          expect(record.time).to.equal(STAMP.time);
          expect(record.instance).to.equal('00112233-4455-6677-8899-aabbccddeeff');
          for (const [i, cells] of columns.entries()) {
            const read = record.value(`c${i}`);
            expect(read?.length).to.equal(candidate);
            for (let row = 0; row < candidate; row++) {
              const from = rows?.[row] ?? row;
              expect(read?.at(row)).to.deep.equal(expectedAt(cells.column, cells.type, from));
              if (cells.type.nullable)
                expect(read?.statusAt(row)).to.equal(cells.column.status[from * cells.column.stride]);
            }
            expect(read?.at(candidate)).to.equal(undefined);
          }
        }
      }),
    );
  });

  it('takes single values, and undefined for a nullable column', () => {
    const columns = [
      column('a', { rows: 'record', type: 'text' }),
      column('b', { rows: 'record', type: 'text', nullable: true }),
      column('c', { rows: 'record', nullable: true }),
      column('d', { type: 'int32' }),
      column('e', { type: 'bool' }),
      column('f', { type: 'time', rows: 'record' }),
      column('g', { type: 'uint8', rows: 'change' }),
      column('h', { type: 'float32', rows: 'change' }),
      column('i', { type: 'text', nullable: true }),
    ];
    const schema = recordSchema('feedback', columns, {});
    const frame = frameOf(schema, { candidate: 2, change: 1 }, (w) => {
      w.text('ä');
      w.text(undefined);
      w.float64(undefined);
      w.int32(-7);
      w.bool([1, 0]);
      w.time(STAMP.time);
      w.uint8([255]);
      w.float32([0.1]);
      w.text([undefined, 'y']);
    });
    const { records } = read(segmentOf(schema, [frame]));
    const at = (name: string): unknown[] => {
      const cells = records[0]?.value(name);
      return Array.from({ length: cells?.length ?? 0 }, (_, row) => cells?.at(row));
    };
    expect(columns.map(({ name }) => at(name))).to.deep.equal([
      ['ä'],
      [undefined],
      [undefined],
      [-7, -7],
      [true, false],
      [STAMP.time],
      [255],
      [Math.fround(0.1)],
      [undefined, 'y'],
    ]);
    expect(records[0]?.value('b')?.statusAt(0)).to.equal(Status.absent);
  });

  it('is refused if its columns are not those of the schema', () => {
    const schema = recordSchema('ranking', [column('a'), column('b', { type: 'text' })], {});
    const rows = { candidate: 1, change: 0 };
    expect(() => frameOf(schema, rows, (w) => w.text('x'))).to.throw(
      'where the schema has a of type float64',
    );
    expect(() => frameOf(schema, rows, (w) => w.float64([1]))).to.throw('has 1 columns');
    expect(() =>
      frameOf(schema, rows, (w) => {
        w.float64([1]);
        w.text('x');
        w.text('x');
      }),
    ).to.throw('where the schema has no column');
  });

  it('is at most 64 MiB long', () => {
    const schema = recordSchema('ranking', [column('a', { rows: 'record', type: 'text' })], {});
    expect(() => frameOf(schema, { candidate: 0, change: 0 }, (w) => w.text('x'.repeat(2 ** 26)))).to.throw(
      RangeError,
    );
  });
});

describe('a schema', () => {
  it('has one id for one content, whatever the order of its keys', () => {
    const a = recordSchema('ranking', [column('a')], { x: 1, y: { p: 1, q: 2 } });
    const b = recordSchema('ranking', [column('a')], { y: { q: 2, p: 1 }, x: 1 });
    expect(a.id)
      .to.equal(b.id)
      .and.to.match(/^[0-9a-f]{16}$/);
    expect(recordSchema('ranking', [column('b')], { x: 1, y: { p: 1, q: 2 } }).id).not.to.equal(a.id);
  });
});

describe('the reader', () => {
  const schema = recordSchema('ranking', [column('id', { type: 'text' }), column('x')], {
    pipeline: 'search',
  });
  const frames = Array.from({ length: 5 }, (_, i) =>
    frameOf(schema, { candidate: 3, change: 0 }, (w) => {
      w.text([`a${i}`, 'bb', '']);
      w.float64([1.1 * i, i, NaN]);
    }),
  );
  const segment = segmentOf(schema, frames);
  const idsOf = (records: readonly DecodedRecord[]): unknown[] =>
    records.map((record) => record.value('id')?.at(0));
  const all = ['a0', 'a1', 'a2', 'a3', 'a4'];

  it('reads the whole frames of a segment that is cut at any byte', () => {
    for (let end = 0; end <= segment.length; end++) {
      const { records, report } = read(segment.subarray(0, end));
      expect(idsOf(records)).to.deep.equal(all.slice(0, records.length));
      const whole = [schemaFrame(schema), ...frames].reduce(
        ({ at, count }, frame) => ({
          at: at + frame.length,
          count: at + frame.length <= end ? count + 1 : count,
        }),
        { at: 0, count: 0 },
      ).count;
      expect(records.length).to.equal(Math.max(0, whole - 1));
      expect(report).to.include({ damaged: 0, ended: 0, skipped: 0 });
      expect(report.torn).to.be.oneOf([0, 1]);
    }
  });

  it('never returns a record whose bits were flipped, and never throws', () => {
    fc.assert(
      fc.property(fc.nat(segment.length * 8 - 1), fc.nat(segment.length * 8 - 1), (one, two) => {
        const bytes = Buffer.from(segment);
        for (const bit of new Set([one, two])) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const { records, report } = read(bytes);
        for (const record of records)
          expect(frames.some((frame) => frame.equals(record.frame))).to.equal(true);
        expect(report.damaged + report.torn).to.be.greaterThan(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('skips one damaged frame, counts it, and reads on', () => {
    const bytes = Buffer.from(segment);
    const second = schemaFrame(schema).length + (frames[0]?.length ?? 0);
    bytes[second + 70] = (bytes[second + 70] ?? 0) ^ 1;
    const { records, report } = read(bytes);
    expect(idsOf(records)).to.deep.equal(['a0', 'a2', 'a3', 'a4']);
    expect(report).to.deep.equal({ records: 4, torn: 0, damaged: 1, ended: 0, skipped: 0 });
  });

  it('ends at a second damaged frame, because the lengths may be wrong', () => {
    const bytes = Buffer.from(segment);
    bytes.fill(0x55, schemaFrame(schema).length + 8, schemaFrame(schema).length + 8 + 300);
    expect(read(bytes).report.ended + read(bytes).report.torn).to.be.greaterThan(0);
    expect(read(Buffer.alloc(4096)).report).to.include({ ended: 1, damaged: 1, records: 0 });
    const garbage = Buffer.from(Array.from({ length: 5000 }, (_, i) => (i * 131) & 255));
    expect(read(garbage).records).to.deep.equal([]);
  });

  it('skips records without a schema, unknown kinds of frames and newer major versions', () => {
    expect(read(Buffer.concat(frames)).report).to.include({ records: 0, skipped: 5, damaged: 0 });
    for (const [place, value] of [
      [At.major, 2],
      [At.frameKind, 9],
      [At.recordKind, 9],
    ] as const) {
      const strange = Buffer.from(frames[1] ?? []);
      strange[place] = value;
      sealFrame(strange);
      const { records, report } = read(
        segmentOf(schema, [frames[0] ?? strange, strange, frames[2] ?? strange]),
      );
      expect(idsOf(records)).to.deep.equal(['a0', 'a2']);
      expect(report).to.include({ skipped: 1, damaged: 0 });
    }
  });

  it('reads records of a newer minor version: a longer head, more columns, unknown types and storages', () => {
    const newer = recordSchema(
      'ranking',
      [column('strange', { type: 'tensor' as never }), column('id', { type: 'text' }), column('x')],
      { pipeline: 'search' },
    );
    const [frame = Buffer.alloc(0)] = frames;
    const added = Buffer.alloc(16); // one column of 8 bytes, with a storage that nobody knows
    added.writeUInt32LE(8, 0);
    added[4] = 77;
    const bytes = Buffer.concat([frame.subarray(0, 64), Buffer.alloc(8), added, frame.subarray(64), added]);
    bytes[At.minor] = 9;
    bytes.writeUInt32LE(72, At.head);
    bytes.writeUInt32BE(0, At.schemaId);
    schemaFrame(newer)
      .subarray(At.schemaId, At.schemaId + 8)
      .forEach((byte, i) => (bytes[At.schemaId + i] = byte));
    sealFrame(bytes);
    const { records } = read(segmentOf(newer, [bytes]));
    expect(idsOf(records)).to.deep.equal(['a0']);
    expect(records[0]?.value('strange')).to.equal(undefined);
    expect(records[0]?.value('x')?.at(1)).to.equal(0);
  });

  it('reads a stream in pieces of any size', async () => {
    for (const size of [1, 7, 64, 1000]) {
      const report = readReport();
      const records: DecodedRecord[] = [];
      for await (const record of readRecords(pieces(segment, size), report)) records.push(record);
      expect(idsOf(records)).to.deep.equal(all);
    }
  });
});

async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) {
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
  }
}
