import { expect } from 'chai';
import fc, { type Arbitrary } from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { atOnce } from '../../../../runtime/ground/core/pieces.js';
import { checkFeedback, type CheckedFeedback } from '../../../../runtime/serve/feedback/check-feedback.js';
import { entityType } from '../../../support/entity-types.js';

const NOW = Date.UTC(2026, 0, 31);

type Kind = 'int' | 'float' | 'bool' | 'string';
type Declared = Readonly<Record<string, Readonly<Record<string, Kind>>>>;

const ENTITIES = new Map(['product', 'user'].map((name) => [name, entityType(name)]));

function check(declared: Declared, body: unknown): CheckedFeedback {
  const kinds = new Map(
    Object.entries(declared).map(([name, values]) => [
      name,
      { name, values: new Map(Object.entries(values).map(([value, kind]) => [value, { kind }])) },
    ]),
  );
  return atOnce(checkFeedback(body, { entities: ENTITIES, kinds }, NOW, 0));
}

function problems(declared: Declared, event: object, over: object = {}): string[] {
  const body = { request_id: 'r', user: { user_id: 'u' }, events: [event], ...over };
  try {
    check(declared, body);
    return [];
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return error.violations.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`);
  }
}

const KINDS: Declared = {
  click: {},
  order: { revenue: 'float', gift: 'bool' },
  refund: { reason: 'string' },
};

const order = { type: 'order', product: { product_id: 'p' } };

const FITTING: Readonly<Record<Kind, Arbitrary<unknown>>> = {
  int: fc.maxSafeInteger(),
  float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  bool: fc.boolean(),
  string: fc.string({ unit: 'grapheme', maxLength: 20 }),
};
const VALUES = ['revenue', 'gift', 'items', 'reason', 'channel'];
const anyKinds: Arbitrary<Declared> = fc.dictionary(
  fc.constantFrom('click', 'order', 'wish', 'share'),
  fc.dictionary(fc.constantFrom(...VALUES), fc.constantFrom<Kind[]>('int', 'float', 'bool', 'string'), {
    noNullPrototype: true,
  }),
  { minKeys: 1, noNullPrototype: true },
);

describe('the check of feedback', () => {
  it('accepts the values of the declared kind that fit their types, and returns exactly those', () => {
    const cases = anyKinds.chain((declared) =>
      fc.constantFrom(...Object.keys(declared)).chain((type) => {
        const values = Object.entries(declared[type] ?? {});
        const sent = fc.record(
          Object.fromEntries(values.map(([name, kind]) => [name, fc.option(FITTING[kind], { freq: 5 })])),
          { requiredKeys: [] },
        );
        return sent.map((some) => ({ declared, type, some }));
      }),
    );
    fc.assert(
      fc.property(cases, ({ declared, type, some }) => {
        const event = { type, product: { product_id: 'p' }, ...some };
        const checked = check(declared, { request_id: 'r', user: null, events: [event] });
        const given = Object.entries(some).filter(([, value]) => value !== null);
        expect(Object.fromEntries(checked.events[0]?.values ?? [])).to.deep.equal(Object.fromEntries(given));
        expect(checked.events[0]?.kind.name).to.equal(type);
      }),
    );
  });

  it('refuses values of other types, and names that the kind does not declare', () => {
    const noise = fc.oneof(fc.constantFrom('x', 1.5, true, [], {}, 2 ** 60), FITTING.int);
    const cases = fc.tuple(anyKinds, fc.constantFrom(...VALUES), noise);
    fc.assert(
      fc.property(cases, ([declared, name, value]) => {
        const [type = '', values = {}] = Object.entries(declared)[0] ?? [];
        const found = problems(declared, { type, product: { product_id: 'p' }, [name]: value });
        const kind = values[name];
        const fits =
          (kind === 'int' && Number.isSafeInteger(value)) ||
          (kind === 'float' && typeof value === 'number') ||
          (kind === 'bool' && typeof value === 'boolean') ||
          (kind === 'string' && typeof value === 'string');
        expect(found.length, found.join('\n')).to.equal(fits ? 0 : 1);
        if (!fits)
          expect(found[0]).to.match(
            kind === undefined ? /^\/events\/0\/\w+ unknown_field/ : /^\/events\/0\/\w+ wrong_type/,
          );
      }),
    );
  });

  it('suggests the nearest name, and says which kind has a value', () => {
    expect(problems(KINDS, { ...order, revenu: 1 })).to.deep.equal([
      '/events/0/revenu unknown_field: there is no field or entity type "revenu"; did you mean "revenue"?',
    ]);
    expect(problems(KINDS, { ...order, reason: 'late' })).to.deep.equal([
      '/events/0/reason unknown_field: an event of the type "order" has no value "reason"; "refund" has it',
    ]);
    expect(problems(KINDS, { ...order, type: 'ordr' })).to.deep.equal([
      '/events/0/type wrong_type: type: expected click, order, refund, found the text "ordr"; did you mean "order"?',
    ]);
    expect(problems(KINDS, { ...order, revenue: '9' })[0]).to.contain('revenue: expected a number');
    expect(problems(KINDS, { ...order, type: 'refund', reason: '\ud800' })[0]).to.contain(
      'half a surrogate pair',
    );
  });

  it('needs an id for each event, if neither a request nor an owner is known', () => {
    const nobody = { request_id: null, user: null };
    expect(problems(KINDS, { ...order, event_id: 'o-1' }, nobody)).to.deep.equal([]);
    expect(problems(KINDS, { ...order, time: NOW }, nobody)).to.deep.equal([
      '/events/0 missing_field: without request_id and without an entity that the events belong to, an event needs event_id; otherwise it would count twice if it is sent again',
    ]);
  });

  it('needs an id or a time for each event, if there is no request', () => {
    const alone = { request_id: undefined };
    expect(problems(KINDS, order, alone)).to.deep.equal([
      '/events/0 missing_field: without request_id, an event needs event_id or time; otherwise it would count twice if it is sent again',
    ]);
    expect(problems(KINDS, { ...order, event_id: null, time: null }, { request_id: null })).to.have.length(1);
    expect(problems(KINDS, { ...order, event_id: 'o-1' }, alone)).to.deep.equal([]);
    expect(problems(KINDS, { ...order, time: NOW }, alone)).to.deep.equal([]);
    expect(problems(KINDS, { ...order, event_id: '' })[0]).to.match(/^\/events\/0\/event_id invalid_id/);
  });
});
