import { expect } from 'chai';
import fc from 'fast-check';
import { storedId } from '../../../../runtime/ground/core/entity-id.js';

describe('the stored id of an entity', () => {
  it('is the text itself without a rule', () => {
    expect(storedId(undefined, 'Red Shoe!')).to.equal('Red Shoe!');
    expect(storedId({}, 'Red Shoe!')).to.equal('Red Shoe!');
  });

  it('is its own stored id, and never empty', () => {
    const rule = { normalizesIds: true } as const;
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
        const id = storedId(rule, text);
        expect(id).not.to.equal('');
        expect(storedId(rule, id)).to.equal(id);
      }),
    );
  });
});
