import { expect } from 'chai';
import fc from 'fast-check';
import { decodeSheet } from '../../../../../runtime/ground/core/csv-dialect.js';
import { readSheet } from '../../../../../runtime/project/config/curation/read-sheet.js';
import { SHEET_FORMS, writeSheet } from '../../../../../runtime/project/config/curation/write-sheet.js';
import { Diagnostics } from '../../../../../runtime/project/config/diagnostics/diagnostics.js';
import { SourceFile } from '../../../../../runtime/project/config/yaml/source.js';
import type { JsonObject } from '../../../../../runtime/ground/api/types.js';

const ZONE = 'Europe/Berlin';

function read(bytes: Buffer): { campaigns: Readonly<Record<string, JsonObject>>; errors: string[] } {
  const diagnostics = new Diagnostics();
  const { campaigns, cellAt } = readSheet(new SourceFile('a', decodeSheet(bytes)), ZONE, diagnostics);
  const errors = diagnostics.all.map(({ at, message, help = '' }) => {
    const { line, column = '-', cell = '-' } = cellAt(at);
    return `${line} ${column} ${cell} ${message}; ${help}`;
  });
  return { campaigns, errors };
}

const text = fc
  .array(fc.constantFrom('a', 'ß', '€', '"', ';', ',', '=', '-', '@', "'", '+', ' ', '1', '\t', 'x'), {
    minLength: 1,
    maxLength: 8,
  })
  .map((parts) => parts.join('').trim())
  .filter((one) => one !== '');
const items = fc.uniqueArray(text, { minLength: 1, maxLength: 3 });
const time = fc.constantFrom('2026-11-27', '2026-11-28T19:00Z', '2026-03-29T00:30:15Z');
const factor = fc.constantFrom(1.5, 2, 0.25);
const campaign = fc
  .record(
    {
      from: time,
      until: time,
      on: fc.oneof(
        fc.record({ query: items, match: fc.constantFrom('prefix', 'contains') }),
        fc.record({ category: items }, { requiredKeys: [] }).map((on) => ({ ...on, when: 'user.x > 1' })),
      ),
      hide: items,
      pin: fc.dictionary(fc.constantFrom('1', '2', '7'), text, {
        minKeys: 1,
        maxKeys: 3,
        noNullPrototype: true,
      }),
      boost: fc.oneof(
        fc.record({ where: text, multiply: factor }),
        fc.record({ where: text, add: fc.constantFrom(2, -1.5) }),
      ),
      bury: fc.record({ where: text }),
      sponsor: fc.record({ places: fc.constantFrom([3], [3, 5]), product: text, label: text }),
      banner: fc.record({ place: fc.constant('top'), text, link: text }),
      note: text,
    },
    { requiredKeys: ['hide'] },
  )
  .map((one) => one as unknown as JsonObject);

describe('a sheet of campaigns', () => {
  for (const form of SHEET_FORMS)
    it(`has all that campaigns say, ${form}`, () => {
      fc.assert(
        fc.property(
          fc.dictionary(fc.constantFrom('a', 'b', 'c_2'), campaign, { noNullPrototype: true }),
          (campaigns) => {
            const { campaigns: again, errors } = read(Buffer.from(writeSheet(campaigns, form, ZONE)));
            expect(errors).to.deep.equal([]);
            expect(again).to.deep.equal(campaigns);
          },
        ),
        { numRuns: 300 },
      );
    });

  it('is read as a German spreadsheet writes it', () => {
    const lines = [
      'campaign;from;until;category;action;target;value;text;note',
      'größe_1;;;;;;;;',
      'friday;27.11.2026;30.11.2026;tv, audio;pin;p42;1;;für 5 €',
      'friday;;;;boost;"product.brand == ""Müller""";1,5;;',
      'friday;;;;sponsor;p7;3, 5;Anzeige;',
      ';;28.11.2026 20:00;;hide;p9;;;',
      ';;;;;;;;',
      '',
    ];
    const expected = {
      friday: {
        from: '2026-11-27',
        until: '2026-11-30',
        on: { category: ['tv', 'audio'] },
        pin: { 1: 'p42' },
        boost: { where: 'product.brand == "Müller"', multiply: 1.5 },
        sponsor: { places: [3, 5], product: 'p7', label: 'Anzeige' },
        note: 'für 5 €',
      },
      row_5: { until: '2026-11-28T19:00Z', hide: ['p9'] },
    };
    const good = lines.filter((line) => !line.startsWith('größe')).join('\r\n');
    const german = Buffer.from(good.replaceAll('€', '\u0080'), 'latin1');
    const utf16 = Buffer.from(`\uFEFF${good}`, 'utf16le');
    for (const bytes of [Buffer.from(good), Buffer.from(`\uFEFF${good}`), german, utf16])
      expect(read(bytes)).to.deep.equal({ campaigns: expected, errors: [] });
    expect(read(Buffer.from(`sep=;\r\n${good}`)).campaigns).to.deep.equal({
      friday: expected.friday,
      row_6: expected.row_5,
    });
    expect(read(Buffer.from(lines.join('\r\n'))).errors[0]).to.match(
      /^2 campaign A2 `größe_1` is not the name/,
    );
  });

  it('names each wrong cell by line and column, with the remedy', () => {
    const { errors, campaigns } = read(
      Buffer.from(
        [
          'campaign;from;action;target;value',
          'a;31.02.2026;pin;p1;1',
          'b;;pin;p1;erster',
          'b;;hide;p2;7',
          'c;27.11.2026;hidde;p1;',
          'd;;boost;x > 1;1,5 mal',
          'e;;hide;;',
          'f;;pin;p1;1',
          'f;28.11.2026;pin;p2;1',
          'f;29.11.2026;hide;p3;',
        ].join('\n'),
      ),
    );
    expect(errors).to.deep.equal([
      '2 from B2 `from`: expected a day or a time, found `31.02.2026`; write a day such as 27.11.2026 or 2026-11-27, which is whole in Europe/Berlin, or a time such as 27.11.2026 20:00',
      '3 value E3 `value`: expected a place, found `erster`; write a whole number from 1',
      '4 value E4 `hide` takes no `value`; leave the cell empty',
      '5 action C5 `action`: expected pin, hide, boost, bury, sponsor, banner, found `hidde`; did you mean `hide`?',
      '6 value E6 `value`: expected a factor or a sum, found `1,5 mal`; write 1,5 or *1.5 to multiply the score, +2 or -2 to add to it',
      '7 action C7 `target` is empty: expected the id of a product; write the id',
      '9 value E9 place 1 has a product already in another row of the campaign; write another place',
      '10 from B10 `from` is `29.11.2026`, and `28.11.2026` in another row of the campaign, which begins in line 8; leave it empty, or give the row the name of another campaign',
    ]);
    expect(campaigns).to.deep.equal({});
  });

  it('is refused without a known header', () => {
    expect(read(Buffer.from('campaign;aktion\na;pin\n')).errors).to.deep.equal([
      '1 - - there is no column `aktion`; did you mean `action`?',
    ]);
    expect(read(Buffer.from('')).errors[0]).to.contain('the file has no header');
  });
});
