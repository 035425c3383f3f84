import { expect } from 'chai';
import { Status } from '../../../../runtime/ground/api/status.js';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { Missing, type Outcome } from '../../../support/interpreter.js';
import { fill, results, Table, type Data } from './table.js';

const COLUMNS = {
  'c.text': { type: { kind: 'text' }, scope: 'candidate' },
  'c.number': { type: { kind: 'number' }, scope: 'candidate' },
  'r.texts': { type: { kind: 'list', of: { kind: 'text' } }, scope: 'request' },
  'r.numbers': { type: { kind: 'list', of: { kind: 'number' } }, scope: 'request' },
} as const;

/** The results of an expression, and how many elements of the lists of the request it read. */
function run(text: string, data: Data, count: number): { readonly found: Outcome[]; readonly reads: number } {
  const table = new Table(COLUMNS);
  const compiled = compileExpression(text, table, { type: 'any', scope: 'any' });
  if (!compiled.ok) throw new Error(compiled.problems[0]?.message);
  const frame = new Frame(table.layout);
  fill(frame, table, data, count, 0);
  let reads = 0;
  for (const name of ['r.texts', 'r.numbers']) {
    const column = frame.columns[table.source(name).slot] as { values: object };
    column.values = new Proxy(column.values, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
        const value: unknown = Reflect.get(target, key, target);
        return value;
      },
    });
  }
  return { found: results(frame, compiled.expression), reads };
}

describe('a value in a long list of the request', () => {
  const COUNT = 100;
  for (const kind of ['text', 'number'] as const)
    for (const unknown of ['known', 'unknown in part', 'missing'] as const)
      it(`of ${kind}s is looked for once for all candidates: elements ${unknown}`, () => {
        const of = (n: number): string | number => (kind === 'text' ? `w${n}` : n);
        const list: Outcome =
          unknown === 'missing'
            ? new Missing(Status.failed)
            : Array.from({ length: 5000 }, (_, n) =>
                unknown === 'unknown in part' && n % 100 === 7 ? undefined : of(2 * n),
              );
        const values = Array.from({ length: COUNT }, (_, row) =>
          row % 10 === 4 ? new Missing(Status.null) : of(row * 41),
        );
        const data = { [`c.${kind}`]: values, [`r.${kind}s`]: [list] };
        const { found, reads } = run(`c.${kind} in r.${kind}s`, data, COUNT);
        const alone = values.map(
          (value) => run(`c.${kind} in r.${kind}s`, { ...data, [`c.${kind}`]: [value] }, 1).found[0],
        );
        expect(found).to.deep.equal(alone);
        expect(new Set(found.map((one) => JSON.stringify(one))).size).to.be.greaterThan(1);
        expect(reads).to.be.at.most(5000);
      });
});
