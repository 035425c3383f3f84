import { expect } from 'chai';
import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import {
  ParquetFile,
  type ParquetColumn,
  type ParquetValues,
} from '../../../../runtime/learn/dataset/parquet.js';

describe('ParquetFile', () => {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-parquet-'));
  const path = join(folder, 'file.parquet');

  after(() => rmSync(folder, { recursive: true }));

  type Group = readonly [values: readonly ParquetValues[], rows: number];

  async function written(
    columns: readonly ParquetColumn[],
    groups: readonly Group[],
  ): Promise<Record<string, unknown>[]> {
    const file = new ParquetFile(path, columns);
    for (const [values, rows] of groups) file.write(values, rows);
    file.close();
    const bytes = readFileSync(path);
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    expect(Number(parquetMetadata(buffer).num_rows)).to.equal(file.rows);
    return parquetReadObjects({ file: buffer, compressors });
  }

  it('writes each type, with nulls, in row groups', async () => {
    const rows = await written(
      [
        { name: 'n', type: 'number', nullable: true },
        { name: 'i', type: 'int', nullable: false },
        { name: 'b', type: 'bool', nullable: true },
        { name: 't', type: 'time', nullable: true },
        { name: 's', type: 'text', nullable: true },
      ],
      [
        [
          [
            Float64Array.of(0.1, NaN, -0, 9),
            Int32Array.of(1, -2, 3, 9),
            Float64Array.of(1, NaN, 0, 9),
            Float64Array.of(0, 1e12, NaN, 9),
            ['', undefined, 'é😀', 'not taken'],
          ],
          3,
        ],
        [
          [Float64Array.of(Infinity), Float64Array.of(2 ** 52), Uint8Array.of(1), Float64Array.of(-1), ['']],
          1,
        ],
        [[], 0],
      ],
    );
    expect(rows).to.deep.equal([
      { n: 0.1, i: 1n, b: true, t: new Date(0), s: '' },
      { n: null, i: -2n, b: null, t: new Date(1e12), s: null },
      { n: -0, i: 3n, b: false, t: null, s: 'é😀' },
      { n: Infinity, i: BigInt(2 ** 52), b: true, t: new Date(-1), s: '' },
    ]);
  });

  it('tells a negative zero from a zero before it', async () => {
    const rows = await written(
      [{ name: 'n', type: 'number', nullable: false }],
      [[[Float64Array.of(0, -0, 0)], 3]],
    );
    expect(rows).to.deep.equal([{ n: 0 }, { n: -0 }, { n: 0 }]);
  });

  it('gives back any numbers and texts, whether they repeat or not', async () => {
    const columns = [
      { name: 'n', type: 'number', nullable: true },
      { name: 's', type: 'text', nullable: true },
    ] as const;
    const cells = fc.array(
      fc.tuple(
        fc.oneof(fc.double({ noNaN: true }), fc.constantFrom(0, 1, 2.5), fc.constant(NaN)),
        fc.option(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('a', 'b')), { nil: undefined }),
      ),
      { minLength: 1, maxLength: 600 },
    );
    const runs = fc.integer({ min: 1, max: 40 });
    await fc.assert(
      fc.asyncProperty(cells, runs, async (some, run) => {
        // Values of a request repeat in its rows.
        const all = some.flatMap((cell) => Array.from({ length: run }, () => cell)).slice(0, 2000);
        const numbers = Float64Array.from(all, ([number]) => number);
        const texts = all.map(([, text]) => text);
        const rows = await written(columns, [[[numbers, texts], all.length]]);
        expect(rows).to.deep.equal(all.map(([n, s]) => ({ n: Number.isNaN(n) ? null : n, s: s ?? null })));
      }),
      { numRuns: 40 },
    );
  });

  it('refuses a null in a column that is not nullable', async () => {
    const column = { name: 'n', type: 'number', nullable: false } as const;
    const error = await written([column], [[[Float64Array.of(1, NaN)], 2]]).catch(
      (caught: unknown) => caught,
    );
    expect(error).to.have.property('message', 'n has a null, and is not nullable');
  });
});
