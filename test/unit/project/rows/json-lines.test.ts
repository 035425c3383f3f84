import { expect } from 'chai';
import fc from 'fast-check';
import { readJsonLines } from '../../../../runtime/project/rows/json-lines.js';
import { inChunks, readAll } from '../../../support/chunks.js';

describe('JSON lines', () => {
  it('are returned unchanged, wherever the file is split into chunks', async () => {
    const records = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(records, fc.integer({ min: 1, max: 40 }), fc.boolean(), async (values, size, crlf) => {
        const lines = values.map((value) => JSON.stringify(value));
        const text = lines.join(crlf ? '\r\n' : '\n');
        const { rows, bad } = await readAll(readJsonLines(inChunks(text, size)));
        expect(bad).to.deep.equal([]);
        expect(rows.map((row) => row.json)).to.deep.equal(lines);
        expect(rows.map((row) => row.value)).to.deep.equal(lines.map((line) => JSON.parse(line) as unknown));
        expect(rows.map((row) => row.line)).to.deep.equal(lines.map((_, at) => at + 1));
      }),
      { numRuns: 60 },
    );
  });

  it('skip blank lines and a byte order mark, and still count lines', async () => {
    const { rows, bad } = await readAll(readJsonLines(inChunks('\uFEFF{"a":1}\n\n  \n{"a":2}\n')));
    expect(bad).to.deep.equal([]);
    expect(rows.map(({ line, value }) => [line, value.a])).to.deep.equal([
      [1, 1],
      [4, 2],
    ]);
  });

  it('report an invalid line by its number, and continue', async () => {
    const text = '{"a":1}\n{"a":}\n[1]\nnull\n"x"\n{"a":2}';
    const { rows, bad } = await readAll(readJsonLines(inChunks(text, 5)));
    expect(rows.map((row) => row.line)).to.deep.equal([1, 6]);
    expect(bad.map((row) => row.line)).to.deep.equal([2, 3, 4, 5]);
    expect(bad[0]?.problem).to.match(/^not JSON/);
    expect(bad[1]?.problem).to.contain('found a list');
    expect(bad[2]?.problem).to.contain('found null');
    expect(bad[3]?.problem).to.contain('found a string');
  });

  it('do not quote the content of a line that is not JSON', async () => {
    const { bad } = await readAll(readJsonLines(inChunks('{"card": 4111222233334444, secret}\n')));
    expect(bad).to.have.length(1);
    expect(bad[0]?.problem).not.to.match(/4111|card|secret/);
  });

  it('reject a line that is not UTF-8', async () => {
    const text = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}\n{"a":1}'),
    ]);
    const { rows, bad } = await readAll(readJsonLines(inChunks(text)));
    expect(bad).to.deep.equal([{ line: 1, problem: 'not encoded in UTF-8' }]);
    expect(rows).to.have.length(1);
  });

  it('reject only the lines that are not UTF-8, wherever the file is split into chunks', async () => {
    const line = fc.oneof(
      fc
        .string({ unit: 'grapheme' })
        .map((a) => ({ bytes: Buffer.from(JSON.stringify({ a })), good: { a } })),
      fc.constant({ bytes: Buffer.from([0x7b, 0xc3, 0x7d]), good: undefined }),
      fc.constant({ bytes: Buffer.from(' \r'), good: null }),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 9 }),
        fc.integer({ min: 1, max: 60 }),
        async (all, size) => {
          const file = Buffer.concat(all.flatMap(({ bytes }) => [bytes, Buffer.from('\n')]));
          const { rows, bad } = await readAll(readJsonLines(inChunks(file, size)));
          const numbered = all.map(({ bytes, good }, at) => ({ line: at + 1, good, bytes: bytes.length }));
          expect(rows.map(({ line: at, value, bytes }) => ({ line: at, good: value, bytes }))).to.deep.equal(
            numbered.filter(({ good }) => good !== undefined && good !== null),
          );
          expect(bad.map(({ line: at }) => at)).to.deep.equal(
            numbered.filter(({ good }) => good === undefined).map(({ line: at }) => at),
          );
        },
      ),
      { numRuns: 100 },
    );
  });

  it('reject a line that is too long for an upload, and still count lines', async () => {
    const text = `{"a":1}\n${'x'.repeat(5 * 1024 * 1024)}\n{"a":2}`;
    const { rows, bad } = await readAll(readJsonLines(inChunks(text, 64 * 1024)));
    expect(rows.map((row) => row.line)).to.deep.equal([1, 3]);
    expect(bad).to.deep.equal([{ line: 2, problem: 'longer than 4 MB' }]);
    const whole = await readAll(readJsonLines(inChunks(text, text.length)));
    expect(whole).to.deep.equal({ rows, bad });
    const longest = `${JSON.stringify({ a: 'x'.repeat(4 * 1024 * 1024 - 8) })}\n`;
    for (const size of [64 * 1024, 1e6, Infinity])
      expect((await readAll(readJsonLines(inChunks(longest, size)))).bad).to.deep.equal([]);
  });
});
