import { expect } from 'chai';
import fc from 'fast-check';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import { parseExpression } from '../../../../runtime/language/expression/parser.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { interpret } from '../../../support/interpreter.js';
import { COLUMNS, expressions, formExpressions, request } from './random-expression.js';
import { fill, results, OptionTable } from './table.js';
import { TextCodes } from '../../../../runtime/request/resident/text-codes.js';
import { draws } from '../../../support/draws.js';
import { giveCodes } from '../../../support/give-codes.js';

const NOW = Date.UTC(2026, 1, 1, 6);

describe('compiled expressions', () => {
  const all = expressions(['candidate', 'request']);
  const cases = [
    ...Object.entries(all).map(([kind, text]) => [`of type ${kind}`, text, draws(75)] as const),
    ...formExpressions(['candidate', 'request']).map(([form, text]) => [form, text, draws(3)] as const),
  ];
  for (const [what, text, numRuns] of cases) {
    it(`${what}: equal the plain interpreter, on reused frames`, () => {
      fc.assert(
        fc.property(
          text,
          fc.boolean(),
          fc.array(request, { minLength: 1, maxLength: 3 }),
          (written, perCandidate, requests) => {
            const parsed = parseExpression(written);
            if (!parsed.ok) throw new Error(parsed.problem.message);
            const table = new OptionTable(COLUMNS);
            // A second expression on the same frame: the two must not affect each other.
            const [compiled, again] = [0, 1].map(() => {
              const result = compileExpression(written, table, {
                type: 'any',
                scope: perCandidate ? 'candidate' : 'any',
              });
              if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('; '));
              return result.expression;
            });
            if (compiled === undefined || again === undefined) throw new Error('two were compiled');
            const frame = new Frame(table.layout);
            const dictionary = new TextCodes({ left: 1e7 });
            for (const { count, data } of requests) {
              fill(frame, table, data, count, NOW);
              const rows = compiled.scope === 'candidate' ? count : 1;
              const wanted = Array.from({ length: rows }, (_, row) =>
                interpret(parsed.ast, {
                  now: NOW,
                  isList: (name) => COLUMNS[name]?.type.kind === 'list',
                  lookup: (name) => {
                    const cells = data[name];
                    const cell = cells?.[COLUMNS[name]?.scope === 'request' ? 0 : row];
                    if (cell === undefined) throw new Error(`nothing in ${name}`);
                    return cell;
                  },
                }),
              );
              expect(results(frame, compiled)).to.deep.equal(wanted);
              expect(results(frame, again)).to.deep.equal(wanted);
              for (const name of Object.keys(data)) {
                const column = frame.columns[table.source(name).slot];
                if (column !== undefined) giveCodes(column, dictionary, (at) => at % 3 !== 1);
              }
              expect(results(frame, compiled), 'with codes of texts').to.deep.equal(wanted);
            }
          },
        ),
        { numRuns },
      );
    });
  }
});
