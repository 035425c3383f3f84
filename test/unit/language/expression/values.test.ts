import { expect } from 'chai';
import fc from 'fast-check';
import { valuesOf } from '../../../../runtime/language/expression/values/values-of.js';
import type { Values } from '../../../../runtime/language/expression/values/values.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { compiled, expectWithin } from './expect-within.js';
import { COLUMNS, expressions, request } from './random-expression.js';
import { fill, results, OptionTable } from './table.js';
import { draws } from '../../../support/draws.js';

const NOW = Date.UTC(2026, 1, 1, 6);

describe('the values that an expression can have', () => {
  for (const [kind, text] of Object.entries(expressions(['candidate', 'request']))) {
    it(`contain every value that an expression of type ${kind} has`, () => {
      fc.assert(
        fc.property(text, fc.array(request, { minLength: 1, maxLength: 3 }), (written, requests) => {
          const table = new OptionTable(COLUMNS);
          const expression = compiled(written, table);
          const values = valuesOf(expression.root);
          const frame = new Frame(table.layout);
          for (const { count, data } of requests) {
            fill(frame, table, data, count, NOW);
            for (const outcome of results(frame, expression)) expectWithin(outcome, values);
          }
        }),
        { numRuns: draws(100) },
      );
    });
  }

  const table = new OptionTable(COLUMNS);
  const never: Partial<Values> = { known: 'never' };
  const cases: readonly (readonly [text: string, values: Partial<Values>])[] = [
    ['hour(now()) > 23', { low: 0, high: 0 }],
    ['weekday(c.time) == 0', { low: 0, high: 0 }],
    ['clamp(c.number, 0, 5) > 5', { low: 0, high: 0 }],
    ['clamp(c.number, 0, 5) * 2 + 1', { low: 1, high: 11 }],
    ['length(c.text) == 2.5', { low: 0, high: 0 }],
    ['lower(c.text) == "TV"', { low: 0, high: 0 }],
    ['upper(c.text) in ("tv", "a")', { low: 0, high: 0 }],
    ['contains(lower(c.text), "Tv")', { low: 0, high: 0 }],
    ['lower(c.text) == "tv"', { low: 0, high: 1 }],
    ['if(c.bool, "low", "high") == "hihg"', { low: 0, high: 0 }],
    ['if(c.bool, "low", "high") in ("low", "high")', { low: 1, high: 1 }],
    ['known(1)', { known: 'always', low: 1, high: 1 }],
    ['c.number > 1 and hour(now()) > 23', { low: 0, high: 0 }],
    ['c.number > 1 or hour(now()) < 24', { low: 1, high: 1 }],
    ['c.number / 0', never],
    ['log(-abs(c.number))', never],
    ['sqrt(-1 - abs(c.number))', never],
    ['coalesce(c.number, 0) >= 0', { known: 'always', low: 0, high: 1 }],
    ['count(c.texts) < 0', { low: 0, high: 0 }],
    ['any(c.numbers < c.number)', { low: 0, high: 1 }],
    ['exp(c.number) <= -1', { low: 0, high: 0 }],
    ['c.number % 3 > 3', { low: 0, high: 0 }],
    ['abs(c.number) < 0', { low: 0, high: 0 }],
  ];
  for (const [text, values] of cases)
    it(`of ${text}`, () => {
      expect(valuesOf(compiled(text, table).root)).to.include(values);
    });
});
