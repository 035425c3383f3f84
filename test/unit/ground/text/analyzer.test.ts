import { expect } from 'chai';
import fc from 'fast-check';
import {
  Analyzer,
  languageOf,
  type AnalyzerSettings,
  type Language,
} from '../../../../runtime/ground/text/index.js';

describe('the analyzer', () => {
  const plural = new Analyzer({ stemming: 'plural' });
  const none = new Analyzer();

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
    ['I ❤️ red ☎️', ['i', 'red']],
    ['1️⃣ 2️⃣', ['1', '2']],
    ['葛\u{e0100}城', ['葛', '城']],
    ['כֶּלֶב כלב בֵּית־סֵפֶר', ['כלב', 'כלב', 'בית', 'ספר']],
    ['كِتَاب كتاب كتـــاب آلة', ['كتاب', 'كتاب', 'كتاب', 'الة']],
    ['\u200fשלום\u200f 55\u200e cm', ['שלום', '55', 'cm']],
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

  it('finds the same places and first letters if it may skip words', () => {
    const settings = [none, plural, new Analyzer({ accents: 'keep' }), new Analyzer({ language: 'german' })];
    const texts = fc.string({
      unit: fc.oneof(
        fc.constantFrom('a', 'b', 's', ' ', 'É', '字', 'ก', '😀', '𝐀', "'", '\u0301'),
        fc.string(),
      ),
    });
    fc.assert(
      fc.property(fc.constantFrom(...settings), texts, fc.integer(), (analyzer, text, starts) => {
        const tokens = analyzer.tokens(text);
        const isWanted = (token: string): boolean => ((starts >>> (token.charCodeAt(0) & 31)) & 1) === 1;
        analyzer.start(text);
        let at = 0;
        const skip = (): void => {
          for (const end = at + analyzer.skipped; at < end; at++)
            expect(tokens[at]).to.satisfy((token: string) => !isWanted(token));
        };
        while (analyzer.next(starts)) {
          skip();
          const { units, length } = analyzer.token;
          expect(String.fromCharCode(...units.subarray(0, length))).to.equal(tokens[at++]);
        }
        skip();
        expect(at).to.equal(tokens.length);
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

  const ofLanguages: readonly [Partial<AnalyzerSettings>, string, readonly string[]][] = [
    [{ language: 'german', stemming: 'language' }, 'Häuser Hauses HÄUSERN', ['haus', 'haus', 'haus']],
    [{ language: 'german', stemming: 'language', accents: 'keep' }, 'Ärger', ['arg']],
    [
      { language: 'turkish', stemming: 'language' },
      'KADINLAR kadınlar ÇİZGİLER çizgiler',
      ['kadin', 'kadin', 'cizgi', 'cizgi'],
    ],
    [{ language: 'turkish', stemming: 'none', accents: 'keep' }, 'ISI İZ I\u0307Z', ['ısı', 'iz', 'iz']],
    [
      { language: 'english', stemming: 'language' },
      "the runner's running shoes",
      ['the', 'runner', 'run', 'shoe'],
    ],
    [{ language: 'english', stemming: 'language' }, 'joyyder duyydoable', ['joyyd', 'duyydo']],
    [
      { language: 'english', stemming: 'language', stopWords: 'drop' },
      'the shoes of a runner',
      ['shoe', 'runner'],
    ],
    [
      { language: 'french', stemming: 'language', stopWords: 'drop' },
      "L’écran de l'ordinateur e\u0301crans",
      ['ecran', 'ordin', 'ecran'],
    ],
    [{ language: 'french', accents: 'keep' }, 'ÉCRAN', ['écran']],
    [{ language: 'russian', stemming: 'language' }, 'Кофеварки кофеваркой', ['кофеварк', 'кофеварк']],
    [{ language: 'english', stopWords: 'drop', stemming: 'plural' }, 'The lamps', ['lamp']],
    [{ units: true }, 'Cola 1,5 l, 1.5L, 1500 ml', ['cola', '1500ml', '1500ml', '1500ml']],
    [{ units: true }, '10,000 mAh 0,750 L 2x', ['10000mah', '750ml', '2x']],
    [{ units: true }, '５００ｍｌ 1.5㎏ 1,5 kg', ['500ml', '1500000mg', '1500000mg']],
    [{ ngrams: 3 }, 'Lamps tv', ['lam', 'amp', 'mps', 'tv']],
    [{ ngrams: 2, stemming: 'plural' }, 'lamps', ['la', 'am', 'mp']],
  ];
  for (const [settings, text, tokens] of ofLanguages) {
    it(`reads ${JSON.stringify(text)} with ${JSON.stringify(settings)}`, () => {
      const analyzer = new Analyzer(settings);
      expect(analyzer.tokens(text)).to.deep.equal(tokens);
      expect(analyzer.tokens(text), 'again').to.deep.equal(tokens);
    });
  }

  // Boundaries as the dictionaries of ICU in Node 20 and newer find them.
  const unspaced: readonly [Language, string, readonly string[]][] = [
    ['japanese', '東京都の自転車', ['東京', '都', 'の', '自転車']],
    ['japanese', '無線イヤホン', ['無線', 'イヤホン']],
    ['chinese', '无线蓝牙耳机', ['无线', '蓝牙', '耳机']],
    ['chinese', 'USB 耳机', ['usb', '耳机']],
    ['japanese', '赤い靴', ['赤い', '靴']],
    ['thai', 'กินข้าว', ['กิน', 'ข้าว']],
    ['thai', 'รองเท้าวิ่ง', ['รองเท้า', 'วิ่ง']],
    ['korean', '무선 이어폰', ['무선', '이어폰']],
  ];
  for (const [language, text, words] of unspaced) {
    it(`finds the words of ${text}`, () => {
      const analyzer = new Analyzer({ language });
      expect(analyzer.tokens(text)).to.deep.equal(words.map((word) => analyzer.tokens(word).join('')));
      expect(analyzer.tokens(text)).to.have.length(words.length);
    });
  }

  it('remembers more words than its table holds', () => {
    const analyzer = new Analyzer({ language: 'german', stemming: 'language' });
    const words = Array.from({ length: 40_000 }, (_, i) => `wort${i.toString(36)}en`);
    const first = words.map((word) => analyzer.tokens(word).join(' '));
    expect(words.map((word) => analyzer.tokens(word).join(' '))).to.deep.equal(first);
    expect(first.slice(0, 2)).to.deep.equal(['wort0', 'wort1']);
  });

  it('names languages by their tags', () => {
    const named = ['de', 'de-AT', 'DE_ch', 'German', 'nb', 'xx', ''].map(languageOf);
    expect(named).to.deep.equal(['german', 'german', 'german', 'german', 'norwegian', undefined, undefined]);
  });
});
