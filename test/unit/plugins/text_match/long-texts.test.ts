import { expect } from 'chai';
import fc from 'fast-check';
import { Analyzer } from 'millrace/api';
import { QueryTerms } from '../../../../plugins/text_match/query-terms.js';
import { Synonyms } from '../../../../runtime/ground/sdk/synonyms.js';
import { TextScan } from '../../../../plugins/text_match/text-scan.js';

const WORDS = [
  'red',
  'head',
  'set',
  'headset',
  'shoes',
  'Kopfhörer',
  '500 ml',
  '美しい靴',
  'trainers',
  'x-ray',
  '1,5 l',
];
const TEXT = fc
  .array(fc.tuple(fc.constantFrom(...WORDS), fc.constantFrom(' ', ', ', '. ', '\n', '。')), {
    minLength: 150,
    maxLength: 600,
  })
  .map((parts) => parts.flat().join(''));
const QUERY = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 })
  .map((words) => words.join(' '));

const ANALYZERS = [
  new Analyzer({ stemming: 'plural' }),
  new Analyzer({ language: 'german', stemming: 'language' }),
  new Analyzer({ language: 'japanese', units: true }),
  new Analyzer({ ngrams: 3 }),
];

describe('the scan of a long text', () => {
  it('finds portion by portion what it finds at once', () => {
    fc.assert(
      fc.property(fc.constantFrom(...ANALYZERS), QUERY, TEXT, TEXT, (analyzer, words, earlier, text) => {
        const synonyms = new Synonyms([{ from: ['shoes'], to: ['red trainers', 'sneakers'] }], analyzer);
        const query = new QueryTerms(words, analyzer, synonyms);
        fc.pre(query.length > 0);
        const [whole, divided] = [new TextScan(), new TextScan()];
        for (const scan of [whole, divided]) {
          scan.reset(2, query.terms.length);
          scan.scan(1, earlier, query, analyzer);
        }
        whole.scan(1, text, query, analyzer);
        let pauses = 0;
        for (
          const pieces = divided.scanInPieces(1, text, query, analyzer, -Infinity);
          pieces.next().done !== true;
        ) {
          pauses++;
          analyzer.start('red headset'); // another request
          analyzer.next();
        }
        expect(pauses).to.be.greaterThan(text.length > 2048 ? 1 : 0);
        for (const column of ['counts', 'lengths', 'phrases', 'matched', 'first', 'proximity'] as const)
          expect([...divided[column]], column).to.deep.equal([...whole[column]]);
      }),
      { numRuns: 150 },
    );
  });

  it('ends with the words of a query that is longer than any that people type', () => {
    const query = new QueryTerms(`red shoes ${'- '.repeat(500_000)}lamp`, new Analyzer());
    expect(query.terms).to.deep.equal(['red', 'shoes']);
  });
});
