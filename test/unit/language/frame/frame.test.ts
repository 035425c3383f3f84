import { expect } from 'chai';
import fc from 'fast-check';
import { Status } from '../../../../runtime/ground/api/status.js';
import type { JsonValue } from '../../../../runtime/ground/api/types.js';
import { copyCell, writeJson, writeMissing } from '../../../../runtime/language/frame/cells.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { FrameLayout, type ColumnShape } from '../../../../runtime/language/frame/frame-layout.js';
import { readCell } from '../../../../runtime/request/pipeline/components/step-view.js';

const SHAPES: readonly ColumnShape[] = [
  { kind: 'number', scope: 'candidate' },
  { kind: 'text', scope: 'candidate' },
  { kind: 'texts', scope: 'candidate' },
  { kind: 'numbers', scope: 'candidate' },
  { kind: 'vector', scope: 'candidate', size: 3 },
];

/** One value per shape. Null means marked null; undefined means not written. */
const row = fc.tuple(
  fc.option(fc.oneof(fc.integer(), fc.constantFrom(0, -0.5)), { nil: null }),
  fc.option(fc.string(), { nil: null }),
  fc.option(fc.array(fc.string(), { maxLength: 4 }), { nil: null }),
  fc.option(fc.array(fc.integer(), { maxLength: 4 }), { nil: null }),
  fc.option(
    fc.array(fc.oneof(fc.integer({ min: -99, max: 99 }), fc.constantFrom(0.1, 58849121863)), {
      minLength: 3,
      maxLength: 3,
    }),
    { nil: null },
  ),
);
const request = fc.array(fc.option(row, { nil: undefined, freq: 4 }), { maxLength: 70 });

function layoutOf(): FrameLayout {
  const layout = new FrameLayout();
  for (const shape of SHAPES) layout.add(shape);
  return layout;
}

function read(frame: Frame, at: number): unknown[] {
  return SHAPES.map((_, slot) => readCell(frame, slot, at)).map(({ value, status }) => value ?? status);
}

describe('Frame', () => {
  it('holds one request after another, of any size, exactly like a new frame (property)', () => {
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 5 }), (requests) => {
        const frame = new Frame(layoutOf());
        for (const rows of requests) {
          frame.reset(rows.length, 0);
          rows.forEach((values, at) => {
            // A list column needs every row in order. A row that is first unknown and then sent is written twice.
            for (const column of frame.columns) writeMissing(column, at, Status.absent);
            values?.forEach((value: JsonValue, slot) => {
              const column = frame.columns[slot];
              if (column !== undefined) writeJson(column, at, value);
            });
          });
          rows.forEach((values, at) => {
            const expected = values?.map((value) => value ?? 'null') ?? SHAPES.map(() => 'absent');
            expect(read(frame, at)).to.deep.equal(expected);
          });
          expect([
            ...frame.scores.subarray(0, frame.count),
            ...frame.tiers.subarray(0, frame.count),
          ]).to.deep.equal(new Array(2 * rows.length).fill(0));
          frame.scores.fill(9);
          frame.tiers.fill(9);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('copies cells within a column, including lists and vectors, each with its status (property)', () => {
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        (rows, copies) => {
          const frame = new Frame(layoutOf());
          frame.reset(rows.length + copies.length, 0);
          rows.forEach((values, at) => {
            values.forEach((value: JsonValue, slot) => {
              const column = frame.columns[slot];
              if (column !== undefined) writeJson(column, at, value);
            });
          });
          copies.forEach((from, i) => {
            for (const column of frame.columns) copyCell(column, from % rows.length, column, rows.length + i);
          });
          copies.forEach((from, i) => {
            expect(read(frame, rows.length + i)).to.deep.equal(read(frame, from % rows.length));
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps a literal for its lifetime, and shares one column for equal literals', () => {
    const layout = new FrameLayout();
    const slot = layout.constant({ kind: 'texts', value: ['a', 'b'] });
    expect(layout.constant({ kind: 'texts', value: ['a', 'b'] })).to.equal(slot);
    expect(layout.constant({ kind: 'number', value: 0 })).not.to.equal(
      layout.constant({ kind: 'number', value: -0 }),
    );
    const frame = new Frame(layout);
    for (const count of [3, 100, 0]) {
      frame.reset(count, 0);
      expect(readCell(frame, slot, count).value).to.deep.equal(['a', 'b']);
    }
  });
});
