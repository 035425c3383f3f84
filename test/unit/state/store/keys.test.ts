import { expect } from 'chai';
import fc from 'fast-check';
import { entityKey, featureKey, layoutKey } from '../../../../runtime/state/store/keys.js';
import { idProblem, idText, isWellFormed } from '../../../../runtime/ground/core/ids.js';

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,3}$/);
const group = name.filter((text) => text !== 'entity' && text !== 'schema');
/** Ids that look like parts of keys, and arbitrary ids. */
const id = fc.oneof(
  fc.stringMatching(/^[0-9a-b:,{}]{1,6}$/),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }),
);

const entity = fc.record({
  prefix: name,
  kind: fc.constant('entity'),
  types: fc.tuple(name),
  ids: fc.tuple(id),
});
const views = fc.integer({ min: 0, max: 3 }).chain((count) =>
  fc.record({
    prefix: name,
    kind: group,
    types: fc.array(name, { minLength: count, maxLength: count }),
    ids: fc.array(id, { minLength: count, maxLength: count }),
  }),
);

function keyOf(of: {
  prefix: string;
  kind: string;
  types: readonly string[];
  ids: readonly string[];
}): string {
  const [type = '', own = ''] = [of.types[0], of.ids[0]];
  return of.kind === 'entity'
    ? entityKey(of.prefix, type, own)
    : featureKey(of.prefix, of.kind, of.types, of.ids);
}

describe('store keys', () => {
  it('differ for any two identifiers, single or composite, of any group', () => {
    const identifier = fc.oneof(entity, views);
    fc.assert(
      fc.property(identifier, identifier, (a, b) => {
        expect(keyOf(a) === keyOf(b)).to.equal(JSON.stringify(a) === JSON.stringify(b));
      }),
      { numRuns: 3000 },
    );
  });

  it('differ if only the boundary between two ids moves', () => {
    fc.assert(
      fc.property(id, id, name, (a, b, type) => {
        const joined = a + b;
        const keys = new Set<string>();
        for (let cut = 1; cut < joined.length; cut++) {
          keys.add(featureKey('p', 'features', [type, type], [joined.slice(0, cut), joined.slice(cut)]));
        }
        expect(keys.size).to.equal(joined.length - 1);
      }),
    );
  });

  it('differ for (a, b:c) and (a:b, c)', () => {
    expect(featureKey('p', 'features', ['user', 'brand'], ['a', 'b:c'])).not.to.equal(
      featureKey('p', 'features', ['user', 'brand'], ['a:b', 'c']),
    );
  });

  it('have the documented format', () => {
    expect(entityKey('millrace', 'product', 'p1')).to.equal('millrace:entity:product:p1');
    expect(featureKey('millrace', 'features', ['product'], ['p:1'])).to.equal(
      'millrace:features:product:p:1',
    );
    expect(featureKey('m', 'features', ['user', 'brand'], ['u1', 'b:7'])).to.equal(
      'm:features:user,brand:2:u13:b:7',
    );
    expect(featureKey('m', 'features', [], [])).to.equal('m:features::');
    expect(layoutKey('m', '00ff')).to.equal('m:schema:00ff');
  });

  it('start with the key of an empty id', () => {
    expect(entityKey('m', 'product', '') + 'p1').to.equal(entityKey('m', 'product', 'p1'));
  });
});

describe('ids', () => {
  it('are texts of 1 to 1024 characters', () => {
    for (const good of ['a', 'x'.repeat(1024), '__proto__', ' ', '0', '😀', '\0']) {
      expect(idProblem(good), JSON.stringify(good)).to.equal(undefined);
    }
    expect(idProblem('')).to.contain('cannot be empty');
    expect(idProblem('x'.repeat(1025)))
      .to.contain('1024')
      .and.to.contain('1025');
    for (const bad of [null, undefined, true, ['a'], { id: 'a' }]) {
      expect(idProblem(bad)).to.equal('an id is a text or a whole number up to 2^53 - 1');
      expect(idText(bad)).to.equal(undefined);
    }
  });

  it('may be whole numbers that JSON represents exactly, as decimal text', () => {
    for (const good of [0, 7, -7, 2 ** 53 - 1, 1 - 2 ** 53, 1e15]) {
      expect(idProblem(good), String(good)).to.equal(undefined);
      expect(idText(good)).to.equal(BigInt(good).toString());
    }
    for (const bad of [-0, 0.5, 2 ** 53, -(2 ** 53), 1e21, Infinity, NaN]) {
      expect(idProblem(bad), String(bad)).to.contain('a whole number up to 2^53 - 1');
      expect(idText(bad), String(bad)).to.equal(undefined);
    }
    expect(idText('007')).to.equal('007');
  });

  it('have no lone surrogates', () => {
    for (const bad of ['\ud800', 'a\udc00', '\udc00\ud800', 'x\ud83d']) {
      expect(idProblem(bad), JSON.stringify(bad)).to.contain('surrogate');
      expect(isWellFormed(bad)).to.equal(false);
    }
    expect(isWellFormed('😀é漢')).to.equal(true);
  });
});
