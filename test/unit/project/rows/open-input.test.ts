import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { UsageError } from '../../../../runtime/project/config/diagnostics/failure.js';
import { openInput, type InputFormat } from '../../../../runtime/project/rows/open-input.js';
import { InputError } from '../../../../runtime/project/rows/rows.js';
import { readAll } from '../../../support/chunks.js';

describe('opening an input', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-input-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  async function read(
    name: string,
    content: string | Buffer | undefined,
    more: { readonly format?: InputFormat; readonly stdin?: string } = {},
  ): Promise<readonly unknown[]> {
    const path = name === '-' ? name : join(folder, name);
    if (content !== undefined) await writeFile(path, content);
    const input = await openInput(path, {
      stdin: Readable.from([Buffer.from(more.stdin ?? '')]),
      format: more.format,
      formatFlag: '--format',
      columnTypes: () => Promise.resolve(new Map([['n', { kind: 'int' }]] as const)),
    });
    const { rows } = await readAll(input.chunks());
    return rows.map((row) => row.value);
  }

  async function problem(reading: Promise<unknown>): Promise<Error> {
    try {
      await reading;
    } catch (error) {
      return error as Error;
    }
    throw new Error('expected an error');
  }

  it("reports columns with names similar to the project's attributes", async () => {
    const types = new Map([['title', { kind: 'string' }] as const, ['price', { kind: 'float' }] as const]);
    const misspelt = async (header: string): Promise<unknown> => {
      const path = join(folder, 'columns.csv');
      await writeFile(path, `${header}\na,b\n`);
      const input = await openInput(path, {
        stdin: Readable.from([]),
        columnTypes: () => Promise.resolve(types),
      });
      await readAll(input.chunks());
      return input.misspelt();
    };
    expect(await misspelt('titel,price')).to.deep.equal([{ name: 'titel', near: 'title' }]);
    expect(await misspelt('colour,price')).to.deep.equal([]);
    // The exact column exists too, so a similar column is not reported.
    expect(await misspelt('titles,title')).to.deep.equal([]);
  });

  it('recognizes the format by the name: JSON lines, JSON list, CSV, and each with .gz', async () => {
    expect(await read('a.jsonl', '{"n":1}\n{"n":2}')).to.deep.equal([{ n: 1 }, { n: 2 }]);
    expect(await read('a.ndjson', '{"n":1}')).to.deep.equal([{ n: 1 }]);
    expect(await read('a.json', '[{"n":1}]')).to.deep.equal([{ n: 1 }]);
    expect(await read('a.csv', 'n\n1\n')).to.deep.equal([{ n: 1 }]);
    expect(await read('a.CSV.gz', gzipSync('n\n1\n'))).to.deep.equal([{ n: 1 }]);
    expect(
      await read('a.jsonl.gz', Buffer.concat([gzipSync('{"n":1}\n'), gzipSync('{"n":2}\n')])),
    ).to.deep.equal([{ n: 1 }, { n: 2 }]);
  });

  it('reads JSON lines, or the format of --format, from standard input', async () => {
    expect(await read('-', undefined, { stdin: '{"n":1}' })).to.deep.equal([{ n: 1 }]);
    expect(await read('-', undefined, { stdin: 'n\n1', format: 'csv' })).to.deep.equal([{ n: 1 }]);
  });

  it('reads an empty file as no rows', async () => {
    expect(await read('empty.jsonl', '')).to.deep.equal([]);
    expect(await read('empty.csv', '')).to.deep.equal([]);
  });

  it('reports that a file does not exist, or is a folder', async () => {
    const missing = await problem(read('none.jsonl', undefined));
    expect(missing).to.be.instanceOf(InputError);
    expect(missing.message).to.contain('none.jsonl').and.to.contain('the file does not exist');
    const here = await problem(
      openInput(folder, {
        stdin: process.stdin,
        format: 'jsonl',
        columnTypes: () => Promise.resolve(new Map()),
      }),
    );
    expect(here.message).to.contain('it is a folder');
  });

  it('asks for the format if the name does not show it', async () => {
    const error = await problem(read('a.txt', 'x'));
    expect(error).to.be.instanceOf(UsageError);
    expect(error.message).to.contain('--format');
  });

  it('reports that a file is not gzip, or is incomplete', async () => {
    expect((await problem(read('b.jsonl.gz', 'plain'))).message).to.contain('not gzip');
    const whole = gzipSync('{"n":1}\n'.repeat(1000));
    expect((await problem(read('c.jsonl.gz', whole.subarray(0, 20)))).message).to.contain(
      'the file is not gzip, or it is incomplete',
    );
  });

  it('reports JSON that is not a list', async () => {
    expect((await problem(read('d.json', '{"n":1}'))).message).to.contain('.jsonl');
    expect((await problem(read('e.json', '{"n":1}\n{"n":2}'))).message).to.contain('.jsonl');
  });

  it('returns the items of a list as their source text, so that no digit is lost', async () => {
    const item = '{"n":{"m":[1e400]},"big":12345678901234567890}';
    await writeFile(join(folder, 'f.json'), `[ ${item} ,{"n":1}]`);
    const input = await openInput(join(folder, 'f.json'), {
      stdin: process.stdin,
      columnTypes: () => Promise.resolve(new Map()),
    });
    expect(input.unit).to.equal('item');
    const { rows } = await readAll(input.chunks());
    expect(rows.map(({ line, json }) => [line, json])).to.deep.equal([
      [1, item],
      [2, '{"n":1}'],
    ]);
  });
});
