import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeQuery } from '../../../../runtime/ground/core/normalize-query.js';
import { normalized } from '../../../../runtime/ground/core/unicode-form.js';

const FORMS = ['NFC', 'NFKC', 'NFKD'] as const;
/** Marks of several classes, so that they have to be sorted. */
const mark = fc.constantFrom('\u0301', '\u0323', '\u0315', '\u0345', '\u05b0', '\uff9e', '\u093f');
const text = fc
  .array(
    fc.tuple(fc.constantFrom('a', 'e', 'ｱ', 'क', ' ', '!', '+', 'ﬁ', '1'), fc.array(mark, { maxLength: 8 })),
  )
  .map((letters) => letters.map(([letter, marks]) => letter + marks.join('')).join(''));

describe('the normal form of a text', () => {
  it('is that of Unicode for the marks of any language', () => {
    fc.assert(
      fc.property(text, fc.constantFrom(...FORMS), (any, form) => {
        expect(normalized(any, form)).to.equal(any.normalize(form));
      }),
    );
  });

  it('has at most 30 marks to sort, and loses none', () => {
    for (const form of FORMS)
      for (const length of [29, 30, 31, 32, 61, 1000]) {
        const all = `x${'\u0315\u0323'.repeat(length).slice(0, length)}y`;
        const found = normalized(all, form);
        expect(found.replaceAll('\u034f', ''), `${form} ${length}`).to.have.length(all.length);
        expect(/[\u0315\u0323]{31}/.test(found), `${form} ${length}`).to.equal(false);
        expect(found.includes('\u034f')).to.equal(length > 30);
      }
  });

  it('of a query loses the joiners with the accents', () => {
    expect(normalizeQuery(`Cafe\u0301${'\u0315\u0323'.repeat(500)} TV`)).to.equal('cafe tv');
  });
});

describe('the words of a query', () => {
  it('lose the signs around them', () => {
    const sign = fc.constantFrom('!', '+', '#', '-', 'a', '1', '\u093f', '😀', '\u{1d400}');
    fc.assert(
      fc.property(fc.string({ unit: sign }), (word) => {
        const plain = word
          .normalize('NFKC')
          .toLowerCase()
          .replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}+#]+$/gu, '');
        expect(normalizeQuery(word)).to.equal(plain);
      }),
    );
  });

  it('are looked for in the first 2,048 characters, once for a run of signs', () => {
    expect(normalizeQuery(`tv ${'!'.repeat(1_000_000)} set`)).to.equal('tv');
    expect(normalizeQuery(`tv${'!'.repeat(2000)}set`)).to.equal(`tv${'!'.repeat(2000)}set`);
  });
});
