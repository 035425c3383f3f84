import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { Violations } from '../../../../runtime/ground/core/violations.js';

function thrown(violations: Violations): MillraceError {
  try {
    violations.throwIfAny('The body');
  } catch (error) {
    if (error instanceof MillraceError) return error;
  }
  throw new Error('expected a MillraceError');
}

describe('violations', () => {
  it('compute a costly detail only for listed violations', () => {
    const violations = new Violations();
    let found = 0;
    for (let i = 0; i < 1000; i++) violations.add(`/${i}`, 'wrong', () => `detail ${++found}`);
    const error = thrown(violations);
    expect(error.message).to.equal('The body has 1000 violations; the first 50 are listed');
    expect(error.violations).to.have.length(50);
    expect(error.violations.at(-1)).to.deep.equal({ pointer: '/49', code: 'wrong', detail: 'detail 50' });
    expect(found).to.equal(50);
  });
});
