import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { parquetWriteBuffer, type ColumnSource } from 'hyparquet-writer';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import { UsageError } from '../../../../runtime/project/config/diagnostics/failure.js';
import { openInput } from '../../../../runtime/project/rows/open-input.js';
import { InputError, type BadRow } from '../../../../runtime/project/rows/rows.js';
import { readAll } from '../../../support/chunks.js';

describe('a Parquet file', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-parquet-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  async function write(columnData: ColumnSource[], rowGroupSize?: number): Promise<string> {
    const path = join(folder, `${Math.random().toString(36).slice(2)}.parquet`);
    const options = rowGroupSize === undefined ? {} : { rowGroupSize };
    await writeFile(path, Buffer.from(parquetWriteBuffer({ columnData, ...options })));
    return path;
  }

  async function read(
    path: string,
    types: readonly (readonly [string, ValueType])[] = [],
    after = 0,
  ): Promise<{
    readonly values: readonly unknown[];
    readonly lines: number[];
    readonly bad: readonly BadRow[];
  }> {
    const stdin = Readable.from([]);
    const input = await openInput(path, { stdin, columnTypes: () => Promise.resolve(new Map(types)) });
    const { rows, bad } = await readAll(input.chunks(after));
    if (after === 0) expect(input.bytesRead()).to.equal(input.totalBytes);
    return { values: rows.map(({ value }) => value), lines: rows.map(({ line }) => line), bad };
  }

  it('is rejected if its footer contains different numbers of rows', async () => {
    const path = await write([{ name: 'n', data: Array.from({ length: 12 }, (_, i) => i), type: 'INT32' }]);
    const whole = await readFile(path);
    const footer = whole.length - 8 - whole.readUInt32LE(whole.length - 8);
    // Thrift's compact protocol writes 12 in these places: the rows of the file, of a column and of the row group.
    const places = [...whole.keys()].filter(
      (at) => at >= footer && at < whole.length - 8 && whole[at] === 24,
    );
    const told: string[] = [];
    for (const at of places) {
      const damaged = Buffer.from(whole);
      damaged[at] = 126;
      await writeFile(path, damaged);
      const problem = await read(path).then(
        () => 'expected an error',
        (error: unknown) => (error as Error).message,
      );
      if (/rows/.test(problem)) told.push(problem);
      else expect(problem).to.match(/^not Parquet, or damaged/);
    }
    expect(told).to.have.members([
      'not Parquet, or damaged: its row groups have 12 rows, but its footer says 63',
      'not Parquet, or damaged: a row group with 12 rows has 63 values of n',
      'not Parquet, or damaged: a row group with 63 rows has 12 values of n',
    ]);
  });

  it('returns its cells as JSON: numbers, strings, booleans, times in milliseconds, lists', async () => {
    const time = new Date('2026-01-31T09:30:00.250Z');
    const path = await write([
      { name: 'product_id', data: ['p1', 'p2'], type: 'STRING' },
      { name: 'clicks', data: [12n, 9007199254740991n], type: 'INT64' },
      { name: 'rank', data: [3, -4], type: 'INT32' },
      { name: 'ctr', data: [0.25, -1e-300], type: 'DOUBLE' },
      { name: 'hot', data: [true, false], type: 'BOOLEAN' },
      { name: 'event_time', data: [time, time], type: 'TIMESTAMP' },
      { name: 'tags', data: [['a', 'b'], []], type: 'JSON' },
    ]);
    const [first, second] = (await read(path)).values;
    expect(first).to.deep.equal({
      product_id: 'p1',
      clicks: 12,
      rank: 3,
      ctr: 0.25,
      hot: true,
      event_time: time.getTime(),
      tags: ['a', 'b'],
    });
    expect(second).to.include({ clicks: Number.MAX_SAFE_INTEGER, ctr: -1e-300, hot: false });
  });

  it('reads an empty cell and a NaN as absent', async () => {
    const path = await write([
      { name: 'product_id', data: ['p1', null], type: 'STRING', nullable: true },
      { name: 'ctr', data: [NaN, 0.5], type: 'DOUBLE' },
    ]);
    expect((await read(path)).values).to.deep.equal([{ product_id: 'p1' }, { ctr: 0.5 }]);
  });

  it('converts whole numbers to strings if a string is declared, for example for ids', async () => {
    const path = await write([
      { name: 'product_id', data: [1n, 12345678901234567890n % 2n ** 63n], type: 'INT64' },
      { name: 'brand', data: [7, 8], type: 'DOUBLE' },
    ]);
    const types = [
      ['product_id', { kind: 'string' }],
      ['brand', { kind: 'ref', entity: 'brand' }],
    ] as const;
    expect((await read(path, types)).values).to.deep.equal([
      { product_id: '1', brand: '7' },
      { product_id: String(12345678901234567890n % 2n ** 63n), brand: '8' },
    ]);
  });

  it('rejects values that JSON cannot represent, with the row and the column, and continues', async () => {
    const path = await write([
      { name: 'id', data: ['a', 'b', 'c', 'd'], type: 'STRING' },
      { name: 'n', data: [1n, 2n ** 60n, 3n, 4n], type: 'INT64' },
      { name: 'x', data: [1, 2, Infinity, 4], type: 'DOUBLE' },
    ]);
    const { values, lines, bad } = await read(path);
    expect(values).to.deep.equal([
      { id: 'a', n: 1, x: 1 },
      { id: 'd', n: 4, x: 4 },
    ]);
    expect(lines).to.deep.equal([1, 4]);
    expect(bad).to.deep.equal([
      { line: 2, problem: 'n: 1152921504606846976 is too large for a number to hold exactly' },
      { line: 3, problem: 'x: Infinity is not a finite number' },
    ]);
  });

  it('continues after any row, across row groups', async () => {
    const count = 2_345;
    const ids = Array.from({ length: count }, (_, i) => `p${i}`);
    const path = await write([{ name: 'id', data: ids, type: 'STRING' }], 500);
    for (const after of [0, 1, 499, 500, 501, 2_344, count]) {
      const { values, lines } = await read(path, [], after);
      expect(values).to.deep.equal(ids.slice(after).map((id) => ({ id })));
      expect(lines[0]).to.equal(after === count ? undefined : after + 1);
    }
  });

  it('reports a file that is not Parquet, incomplete or damaged', async () => {
    const good = await write([{ name: 'id', data: ['a', 'b'], type: 'STRING' }]);
    const cut = join(folder, 'cut.parquet');
    await writeFile(cut, await readFile(good));
    await truncate(cut, 60);
    const other = join(folder, 'other.parquet');
    await writeFile(other, 'id\na\n');
    for (const path of [cut, other]) {
      const error: unknown = await read(path).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(InputError);
      expect((error as Error).message).to.include('not Parquet, or damaged');
    }
  });

  it('is neither read from standard input nor decompressed', async () => {
    const options = {
      stdin: Readable.from([]),
      columnTypes: () => Promise.resolve(new Map<string, never>()),
    };
    for (const [path, format] of [
      ['-', 'parquet'],
      ['rows.parquet.gz', undefined],
    ] as const) {
      const error: unknown = await openInput(path, { ...options, format }).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UsageError);
    }
  });
});
