import { expect } from 'chai';
import { Status } from '../../../../runtime/ground/api/status.js';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import type { CompiledExpression } from '../../../../runtime/language/expression/environment.js';
import { Frame } from '../../../../runtime/language/frame/frame.js';
import { Missing, type Outcome } from '../../../support/interpreter.js';
import { compiled, NOW, run, shop } from './shop.js';
import { fill, results } from './table.js';

function constant(text: string): Outcome {
  return run(text, {}, 0)[0] ?? new Missing(-1);
}

describe('compileExpression', () => {
  const values: [string, Outcome][] = [
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['10 - 4 - 3', 3],
    ['-2 * -3', 6],
    ['7 % 4', 3],
    ['-7 % 4', -3],
    ['.5 + 1e2', 100.5],
    ['not 1 == 2 and true', true],
    ['true or false and false', true],
    ['not true or true', true],
    ['"a" == \'a\'', true],
    ['"caf\\u00e9" == "café"', true],
    ['2 in (1, 2, 3)', true],
    ['2 not in (1, 2, 3)', false],
    ['"it\'s" in ("a", \'it\\\'s\')', true],
    ['if(1 > 2, "yes", "no")', 'no'],
    ['min(3, 1, 2)', 1],
    ['max(3, 1, 2)', 3],
    ['clamp(5, 0, 3)', 3],
    ['clamp(-5, 0, 3)', 0],
    ['round(2.5)', 3],
    ['round(-0.4)', 0],
    ['pow(2, 10)', 1024],
    ['log10(1000)', 3],
    ['length("😀é")', 2],
    ['upper("é") == "É"', true],
    ['contains("abc", "bc") and starts_with("abc", "ab") and ends_with("abc", "c")', true],
    ['contains("abc", "B")', false],
    ['true + true', 2],
    ['2 * (1 < 2) - false', 2],
    ['-(1 < 2)', -1],
    ['true / false', new Missing(Status.absent)],
    ['2 * (1 / 0 > 1)', new Missing(Status.absent)],
    ['time("2026-01-31") - time("2026-01-30")', 86_400_000],
    ['hour(time("2026-01-31T23:59:59Z"))', 23],
    ['hour(time("1969-12-31T23:00:00Z"))', 23],
    ['hour(time("2026-01-31T01:00:00+02:00"))', 23],
    ['weekday(time("2026-02-01"))', 7],
    ['weekday(time("2026-02-02"))', 1],
    ['weekday(time("1969-12-28"))', 7],
    ['age_days(time("2026-01-30T12:00:00Z"))', 1],
    ['age_hours(now())', 0],
    ['now() - days(1) < now()', true],
    ['known(1 / 0)', false],
    ['1 / 0', new Missing(Status.absent)],
    ['0 / 0', new Missing(Status.absent)],
    ['log(-1)', new Missing(Status.absent)],
    ['sqrt(-1)', new Missing(Status.absent)],
    ['1e308 * 10', new Missing(Status.absent)],
    ['exp(1000)', new Missing(Status.absent)],
    ['5 % 0', new Missing(Status.absent)],
    ['pow(1 / 0, 0)', new Missing(Status.absent)],
    ['coalesce(1 / 0, log(0), 4)', 4],
    ['1 / 0 == 1 / 0', new Missing(Status.absent)],
    ['1 / 0 > 1 and false', false],
    ['1 / 0 > 1 or true', true],
    ['1 / 0 > 1 and true', new Missing(Status.absent)],
    ['not (1 / 0 > 1)', new Missing(Status.absent)],
    ['if(1 / 0 > 1, 1, 2)', new Missing(Status.absent)],
    ['1 in (1 / 0, 1)', true],
    ['2 in (1 / 0, 1)', new Missing(Status.absent)],
    ['2 not in (1 / 0, 1)', new Missing(Status.absent)],
  ];
  for (const [text, value] of values) {
    it(`${text} is ${value instanceof Missing ? 'absent' : String(value)}`, () => {
      expect(constant(text)).to.deep.equal(value);
    });
  }

  it('computes a column of candidates', () => {
    const data = {
      'title:bm25': [2, 3, new Missing(Status.missing_feature)],
      'product.price': [0, new Missing(Status.null), 5],
      'product.stock': [1, 0, 1],
    };
    expect(
      run('title:bm25 + 0.1 * log1p(product.price) + if(product.stock > 0, 1, 0)', data, 3),
    ).to.deep.equal([3, new Missing(Status.null), new Missing(Status.missing_feature)]);
  });

  it('gives an unknown result the status of the first unknown operand', () => {
    const data = {
      'product.price': [new Missing(Status.expired)],
      'product.stock': [new Missing(Status.failed)],
      'product.title': [new Missing(Status.missing_entity)],
    };
    const status = (text: string): unknown => run(text, data, 1)[0];
    expect(status('product.price + product.stock')).to.deep.equal(new Missing(Status.expired));
    expect(status('product.stock + product.price')).to.deep.equal(new Missing(Status.failed));
    expect(status('1 + product.stock * product.price')).to.deep.equal(new Missing(Status.failed));
    expect(status('product.title == "a" and product.price > 1')).to.deep.equal(
      new Missing(Status.missing_entity),
    );
    expect(status('if(product.price > 1, 1, 2)')).to.deep.equal(new Missing(Status.expired));
    expect(status('if(true, product.stock, product.price)')).to.deep.equal(new Missing(Status.failed));
    expect(status('coalesce(product.price, product.stock)')).to.deep.equal(new Missing(Status.expired));
    expect(status('lower(product.title)')).to.deep.equal(new Missing(Status.missing_entity));
    expect(status('clamp(1, product.price, product.stock)')).to.deep.equal(new Missing(Status.expired));
    expect(status('product.stock in (product.price, 1)')).to.deep.equal(new Missing(Status.failed));
    expect(status('known(product.stock)')).to.equal(false);
  });

  it('uses the values of stale and defaulted cells', () => {
    const table = shop();
    const expression = compiled('product.price * 2', table);
    const frame = new Frame(table.layout);
    fill(frame, table, { 'product.price': [1, 2] }, 2, NOW);
    const column = frame.columns[table.source('product.price').slot];
    column?.status.set([Status.stale, 16 | Status.missing_feature]);
    expect(results(frame, expression)).to.deep.equal([2, 4]);
    const out = frame.columns[expression.slot];
    expect([...(out?.status.slice(0, 2) ?? [])]).to.deep.equal([Status.present, Status.present]);
  });

  it('distinguishes 0, false and "" from unknown values', () => {
    const data = { 'product.price': [0], 'product.title': [''] };
    expect(run('coalesce(product.price, 5)', data, 1)).to.deep.equal([0]);
    expect(run('known(product.price) and known(product.title)', data, 1)).to.deep.equal([true]);
    expect(run('product.title == ""', data, 1)).to.deep.equal([true]);
    expect(run('product.title == ""', { 'product.title': [new Missing(Status.absent)] }, 1)).to.deep.equal([
      new Missing(Status.absent),
    ]);
    expect(run('coalesce(product.title, "none")', data, 1)).to.deep.equal(['']);
  });

  it('compares references by id, with each other and with texts', () => {
    const data = { 'product.brand': ['b1', 'b2', new Missing(Status.null)], 'user.brand': ['b2'] };
    const absent = new Missing(Status.null);
    expect(run('product.brand == user.brand', data, 3)).to.deep.equal([false, true, absent]);
    expect(run('product.brand != "b1"', data, 3)).to.deep.equal([false, true, absent]);
    expect(run('product.brand in ("b1", "b3")', data, 3)).to.deep.equal([true, false, absent]);
    expect(run('product.brand in (user.brand, "b3")', data, 3)).to.deep.equal([false, true, absent]);
    expect(run('coalesce(product.brand, "none")', data, 3)).to.deep.equal(['b1', 'b2', 'none']);
  });

  it('computes a request-scoped part once, in one row', () => {
    const table = shop();
    const expression = compiled('user.budget * 2 + 1', table, { type: 'number', scope: 'request' });
    expect(expression.scope).to.equal('request');
    const frame = new Frame(table.layout);
    fill(frame, table, { 'user.budget': [4] }, 0, NOW);
    expect(results(frame, expression)).to.deep.equal([9]);
  });

  it('gives every candidate a row if requested', () => {
    const expected = { type: 'any', scope: 'candidate' } as const;
    expect(run('1.5', {}, 3, expected)).to.deep.equal([1.5, 1.5, 1.5]);
    expect(run('user.budget', { 'user.budget': [2] }, 2, expected)).to.deep.equal([2, 2]);
    expect(run('user.budget', { 'user.budget': [new Missing(Status.null)] }, 2, expected)).to.deep.equal([
      new Missing(Status.null),
      new Missing(Status.null),
    ]);
    expect(run('upper("a")', {}, 2, expected)).to.deep.equal(['A', 'A']);
    expect(run('user.likes', { 'user.likes': [['a', 'b']] }, 2, expected)).to.deep.equal([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(run('user.budget', { 'user.budget': [2] }, 0, expected)).to.deep.equal([]);
  });

  it('reads a bare name from its own column, without a kernel', () => {
    const table = shop();
    const expression = compiled('product.price', table, { type: 'number', scope: 'candidate' });
    expect(expression.kernels).to.have.length(0);
    expect(expression.slot).to.equal(table.source('product.price').slot);
  });

  it('passes vectors through', () => {
    const data = { 'product.vector': [[1, 2], new Missing(Status.absent)] };
    expect(run('coalesce(product.vector, product.vector)', data, 2)).to.deep.equal([
      [1, 2],
      new Missing(Status.absent),
    ]);
    expect(run('known(product.vector)', data, 2)).to.deep.equal([true, false]);
  });

  it('shares scratch columns between expressions and keeps results separate', () => {
    const table = shop();
    const one = compiled('product.price * 2 + product.stock * 3', table);
    const columns = table.layout.columns.length;
    const two = compiled('product.price * 5 + product.stock * 7', table);
    // The columns of its result and of two literals. Literals and the first result are not reused.
    expect(table.layout.columns.length).to.equal(columns + 3);
    const frame = new Frame(table.layout);
    fill(frame, table, { 'product.price': [1], 'product.stock': [1] }, 1, NOW);
    expect(results(frame, one)).to.deep.equal([5]);
    expect(results(frame, two)).to.deep.equal([12]);
    expect(frame.number(one.slot).values[0]).to.equal(5);
  });

  it('keeps the result of a definition that is compiled within another expression', () => {
    const table = shop();
    let margin: CompiledExpression | undefined;
    const names = {
      layout: table.layout,
      path: (segments: readonly string[]) => table.path(segments),
      feature: (view: string, feature: string) => table.feature(view, feature),
      name: () => (margin ??= compiled('product.price * 2 + product.stock * 3 + product.price * 0', table)),
    };
    const outer = compileExpression('product.price * 10 + product.stock * 10 + margin * 1', names, {
      type: 'number',
      scope: 'candidate',
    });
    if (!outer.ok || margin === undefined) throw new Error('does not compile');
    const frame = new Frame(table.layout);
    fill(frame, table, { 'product.price': [1], 'product.stock': [2] }, 1, NOW);
    expect(results(frame, margin)).to.deep.equal([8]);
    expect(results(frame, outer.expression)).to.deep.equal([38]);
    expect(frame.number(margin.slot).values[0]).to.equal(8);
  });

  it('does not compute time-dependent parts at load', () => {
    const table = shop();
    const expression = compiled('age_days(time("2026-01-01"))', table);
    const frame = new Frame(table.layout);
    for (const day of [2, 3]) {
      fill(frame, table, {}, 0, Date.UTC(2026, 0, day));
      expect(results(frame, expression)).to.deep.equal([day - 1]);
    }
  });

  it('computes constants at load', () => {
    expect(compiled('if(2 > 1, lower("A"), "b")', shop()).kernels).to.have.length(0);
  });

  it('treats names of Object.prototype like other names', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
      for (const text of [name, `${name}(1)`, `a.${name}`, `a:${name}`, `${name}:a`]) {
        const result = compileExpression(text, shop(), { type: 'any', scope: 'any' });
        expect(result.ok, text).to.equal(false);
      }
    }
  });
});
