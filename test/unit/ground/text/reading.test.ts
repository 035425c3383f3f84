import { expect } from 'chai';
import fc from 'fast-check';
import { Analyzer, distinctTokens, wordCount, wordsOf } from '../../../../runtime/ground/text/index.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { PORTION, portions } from '../../../../runtime/ground/text/reading.js';
import { draws } from '../../../support/draws.js';

const WORDS = [
  ...['1,5 l', '500 ml', '２ kg', '5 ㎏', '10', '1.000,5'],
  ...['red', 'shoes', "l'homme", 'qu’il', "d'été", 'Straße', 'ISPARTA', 'İzmir', 'naïve', 'e\u0301te\u0301'],
  ...[
    '3.5',
    '1,000',
    '500ml',
    '😀',
    '👩‍👩‍👧',
    'kabelloses',
    'Kopfhörer',
    'running',
    'R&D',
    'rock-n-roll',
    '__x__',
  ],
  ...[
    '日本語の',
    '美しい靴',
    'スニーカー',
    'ラーメン',
    '서울',
    'ภาษาไทย',
    'שָׁלוֹם',
    '５００ｍｌ',
    '㎏',
    '\u0301',
    '\ud83d',
  ],
];
const MARKS = [' ', '  ', '\n', ', ', '. ', '。', '、', ' - ', '!', '? ', '・ ', '/ '];
const TEXT = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(...MARKS)), { maxLength: 60 })
  .map((parts) => parts.flat().join(''));

const ANALYZERS: Readonly<Record<string, Analyzer>> = {
  plain: new Analyzer(),
  'with n-grams': new Analyzer({ ngrams: 3 }),
  'with amounts': new Analyzer({ units: true }),
  'with amounts, Japanese': new Analyzer({ language: 'japanese', units: true }),
  ...Object.fromEntries(
    (['english', 'german', 'french', 'italian', 'turkish', 'japanese', 'thai'] as const).map((language) => [
      language,
      new Analyzer({ language, stemming: 'language' }),
    ]),
  ),
};

describe('the portions of a long text', () => {
  for (const [name, analyzer] of Object.entries(ANALYZERS))
    it(`have the words of the text: ${name}`, () => {
      fc.assert(
        fc.property(TEXT, fc.integer({ min: 30, max: 90 }), (text, size) => {
          const parts = [...portions(text, size)];
          expect(parts.join('')).to.equal(text);
          for (const part of parts.slice(0, -1)) expect(part.length).to.be.within(size, 2 * size);
          expect(parts.flatMap((part) => analyzer.tokens(part))).to.deep.equal(analyzer.tokens(text));
        }),
        { numRuns: draws(75) },
      );
    });

  it('are cut between characters where no word ends', () => {
    const text = '👍'.repeat(1000);
    const parts = [...portions(text, 101)];
    expect(parts.join('')).to.equal(text);
    expect(parts.length).to.be.greaterThan(5);
    for (const part of parts) expect(part).to.match(/^(👍)+$/u);
    expect([...portions('')]).to.deep.equal(['']);
  });

  it('give what the whole text gives', () => {
    const text = Array.from({ length: 20_000 }, (_, i) => `${WORDS[i % 11] ?? ''}${i % 500}`).join(' ');
    expect(text.length).to.be.greaterThan(4 * PORTION);
    for (const analyzer of Object.values(ANALYZERS))
      for (const reading of [wordsOf(analyzer), wordCount(analyzer), distinctTokens(analyzer)]) {
        const pieces = reading.inPieces?.(text);
        if (pieces === undefined) throw new Error('expected pieces');
        expect(atOnce<unknown>(pieces)).to.deep.equal(reading.of(text));
      }
  });
});
