import { expect } from 'chai';
import { compileExpression } from '../../../../runtime/language/expression/compile.js';
import type { CompiledExpression } from '../../../../runtime/language/expression/environment.js';
import type { Values } from '../../../../runtime/language/expression/values/values.js';
import { Missing, type Outcome, type Single } from '../../../support/interpreter.js';
import type { Table } from './table.js';

export function compiled(text: string, table: Table): CompiledExpression {
  const result = compileExpression(text, table, { type: 'any', scope: 'any' });
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join('; '));
  return result.expression;
}

/** Expects that an outcome is one of the values that were foreseen. */
export function expectWithin(outcome: Outcome, values: Values): void {
  if (outcome instanceof Missing) {
    expect(values.known, 'a value that is always known').not.to.equal('always');
    return;
  }
  expect(values.known, 'a value that is never known').not.to.equal('never');
  if (Array.isArray(outcome)) {
    for (const element of outcome as readonly (Single | undefined)[])
      if (element !== undefined) expectSingle(element, values);
    return;
  }
  expectSingle(outcome as Single, values);
}

function expectSingle(value: Single, { low, high, whole, texts, letters }: Values): void {
  if (typeof value === 'string') {
    if (texts !== undefined) expect([...texts]).to.include(value);
    if (letters === 'lower') expect(value).not.to.match(/[A-Z]/);
    if (letters === 'upper') expect(value).not.to.match(/[a-z]/);
    return;
  }
  expect(Number(value)).to.be.within(low, high);
  if (whole) expect(Number(value) % 1).to.equal(0);
}
