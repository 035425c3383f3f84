import { expect } from 'chai';
import fc from 'fast-check';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { Analyzer } from '../../../../runtime/ground/text/index.js';
import { Compounds } from '../../../../plugins/words/compounds.js';
import { search } from '../../../../plugins/words/search.js';
import { Ordered } from '../../../../plugins/words/vocabulary.js';
import { WordIndex } from '../../../../plugins/words/word-index.js';
import { queryWords } from '../../../../plugins/words/word-query.js';
import { NaiveSearch } from './naive-search.js';

const WEIGHTS = [3, 1];
const PARTS = ['jack', 'regen', 'schuh', 'lauf', 'hut', 'rot', 'ab', 'rad'];

/** Words, and compounds of them. */
const word = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 2 })
  .map((parts) => parts.join(''));
const text = fc.array(word, { maxLength: 5 }).map((words) => words.join(' '));
const change = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constant('put'), fc.nat(11), text, fc.option(text, { nil: undefined })),
  },
  { weight: 2, arbitrary: fc.tuple(fc.constant('remove'), fc.nat(11)) },
);
const query = fc
  .tuple(text, fc.constantFrom('', ' re', ' schu', ' ja'))
  .map(([words, start]) => (words + start).trim());

describe('the index of words', () => {
  it('looks for compounds in pieces, however many a short word of the query is a part of', () => {
    const analyzer = new Analyzer();
    const index = new WordIndex(analyzer, 1, true);
    for (let i = 0; i < 1000; i++) atOnce(index.put(`p${i}`, [`kopf${i}hut hut${i}kopf`]));
    atOnce(index.put('hat', ['kopf hut']));
    const compounds = new Compounds(index, analyzer);
    const words = queryWords('hut', { index, analyzer, bare: analyzer, synonyms: undefined, compounds });
    let pieces = 0;
    let step = words.next();
    for (; step.done !== true; step = words.next()) pieces++;
    expect(pieces).to.be.at.least(2000);
    expect(step.value[0]?.length).to.equal(1);
  });

  it('compares a new word with few others, however many there are', () => {
    const words: string[] = [];
    let compared = 0;
    const order = new Ordered(words, (a, b) => {
      compared++;
      return a < b ? -1 : a > b ? 1 : 0;
    });
    let most = 0;
    for (let number = 0; number < 20_000; number++) {
      words.push(String((number * 7919) % 20_000).padStart(5, '0'));
      compared = 0;
      order.add(number, words[number] ?? '');
      most = Math.max(most, compared);
    }
    expect(most).to.be.at.most(2 * Math.log2(20_000));
    expect([...order.from('', () => true)].map((number) => words[number])).to.deep.equal([...words].sort());
  });

  it('reads a long entity in pieces, and finds the old texts until the end', () => {
    const index = new WordIndex(new Analyzer(), 2, true);
    const idsOf = (word: string): string[] =>
      atOnce(search(index, [[{ words: [word], weight: 1 }]], { k1: 1.2, b: 0.75, weights: WEIGHTS }, 5)).map(
        ({ id }) => id,
      );
    atOnce(index.put('p1', ['old']));
    const long = Array.from({ length: 100_000 }, (_, i) => `word${i}`).join(' ');
    const put = index.put('p1', ['new', [long, long]]);
    let pieces = 0;
    for (let step = put.next(); step.done !== true; step = put.next(), pieces++)
      expect([idsOf('old'), idsOf('new')]).to.deep.equal([['p1'], []]);
    expect(pieces).to.be.at.least(64);
    expect([idsOf('old'), idsOf('new')]).to.deep.equal([[], ['p1']]);
  });

  it('drops the words that no entity has while entities change, a few words with each change', () => {
    const index = new WordIndex(new Analyzer(), 1, true);
    for (let i = 0; i < 10_000; i++) atOnce(index.put(`p${i}`, [`word${i}`]));
    const known = (): number => [...index.vocabulary.endingWith('')].length;
    let [before, most] = [known(), 0];
    for (let i = 0; i < 10_000; i++) {
      index.remove(`p${i}`);
      if (i % 10 !== 0) continue;
      const now = known();
      most = Math.max(most, before - now);
      before = now;
    }
    expect(most).to.be.within(1, 1000);
    expect(before).to.be.below(2500);
    expect(index.sweeps).to.be.above(2);
  });

  it('uses numbers of documents again, so changes take no more memory', () => {
    const index = new WordIndex(new Analyzer(), 1, true);
    for (let i = 0; i < 30_000; i++) atOnce(index.put(`p${i % 100}`, [`lamp word${i}`]));
    expect(index.ids.length).to.be.below(2500);
    expect(index.occurrences.lengths[index.vocabulary.numberOf('lamp')]).to.be.below(2500);
  });

  it('sorts what it found in pieces, in whatever order the index has the entities', () => {
    const index = new WordIndex(new Analyzer(), 1, false);
    for (let i = 5000; i > 0; i--) atOnce(index.put(`p${String(i).padStart(4, '0')}`, ['shoe']));
    const found = search(index, [[{ words: ['shoe'], weight: 1 }]], { k1: 1.2, b: 0.75, weights: [1] }, 3);
    let pieces = 0;
    let step = found.next();
    for (; step.done !== true; step = found.next()) pieces++;
    expect(pieces).to.be.at.least(15);
    expect(step.value.map(({ id }) => id)).to.deep.equal(['p0001', 'p0002', 'p0003']);
  });

  for (const hasCompounds of [false, true]) {
    it(`gives what a scan of all texts gives, after any changes${hasCompounds ? ', with compounds' : ''}`, () => {
      fc.assert(
        fc.property(
          fc.array(change, { maxLength: 40 }),
          fc.array(query, { minLength: 1, maxLength: 4 }),
          (changes, queries) => {
            const analyzer = new Analyzer();
            // A sweep begins after a few changes, so many end, and some are halfway.
            const index = new WordIndex(analyzer, WEIGHTS.length, hasCompounds, 2);
            const naive = new NaiveSearch(analyzer, WEIGHTS, hasCompounds);
            for (const [kind, number, ...texts] of changes) {
              const id = `p${number}`;
              if (kind === 'put') {
                atOnce(index.put(id, texts));
                naive.put(id, texts);
              } else {
                index.remove(id);
                naive.remove(id);
              }
            }
            const compounds = hasCompounds ? new Compounds(index, analyzer) : undefined;
            for (const asked of queries) {
              const words = atOnce(
                queryWords(asked, { index, analyzer, bare: analyzer, synonyms: undefined, compounds }),
              );
              const found = atOnce(search(index, words, { k1: 1.2, b: 0.75, weights: WEIGHTS }, 5));
              const wanted = naive.search(asked, 12);
              expect(found.length).to.equal(Math.min(5, wanted.length));
              const scores = new Map(wanted.map(({ id, score }) => [id, score]));
              found.forEach(({ id, score }, place) => {
                expect(score).to.be.closeTo(scores.get(id) ?? NaN, 1e-9);
                expect(score).to.be.closeTo(wanted[place]?.score ?? NaN, 1e-9);
              });
            }
          },
        ),
        { numRuns: 300 },
      );
    });
  }
});
