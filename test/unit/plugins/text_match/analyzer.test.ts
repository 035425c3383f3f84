import { expect } from 'chai';
import fc from 'fast-check';
import { Analyzer } from '../../../../plugins/text_match/analyzer.js';

describe('the analyzer of text_match', () => {
  const plural = new Analyzer('plural');
  const none = new Analyzer('none');

  const cases: readonly [string, readonly string[]][] = [
    ['', []],
    ['  -- !! ', []],
    ['Acme TN-2110 Toner, 6.5"', ['acme', 'tn', '2110', 'toner', '6', '5']],
    ['Écran ÉCRAN e\u0301cran ecran', ['ecran', 'ecran', 'ecran', 'ecran']],
    ['Straße STRASSE STRAẞE', ['strasse', 'strasse', 'strasse']],
    ['ΟΔΟΣ οδος', ['οδοσ', 'οδοσ']],
    ['ﬁlter ｗｉｄｅ ②', ['filter', 'wide', '2']],
    ["men's L’Oréal", ['mens', 'loreal']],
    ['Core™2 Intel®Core', ['core', '2', 'intel', 'core']],
    ['Кофе КОФЕ', ['кофе', 'кофе']],
    ['日本 ノート', ['日', '本', 'ノート']],
    ['😀lamp😀red', ['lamp', 'red']],
    ['𝐋amp 𠀋', ['lamp', '𠀋']],
    ['a\ud800b', ['a', 'b']],
    ['हिन्दी', ['हिन्दी']],
    ['__proto__ constructor', ['proto', 'constructor']],
  ];
  for (const [text, tokens] of cases) {
    it(`reads ${JSON.stringify(text)}`, () => {
      expect(none.tokens(text)).to.deep.equal(tokens);
    });
  }

  const pairs = [
    ['lamps', 'lamp'],
    ['batteries', 'battery'],
    ['hoodies', 'hoodie'],
    ['movies', 'movie'],
    ['boxes', 'box'],
    ['watches', 'watch'],
    ['brushes', 'brush'],
    ['dresses', 'dress'],
    ['glasses', 'glass'],
    ['cases', 'case'],
    ['shoes', 'shoe'],
    ['ties', 'tie'],
    ["men's", 'men'],
  ] as const;
  for (const [many, one] of pairs) {
    it(`treats ${many} like ${one}`, () => {
      expect(plural.tokens(many)).to.deep.equal(plural.tokens(one));
    });
  }

  const apart = [
    ['gps', 'gp'],
    ['glass', 'glas'],
    ['bus', 'bu'],
    ['batter', 'battery'],
    ['part', 'party'],
    ['8000s', '8000'],
  ] as const;
  for (const [a, b] of apart) {
    it(`distinguishes ${a} and ${b}`, () => {
      expect(plural.tokens(a)).not.to.deep.equal(plural.tokens(b));
    });
  }

  it('drops the rest of a very long word and continues after it', () => {
    expect(none.tokens(`${'x'.repeat(5000)} lamp`)).to.deep.equal(['x'.repeat(64), 'lamp']);
  });

  it('gives the same tokens for its own tokens', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        const tokens = none.tokens(text);
        expect(none.tokens(tokens.join(' '))).to.deep.equal(tokens);
      }),
    );
  });

  it('treats composed and decomposed letters alike, except kana', () => {
    const texts = fc
      .string({ unit: 'binary', maxLength: 40 })
      .filter((text) => !/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text.normalize('NFKC')));
    fc.assert(
      fc.property(texts, (text) => {
        expect(none.tokens(text.normalize('NFD'))).to.deep.equal(none.tokens(text.normalize('NFC')));
      }),
    );
  });
});
