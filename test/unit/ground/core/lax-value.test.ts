import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject, JsonValue, ValueType } from '../../../../runtime/ground/api/types.js';
import { deepFreeze } from '../../../../runtime/ground/core/freeze.js';
import { LaxBody } from '../../../../runtime/ground/core/lax-value.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { misfit } from '../../../../runtime/ground/core/value-fit.js';
import { idProblem } from '../../../../runtime/ground/core/ids.js';
import { LAX_RULES } from '../../../support/lax-tables.js';

const REF: ValueType = { kind: 'ref', entity: 'brand' };
const SINGLE: Readonly<Record<string, ValueType>> = {
  int: { kind: 'int' },
  float: { kind: 'float' },
  bool: { kind: 'bool' },
  string: { kind: 'string' },
  ref: REF,
  timestamp: { kind: 'timestamp' },
};
const TYPES = new Map([
  ['brand', { key: 'brand_id', attributes: new Map([['fame', { type: { kind: 'float' as const } }]]) }],
]);
const RECORD: ValueType = { kind: 'record', fields: new Map([...Object.entries(SINGLE), ['brand', REF]]) };
const ALL: readonly ValueType[] = [
  ...Object.values(SINGLE),
  { kind: 'list', of: { kind: 'string' } },
  { kind: 'list', of: { kind: 'float' } },
  { kind: 'list', of: { kind: 'ref', entity: 'brand' } },
  { kind: 'list', of: { kind: 'record', fields: RECORD.fields } },
  { kind: 'vector', size: 2 },
  RECORD,
];

const laxOf = (value: JsonValue, type: ValueType, lax = new LaxBody(TYPES, 'id')): JsonValue =>
  atOnce(lax.value(value, type, 'x'));
/** The values of JSON in a cell of the page. */
const valuesIn = (cell: string): readonly JsonValue[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, json = '']) => JSON.parse(json) as JsonValue);

const single = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    false,
    '',
    'on',
    'Yes',
    '0',
    '-0',
    -0,
    '12.5',
    ' 7 ',
    '1_0',
    1e-9,
    2 ** 60,
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.string(),
  fc.maxSafeInteger().map(String),
  fc.double({ noNaN: true }).map(String),
  fc.record({ brand_id: fc.oneof(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })) }),
) as fc.Arbitrary<JsonValue>;
const fields = fc.dictionary(
  fc.constantFrom(...RECORD.fields.keys(), 'brand_id', '__proto__', 'other'),
  single,
);
const value = fc.oneof(single, fc.array(single), fields, fc.array(fields)) as fc.Arbitrary<JsonValue>;
const type = fc.constantFrom(...ALL);

describe('lax values', () => {
  describe('become what docs/lax.md says', () => {
    for (const [declared = '', becomes = '', refused = ''] of LAX_RULES) {
      const kind = SINGLE[/`(\w+)`$/.exec(declared)?.[1] ?? ''] as ValueType;

      it(declared, () => {
        const rules = becomes.split(/(?<=→ `[^`]+`),/);
        for (const rule of rules) {
          const [sent = '', found = ''] = rule.split('→');
          for (const one of valuesIn(sent)) expect(laxOf(one, kind), rule).to.equal(valuesIn(found)[0]);
        }
        expect(valuesIn(becomes)).to.have.length.above(1);
        for (const one of valuesIn(refused)) {
          const made = laxOf(one, kind);
          const problem =
            kind.kind === 'ref' ? (misfit(made, kind)?.detail ?? idProblem(made)) : misfit(made, kind);
          expect(problem, JSON.stringify(one)).not.to.equal(undefined);
        }
      });
    }

    it('and no type lacks a row', () => {
      expect(LAX_RULES.map(([declared = '']) => /`(\w+)`$/.exec(declared)?.[1])).to.deep.equal(
        Object.keys(SINGLE),
      );
    });
  });

  it('are what was sent, if that is valid', () => {
    fc.assert(
      fc.property(value, type, (sent, declared) => {
        fc.pre(misfit(sent, declared) === undefined);
        const lax = new LaxBody(TYPES, 'id');
        expect(laxOf(sent, declared, lax)).to.equal(sent);
        expect(lax.coerced.total).to.equal(0);
      }),
      { numRuns: 2000 },
    );
  });

  it('are valid, if anything of a single value changed, and do not change again', () => {
    fc.assert(
      fc.property(value, type, (sent, declared) => {
        const lax = new LaxBody(TYPES, 'id');
        const found = laxOf(deepFreeze(sent), declared, lax);
        if (found !== sent && declared.kind in SINGLE && typeof sent !== 'object')
          expect(misfit(found, declared)).to.equal(undefined);
        expect(found === sent, 'counted').to.equal(lax.coerced.total === 0);
        expect(laxOf(found, declared)).to.equal(found);
      }),
      { numRuns: 2000 },
    );
  });

  it('are converted in lists, vectors and records', () => {
    expect(laxOf(['1', 2, true], { kind: 'list', of: { kind: 'float' } })).to.deep.equal([1, 2, 1]);
    expect(laxOf(['1', null], { kind: 'vector', size: 2 })).to.deep.equal([1, null]);
    expect(
      laxOf([{ brand_id: 'b1' }, 'b2'], { kind: 'list', of: { kind: 'ref', entity: 'brand' } }),
    ).to.deep.equal(['b1', 'b2']);
    expect(laxOf({ int: '1', other: '1', brand_id: { brand_id: 1.5 } }, RECORD)).to.deep.equal({
      int: 1,
      other: '1',
      brand_id: '1.5',
    });
  });

  it('count by field', () => {
    const lax = new LaxBody(TYPES, 'id');
    laxOf(
      [{ int: '1', bool: 1 }, { int: '2' }],
      { kind: 'list', of: { kind: 'record', fields: RECORD.fields } },
      lax,
    );
    expect([...lax.coerced.fields]).to.deep.equal([
      ['x.int', 2],
      ['x.bool', 1],
    ]);
    expect(lax.coerced.total).to.equal(3);
  });

  it('of an inline entity are converted, as deep as entities may nest', () => {
    const nest = (depth: number): JsonObject =>
      depth === 0 ? { fame: '1' } : { brand_id: 'b', parent: nest(depth - 1) };
    const brand = {
      key: 'brand_id',
      attributes: new Map([
        ['fame', { type: { kind: 'float' as const } }],
        ['parent', { type: REF }],
      ]),
    };
    const fameIn = (depth: number): unknown => {
      let at = laxOf(nest(depth), REF, new LaxBody(new Map([['brand', brand]]), 'entity')) as JsonObject;
      for (let i = 0; i < depth; i++) at = at['parent'] as JsonObject;
      return at['fame'];
    };
    expect([0, 7, 8, 50].map(fameIn)).to.deep.equal([1, 1, '1', '1']);
  });

  it('leave a member called __proto__ where it is', () => {
    const sent = JSON.parse('{"__proto__":{"int":"1"},"int":"2"}') as JsonObject;
    const found = laxOf(sent, RECORD) as JsonObject;
    expect(Object.entries(found)).to.deep.equal([
      ['__proto__', { int: '1' }],
      ['int', 2],
    ]);
    expect(Object.getPrototypeOf(found)).to.equal(Object.prototype);
  });
});
