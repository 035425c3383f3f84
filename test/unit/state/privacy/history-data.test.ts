import { expect } from 'chai';
import { holdsIdsOf } from '../../../../runtime/state/privacy/history-data.js';
import { entityType } from '../../../support/entity-types.js';

const TYPES = new Map(
  [
    entityType('product', { brand: { kind: 'ref', entity: 'brand' }, kind: { kind: 'string' } }),
    entityType('brand'),
  ].map((type) => [type.name, type]),
);

describe('the values of a history', () => {
  const CASES: readonly (readonly [facet: string, type: string, holds: boolean])[] = [
    ['product', 'product', true],
    ['product', 'brand', false],
    ['product.brand', 'brand', true],
    ['product.brand', 'product', false],
    ['product.kind', 'product', false],
    ['product.gone', 'product', true],
    [':revenue', 'product', false],
    [':position', 'brand', false],
  ];
  for (const [facet, type, holds] of CASES)
    it(`${facet} ${holds ? 'may hold' : 'holds no'} ids of ${type}`, () => {
      expect(holdsIdsOf(facet, type, TYPES)).to.equal(holds);
    });
});
