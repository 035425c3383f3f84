import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import {
  bodySchema,
  FLAG_FIELD,
  listField,
  nameField,
  notAnObject,
  nullable,
  objectField,
  optional,
  readBody,
  sizedField,
  textField,
  wholeField,
} from '../../../../runtime/ground/core/body-fields.js';
import { draws } from '../../../support/draws.js';

const BODY = {
  view: textField('the name of a view'),
  rows: listField(2),
  names: sizedField(2, 'a list of names', { few: 'too_few' }),
  more: optional(objectField('an object')),
  key: nullable(nameField('the name of a field')),
  limit: nullable(wholeField(1, 3)),
  create: optional(FLAG_FIELD),
};
const GOOD = { view: 'v', rows: [], names: [1] };

/** The codes and places of what is wrong. */
function faults(body: unknown): readonly string[] {
  try {
    readBody(body, BODY, 'The body');
    return [];
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
    return error.violations.map(({ pointer, code, detail }) => `${pointer} ${code} ${detail}`);
  }
}

describe('the fields of a body', () => {
  it('are read, with what may be left out', () => {
    expect(readBody({ ...GOOD, key: null, limit: 3, other: 1 }, BODY, 'The body')).to.deep.equal({
      ...GOOD,
      limit: 3,
    });
  });

  it('are each reported, with what was expected and found', () => {
    expect(faults({ rows: [1, 2, 3], names: [], more: null, key: '', limit: 4, create: 1 })).to.deep.equal([
      '/view missing_field view: expected the name of a view, found nothing',
      '/rows too_many rows: at most 2, found 3',
      '/names too_few names: expected 1 to 2, found 0',
      '/more wrong_type more: expected an object, found null',
      '/key wrong_type key: expected the name of a field, found the text ""',
      '/limit out_of_range limit: expected a whole number from 1 to 3, found the number 4',
      '/create wrong_type create: expected true or false, found the number 1',
    ]);
    const found = ' wrong_type expected an object with view and rows and names, found a list of length 0';
    expect(faults([])).to.deep.equal([found]);
    expect(notAnObject(null, 'The body', 'an object').message).to.equal(
      'The body: expected an object, found null',
    );
  });

  it('make a schema that accepts what the check accepts', () => {
    const parts = { view: {}, rows: {}, names: {}, more: {}, key: {}, limit: {}, create: {} };
    const fits = new Ajv2020({ strict: false }).compile(bodySchema(BODY, parts));
    const values = [undefined, null, true, 0, 1, 4, 1.5, '', 'v', [], [1], [1, 2, 3], {}];
    const value = fc.constantFrom<unknown[]>(...values);
    const some = fc.record(Object.fromEntries(Object.keys(BODY).map((name) => [name, value])));
    const body = fc.tuple(some, fc.boolean()).map(([sent, isGood]) => ({ ...sent, ...(isGood ? GOOD : {}) }));
    fc.assert(
      fc.property(body, (sent) => {
        const json = JSON.parse(JSON.stringify(sent)) as unknown;
        expect(faults(json).length === 0, JSON.stringify(json)).to.equal(fits(json));
      }),
      { numRuns: draws(300) },
    );
  });
});
