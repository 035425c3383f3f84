import { expect } from 'chai';
import type { JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import { describe as inWords, misfit } from '../../../../runtime/ground/core/value-fit.js';

const REF: ValueType = { kind: 'ref', entity: 'brand' };
const VARIANTS: ValueType = {
  kind: 'list',
  of: {
    kind: 'record',
    fields: new Map<string, ValueType>([
      ['price', { kind: 'float' }],
      ['seller', REF],
      ['inner', { kind: 'record', fields: new Map<string, ValueType>([['n', { kind: 'int' }]]) }],
    ]),
  },
};

const good: [ValueType, JsonValue[]][] = [
  [{ kind: 'int' }, [0, -1, 2 ** 53 - 1, null]],
  [{ kind: 'float' }, [0.5, -1e308, 3, null]],
  [{ kind: 'bool' }, [true, false, null]],
  [{ kind: 'string' }, ['', 'x', '\ud800', null]],
  [{ kind: 'timestamp' }, [0, -1.5, '2026-01-31', null]],
  [REF, ['b1', '__proto__', 7, null]],
  [{ kind: 'list', of: { kind: 'ref', entity: 'brand' } }, [['a', 7], []]],
  [{ kind: 'vector', size: 2 }, [[1, 2], [0.1, -3e38], null]],
  [{ kind: 'list', of: { kind: 'string' } }, [[], ['', 'a'], null]],
  [
    VARIANTS,
    [[], [{}], [{ price: null, seller_id: 's', other: [1] }], [{ seller: 4, seller_id: '4' }], null],
  ],
];

const bad: [ValueType, JsonValue, (string | number)[], string][] = [
  [{ kind: 'int' }, 1.5, [], 'a whole number'],
  [{ kind: 'int' }, 2 ** 53, [], 'a whole number'],
  [{ kind: 'int' }, '3', [], 'found the text "3"'],
  [{ kind: 'int' }, true, [], 'found true'],
  [{ kind: 'float' }, Infinity, [], 'too large'],
  [{ kind: 'float' }, '1', [], 'a number'],
  [{ kind: 'bool' }, 0, [], 'true or false'],
  [{ kind: 'string' }, 5, [], 'found the number 5'],
  [{ kind: 'timestamp' }, 'soon', [], 'ISO 8601'],
  [{ kind: 'timestamp' }, 1e16, [], 'a time'],
  [REF, '', [], 'cannot be empty'],
  [REF, 7.5, [], 'the id of a brand: a text or a whole number up to 2^53 - 1, found the number 7.5'],
  [REF, -0, [], 'found the number -0'],
  [{ kind: 'list', of: { kind: 'string' } }, [7], [0], 'found the number 7'],
  [REF, { brand_id: 'b' }, [], 'found an object'],
  [REF, '\ud800', [], 'surrogate'],
  [{ kind: 'vector', size: 2 }, [1], [], 'a list of 2 numbers, found a list of length 1'],
  [{ kind: 'vector', size: 2 }, [1, null], [1], 'found null'],
  [{ kind: 'vector', size: 2 }, [1, 1e39], [1], 'float32'],
  [{ kind: 'list', of: { kind: 'string' } }, 'a', [], 'a list'],
  [{ kind: 'list', of: { kind: 'string' } }, ['a', null], [1], 'found null'],
  [{ kind: 'list', of: { kind: 'ref', entity: 'brand' } }, ['a', ''], [1], 'cannot be empty'],
  [VARIANTS, [{}, 3], [1], 'an object'],
  [VARIANTS, [{}, null], [1], 'an object'],
  [VARIANTS, [{ price: 'x' }], [0, 'price'], 'a number'],
  [VARIANTS, [{ inner: { n: 0.5 } }], [0, 'inner', 'n'], 'a whole number'],
  [VARIANTS, [{ seller: 'a', seller_id: 'b' }], [0, 'seller_id'], 'different ids'],
  [VARIANTS, [{ seller_id: 4.5 }], [0, 'seller_id'], 'the id of a brand'],
  [VARIANTS, [{ seller: 4, seller_id: '5' }], [0, 'seller_id'], 'different ids'],
];

describe('values and their types', () => {
  for (const [type, values] of good) {
    it(`${type.kind} accepts ${JSON.stringify(values)}`, () => {
      for (const value of values) expect(misfit(value, type), JSON.stringify(value)).to.equal(undefined);
    });
  }

  for (const [type, value, path, text] of bad) {
    it(`${type.kind} refuses ${JSON.stringify(value)}`, () => {
      const found = misfit(value, type);
      expect(found?.path).to.deep.equal(path);
      expect(found?.detail).to.contain(text);
    });
  }

  it('are described in a few words, however long they are', () => {
    expect(inWords('x'.repeat(10_000)).length).to.be.lessThan(60);
    expect(inWords({ secret: 'x' })).to.equal('an object');
    expect(inWords([1, 2])).to.equal('a list of length 2');
    expect(inWords(undefined)).to.equal('nothing');
  });
});
