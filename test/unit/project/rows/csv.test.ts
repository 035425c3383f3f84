import { expect } from 'chai';
import type { ValueType } from '../../../../runtime/ground/api/types.js';
import { readCsv } from '../../../../runtime/project/rows/csv.js';
import { InputError } from '../../../../runtime/project/rows/rows.js';
import { inChunks, readAll } from '../../../support/chunks.js';

const TYPES = new Map<string, ValueType>([
  ['price', { kind: 'float' }],
  ['stock', { kind: 'int' }],
  ['new', { kind: 'bool' }],
  ['since', { kind: 'timestamp' }],
  ['tags', { kind: 'list', of: { kind: 'string' } }],
  ['vec', { kind: 'vector', size: 2 }],
  ['maker', { kind: 'record', fields: new Map<string, ValueType>([['name', { kind: 'string' }]]) }],
]);

async function* bytesOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Promise.resolve(bytes.subarray(at, at + size));
}

async function values(text: string): Promise<readonly unknown[]> {
  const { rows, bad } = await readAll(readCsv(inChunks(text, 7), TYPES));
  expect(bad).to.deep.equal([]);
  return rows.map((row) => row.value);
}

describe('CSV', () => {
  it('reads cells by the declared types, and all other cells as text', async () => {
    const text =
      'id,price,stock,new,since,tags,vec,maker\n007,1.50,3,True,2024-05-01,a|b,0.5|1e-3,"{""name"":""X""}"\n';
    expect(await values(text)).to.deep.equal([
      {
        id: '007',
        price: 1.5,
        stock: 3,
        new: true,
        since: '2024-05-01',
        tags: ['a', 'b'],
        vec: [0.5, 0.001],
        maker: { name: 'X' },
      },
    ]);
  });

  it('reads a list as JSON if an element contains the separator', async () => {
    expect(await values('tags\n"[""a|b"",""c""]"\n')).to.deep.equal([{ tags: ['a|b', 'c'] }]);
  });

  it('omits empty cells', async () => {
    expect(await values('id,price,new\n1,,\n2,"",0\n')).to.deep.equal([{ id: '1' }, { id: '2', new: false }]);
  });

  it('keeps a cell that does not fit its type as text, so that the upload rejects it', async () => {
    expect(await values('price,new,vec\nten,maybe,x|1\n')).to.deep.equal([
      { price: 'ten', new: 'maybe', vec: ['x', 1] },
    ]);
    expect(await values('price\n1e999\n')).to.deep.equal([{ price: '1e999' }]);
    expect(await values('price\n0x10\n')).to.deep.equal([{ price: '0x10' }]);
  });

  it('reads quotes, Windows line ends, and a byte order mark', async () => {
    expect(await values('\uFEFFid,name\r\n1,"a ""b"", c\nd"\r\n')).to.deep.equal([
      { id: '1', name: 'a "b", c\nd' },
    ]);
  });

  it('reads a column called __proto__ safely', async () => {
    const [row] = await values('__proto__,constructor\nx,y\n');
    expect(Object.getPrototypeOf(row)).to.equal(Object.prototype);
    expect(Object.keys(row as object)).to.deep.equal(['__proto__', 'constructor']);
  });

  it('reports a row with too many or too few cells, and continues', async () => {
    const { rows, bad } = await readAll(readCsv(inChunks('a,b\n1,2\n3\n4,5,6\n7,8\n'), TYPES));
    expect(rows.map((row) => row.line)).to.deep.equal([2, 5]);
    expect(bad.map((row) => row.line)).to.deep.equal([3, 4]);
    expect(bad[0]?.problem).to.contain('expected 2 cells').and.to.contain('found 1');
  });

  it('rejects rows that are not UTF-8, but accepts a U+FFFD that the file contains', async () => {
    const latin = Buffer.from('id,name\n1,caf\xe9\n2,tea\n3,na\xefve\n', 'latin1');
    for (const size of [1, 5, 1000]) {
      const { rows, bad } = await readAll(readCsv(bytesOf(latin, size), TYPES));
      expect(rows.map(({ value }) => value)).to.deep.equal([{ id: '2', name: 'tea' }]);
      expect(bad).to.deep.equal([2, 4].map((line) => ({ line, problem: 'not encoded in UTF-8' })));
    }
    expect(await values('id,name\n1,caf\ufffd\n')).to.deep.equal([{ id: '1', name: 'caf\ufffd' }]);
    const header = readAll(readCsv(bytesOf(Buffer.from('id,na\xefve\n1,x\n', 'latin1'), 9), TYPES));
    expect(await header.catch(String)).to.contain('line 1: not encoded in UTF-8');
  });

  for (const [what, text, message] of [
    ['a column without a name', 'a,,b\n1,2,3\n', 'column 2 of the header has no name'],
    ['two columns with the same name', 'a,b,a\n1,2,3\n', '"a" twice'],
    ['columns separated by semicolons', 'id;price\na;1\n', 'separated by commas'],
    ['columns separated by tabs', 'id\tprice\na\t1\n', 'separated by commas'],
    ['a quote that is never closed', 'a\n1\n"2\n3\n', 'line 3: a quote in this row is never closed'],
    [
      'a quote inside a cell',
      'a,b\n1,2\n3,4 "x" y\n5,6\n',
      'line 3: a cell contains a quote but is not quoted',
    ],
    ['letters after a quote', 'a,b\n1,"2" x\n', 'line 2: a cell contains a quote but is not quoted'],
  ] as const)
    it(`stops at ${what}`, async () => {
      let error: unknown;
      try {
        await readAll(readCsv(inChunks(text), TYPES));
      } catch (caught) {
        error = caught;
      }
      expect(error).to.be.instanceOf(InputError);
      expect((error as Error).message).to.contain(message);
    });
});
