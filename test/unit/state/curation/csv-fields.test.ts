import { expect } from 'chai';
import fc from 'fast-check';
import { readCsvFields } from '../../../../runtime/project/config/curation/csv-fields.js';
import { SourceFile } from '../../../../runtime/project/config/yaml/source.js';

const field = fc.constantFrom('p1', 'größe', 'a b', '"x, y"', '""', '"two\nlines"', '', ' 東 ');
const line = fc.array(field, { minLength: 2, maxLength: 5 }).map((fields) => fields.join(','));

describe('the fields of a CSV file', () => {
  it('have the places where they are written', () => {
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 8 }),
        fc.constantFrom('\n', '\r\n', '\n\n'),
        fc.boolean(),
        (lines, end, hasMark) => {
          const file = new SourceFile('curation/a.csv', (hasMark ? '\uFEFF' : '') + lines.join(end) + end);
          const records = readCsvFields(file);
          if ('reason' in records) throw new Error(records.reason);
          for (const { fields } of records)
            for (const { value, at } of fields) expect(file.text.slice(at.start, at.end)).to.equal(value);
        },
      ),
    );
  });

  it('are not read from a file with an open quote', () => {
    const found = readCsvFields(new SourceFile('curation/a.csv', 'a,b\n1,"2\n3,4\n'));
    expect(found).to.include({ reason: 'a quote is not closed' });
  });
});
