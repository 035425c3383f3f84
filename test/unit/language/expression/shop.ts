import { compileExpression, type Expected } from '../../../../runtime/language/expression/compile.js';
import type { CompiledExpression } from '../../../../runtime/language/expression/environment.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import type { Outcome } from '../../../support/interpreter.js';
import { fill, results, Table, type Data } from './table.js';

const NUMBER = { kind: 'number' } as const;
const TEXT = { kind: 'text' } as const;
export const NOW = Date.UTC(2026, 0, 31, 12);

/** Columns of a small shop. */
export function shop(): Table {
  return new Table({
    'product.price': { type: NUMBER, scope: 'candidate' },
    'product.stock': { type: NUMBER, scope: 'candidate' },
    'product.title': { type: TEXT, scope: 'candidate' },
    'product.brand': { type: { kind: 'ref', entity: 'brand' }, scope: 'candidate' },
    'product.tags': { type: { kind: 'list', of: TEXT }, scope: 'candidate' },
    'product.prices': { type: { kind: 'list', of: NUMBER }, scope: 'candidate' },
    'product.added': { type: { kind: 'time' }, scope: 'candidate' },
    'product.vector': { type: { kind: 'vector', size: 2 }, scope: 'candidate' },
    'user.brand': { type: { kind: 'ref', entity: 'brand' }, scope: 'request' },
    'user.budget': { type: NUMBER, scope: 'request' },
    'user.likes': { type: { kind: 'list', of: TEXT }, scope: 'request' },
    'title:bm25': { type: NUMBER, scope: 'candidate' },
  });
}

/** Compiles an expression that must be valid. */
export function compiled(
  text: string,
  table: Table,
  expected: Expected = { type: 'any', scope: 'any' },
): CompiledExpression {
  const result = compileExpression(text, table, expected);
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('; '));
  return result.expression;
}

/** The results of an expression on the shop, for a request of `count` candidates. */
export function run(text: string, data: Data, count: number, expected?: Expected): Outcome[] {
  const table = shop();
  const expression = compiled(text, table, expected);
  const frame = new Frame(table.layout);
  fill(frame, table, data, count, NOW);
  return results(frame, expression);
}
