import fc from 'fast-check';
import { factsOf } from '../../../../runtime/request/compile/meaning/facts.js';
import { keyOf } from '../../../../runtime/request/compile/meaning/key-of.js';
import { valuesOf } from '../../../../runtime/language/expression/values/values-of.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { Missing } from '../../../support/interpreter.js';
import { COLUMNS, expressions, request } from '../../language/expression/random-expression.js';
import { compiled, expectWithin } from '../../language/expression/expect-within.js';
import { fill, results, OptionTable } from '../../language/expression/table.js';
import { draws } from '../../../support/draws.js';

const NOW = Date.UTC(2026, 1, 1, 6);
const NO_SCORE = -1;

describe('what holds after a filter', () => {
  const { bool, number, text } = expressions(['candidate']);
  const limit = fc.constantFrom('0', '1', '2.5', '-1');
  const compare = fc.constantFrom('<', '<=', '>', '>=', '==', '!=');
  const part = fc.oneof(
    bool,
    fc.tuple(number, compare, limit).map((words) => words.join(' ')),
    fc.tuple(limit, compare, number).map((words) => words.join(' ')),
    text.map((one) => `${one} == "a"`),
    text.map((one) => `${one} in ("a", "Ab")`),
    number.map((one) => `known(${one})`),
  );
  const condition = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' and '));

  for (const isTrue of [true, false])
    it(`contains every value of a candidate whose condition is ${isTrue ? 'true' : 'true or absent'}`, () => {
      fc.assert(
        fc.property(condition, fc.oneof(number, text, bool), request, (keep, later, { count, data }) => {
          const table = new OptionTable(COLUMNS);
          const [filter, expression] = [compiled(keep, table), compiled(later, table)];
          const facts = factsOf(filter.root, NO_SCORE, isTrue, undefined);
          const values = valuesOf(expression.root, (one) => {
            const key = keyOf(one, NO_SCORE);
            return key === undefined ? undefined : facts.get(key)?.values;
          });
          const frame = new Frame(table.layout);
          fill(frame, table, data, count, NOW);
          const kept = results(frame, filter);
          for (const [row, outcome] of results(frame, expression).entries()) {
            const decision = kept[filter.scope === 'candidate' ? row : 0];
            if (decision === true || (!isTrue && decision instanceof Missing)) expectWithin(outcome, values);
          }
        }),
        { numRuns: draws(400) },
      );
    });
});
