import { expect } from 'chai';
import fc from 'fast-check';
import { compileExpression, type Expected } from '../../runtime/language/expression/compile.js';
import { parseExpression } from '../../runtime/language/expression/parser.js';
import { Frame } from '../../runtime/language/frame/frame.js';
import { interpret } from '../support/interpreter.js';
import { COLUMNS, expressions, request } from '../unit/language/expression/random-expression.js';
import { fill, results, OptionTable } from '../unit/language/expression/table.js';
import { editsOf, type Edit } from './edits.js';
import { always, type FuzzTarget } from './fuzz-target.js';

const NOW = Date.UTC(2026, 1, 1, 6);

const TOKENS =
  '( ) ( ) , . : + - * / % == != < <= > >= = ! and or not in true false null 0 1 -1 1e308 1e999 .5 5. 0x1 1_0 "" "a" \'b\' " \' \\ c r c.number c.text c.bool c.time c.numbers c.texts r.number r.texts c:number c.nothing __proto__ constructor score if coalesce known sum mean min max count any all abs log pow clamp lower contains length now() time("2026-01-31") time("x") age_days days hour unknown( {} [] $ # @ ; ? 😀 \u0000 \ud800 \u202e'.split(
    ' ',
  );

const share = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const token = fc.constantFrom(...TOKENS);

const tokenEdit: fc.Arbitrary<Edit<string>> = fc
  .record({
    kind: fc.constantFrom('exchange', 'exchange', 'remove', 'insert', 'nest', 'cut'),
    at: share,
    token,
    depth: fc.constantFrom(3, 30, 300, 3000),
  })
  .map(({ kind, at, token: one, depth }) => ({
    what: `${kind} ${at.toFixed(3)} ${one} ${depth}`,
    apply(text) {
      const found = [...text.matchAll(/"[^"]*"|[\w.:]+|[^\s\w]/g)];
      const place = found[Math.floor(at * found.length)];
      if (place === undefined) return one;
      const [before, after] = [text.slice(0, place.index), text.slice(place.index + place[0].length)];
      if (kind === 'exchange') return before + one + after;
      if (kind === 'remove') return before + after;
      if (kind === 'insert') return `${before}${one} ${place[0]}${after}`;
      if (kind === 'nest') return `${before}${'('.repeat(depth)}${place[0]}${')'.repeat(depth)}${after}`;
      return before;
    },
  }));

const { number, bool, text, time, numbers, bools, texts } = expressions(['candidate', 'request']);
const grammatical = fc.oneof(number, bool, text, time, numbers, bools, texts);
const written: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(grammatical, editsOf(tokenEdit)).map(([one, { apply }]) => apply(one)) },
  { weight: 2, arbitrary: fc.array(token, { maxLength: 25 }).map((tokens) => tokens.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('(', '-', 'not ', 'abs(', 'if(', '1+', 'c.number in (', '"'),
        fc.integer({ min: 1, max: 20_000 }),
      )
      .map(([part, times]) => part.repeat(times)),
  },
);

/**
 * Creates texts that are almost expressions. Each gives errors at places in the text, or the value that the simple
 * interpreter gives.
 */
export const expressionTexts: FuzzTarget = {
  name: 'expressions',
  quick: 400,
  open: () => {
    const cases = fc
      .record({
        written,
        type: fc.constantFrom<Expected['type']>(
          'any',
          'any',
          'any',
          'number',
          'bool',
          'text',
          'texts',
          'vector',
        ),
        scope: fc.constantFrom<Expected['scope']>('any', 'candidate', 'request'),
        request,
      })
      .map((one) => ({ ...one, what: `${one.type} ${one.scope} ${JSON.stringify(one.written)}` }));
    return Promise.resolve({
      run: always(cases, ({ written: expression, type, scope, request: { count, data } }) => {
        const table = new OptionTable(COLUMNS);
        const result = compileExpression(expression, table, { type, scope });
        if (!result.ok) {
          expect(result.problems).not.to.have.length(0);
          for (const { message, start, end } of result.problems) {
            expect(message.trim()).not.to.equal('');
            expect(message).not.to.match(/undefined|\[object|Cannot read/);
            expect(start).to.be.within(0, Math.max(0, expression.length - 1));
            expect(end).to.be.within(start, Math.max(1, expression.length));
          }
          return;
        }
        const parsed = parseExpression(expression);
        if (!parsed.ok) throw new Error('expected a parse error to prevent compilation');
        const frame = new Frame(table.layout);
        fill(frame, table, data, count, NOW);
        const rows = result.expression.scope === 'candidate' ? count : 1;
        const wanted = Array.from({ length: rows }, (_, row) =>
          interpret(parsed.ast, {
            now: NOW,
            isList: (name) => COLUMNS[name]?.type.kind === 'list',
            lookup: (name) => {
              const cell = data[name]?.[COLUMNS[name]?.scope === 'request' ? 0 : row];
              if (cell === undefined) throw new Error(`expected columns for ${name}`);
              return cell;
            },
          }),
        );
        expect(results(frame, result.expression)).to.deep.equal(wanted);
      }),
    });
  },
};
