import { expect } from 'chai';
import { LANGUAGES } from '../../../../runtime/ground/text/index.js';
import { INTERACTION_TYPES } from '../../../../runtime/ground/api/interactions.js';
import { nearest } from '../../../../runtime/ground/core/nearest.js';
import { spelledAmount } from '../../../../runtime/ground/core/spelled-amount.js';
import { parseDuration } from '../../../../runtime/ground/api/duration.js';

describe('a word that means the same', () => {
  for (const [word, kind] of [
    ['purchase', 'order'],
    ['checkout', 'order'],
    ['add_to_cart', 'cart'],
    ['view', 'impression'],
    ['select_item', 'click'],
    ['like', undefined],
  ] as const)
    it(`of an event: ${word}`, () => {
      expect(nearest(word, INTERACTION_TYPES)).to.equal(kind);
    });

  it('is not found if several names mean it', () => {
    expect(nearest('condition', ['where', 'keep'])).to.equal(undefined);
  });

  it('loses to a name that is spelt nearly so', () => {
    expect(nearest('max', ['mac', 'most'])).to.equal('mac');
  });

  it('is not a language by chance', () => {
    for (const word of ['max', 'purchase', 'search', 'field'])
      expect(nearest(word, LANGUAGES), word).to.equal(undefined);
  });
});

describe('an amount in words', () => {
  for (const [text, spelling] of [
    ['1 hour', '1h'],
    ['1.5 hours', '1.5h'],
    ['30 Minuten', '30m'],
    ['250 ms', '250ms'],
    ['2days', '2d'],
    ['2 fortnights', undefined],
    ['hour', undefined],
    ['64 MB', undefined],
  ] as const)
    it(text, () => {
      const fits = (one: string): boolean => parseDuration(one) !== undefined;
      expect(spelledAmount(text, fits)).to.equal(spelling);
    });
});
