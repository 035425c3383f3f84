import { expect } from 'chai';
import fc from 'fast-check';
import { readJsonList } from '../../../../runtime/project/rows/json-list.js';
import { InputError, type BadRow, type InputRow } from '../../../../runtime/project/rows/rows.js';
import { inChunks, readAll } from '../../../support/chunks.js';

/** Collects what a reader yields before it stops, and the reason why it stops. */
async function readUntilError(
  text: string | Buffer,
  size?: number,
): Promise<{ rows: InputRow[]; bad: BadRow[]; message: string }> {
  const rows: InputRow[] = [];
  const bad: BadRow[] = [];
  try {
    for await (const chunk of readJsonList(inChunks(text, size))) {
      rows.push(...chunk.rows);
      bad.push(...chunk.bad);
    }
  } catch (error) {
    expect(error).to.be.instanceOf(InputError);
    return { rows, bad, message: (error as Error).message };
  }
  throw new Error('expected the reader to stop before the end');
}

describe('a JSON list', () => {
  it('is returned unchanged, with any chunks and any white space', async () => {
    const records = fc.array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), {
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(
        records,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(undefined, 2, '\t'),
        fc.constantFrom('', '\uFEFF', ' \n'),
        async (values, size, indent, before) => {
          const text = `${before}${JSON.stringify(values, null, indent)}\r\n`;
          const { rows, bad } = await readAll(readJsonList(inChunks(text, size)));
          expect(bad).to.deep.equal([]);
          expect(rows.map((row) => JSON.stringify(row.value))).to.deep.equal(
            values.map((value) => JSON.stringify(JSON.parse(JSON.stringify(value)))),
          );
          expect(rows.map((row) => row.line)).to.deep.equal(values.map((_, at) => at + 1));
        },
      ),
      { numRuns: 100 },
    );
  });

  it('may be empty', async () => {
    for (const text of ['[]', ' [ \n ] \n'])
      expect(await readAll(readJsonList(inChunks(text, 1)))).to.deep.equal({ rows: [], bad: [] });
  });

  it('reports items that are not objects by their number, and continues', async () => {
    const { rows, bad } = await readAll(readJsonList(inChunks('[{"a":1},null,[{}],"x,]",7,{"a":2}]', 3)));
    expect(rows.map((row) => row.line)).to.deep.equal([1, 6]);
    expect(bad.map((row) => [row.line, row.problem])).to.deep.equal([
      [2, 'expected a JSON object, found null'],
      [3, 'expected a JSON object, found a list'],
      [4, 'expected a JSON object, found a string'],
      [5, 'expected a JSON object, found a number'],
    ]);
  });

  it('reports an item that is too large for an upload, and continues', async () => {
    const text = `[{"a":1},{"a":"${'x'.repeat(5 * 1024 * 1024)}"},{"a":2}]`;
    const { rows, bad } = await readAll(readJsonList(inChunks(text, 64 * 1024)));
    expect(rows.map((row) => row.line)).to.deep.equal([1, 3]);
    expect(bad).to.deep.equal([{ line: 2, problem: 'longer than 4 MB' }]);
  });

  it('is read up to the first syntax error', async () => {
    for (const [text, count, message] of [
      ['[{"a":1},{"a":}]', 1, 'item 2: not JSON'],
      ['[{"a":1},]', 1, 'item 2: not JSON'],
      ['[,{"a":1}]', 0, 'item 1: not JSON'],
      ['[{"a":1} {"a":2}]', 0, 'item 1: not JSON'],
      ['[{"a":1]]', 0, 'item 1: not JSON'],
      ['[{"a":1},{"a":2}', 1, 'incomplete: the file ends after 1 whole item'],
      ['[{"a":1}', 0, 'the list is incomplete'],
      ['[', 0, 'the list is incomplete'],
      ['[{"a":1}]x', 1, 'more content after the end'],
      ['[{"a":1}][{"a":2}]', 1, 'more content after the end'],
      ['', 0, '.jsonl'],
      ['{"a":1}', 0, '.jsonl'],
      ['{"a":1}\n{"a":2}', 0, '.jsonl'],
    ] as const)
      for (const size of [1, 4, Infinity]) {
        const found = await readUntilError(text, size);
        expect(found.message, text).to.contain(message);
        expect(found.rows.length, text).to.equal(count);
      }
  });

  it('does not quote the content of an item that is not JSON, and rejects an item that is not UTF-8', async () => {
    const { message } = await readUntilError('[{"card": 4111222233334444, secret}]');
    expect(message).not.to.match(/4111|card|secret/);
    const bytes = Buffer.concat([Buffer.from('[{"a":"'), Buffer.from([0xff]), Buffer.from('"}]')]);
    expect((await readUntilError(bytes)).message).to.contain('not encoded in UTF-8');
  });
});
