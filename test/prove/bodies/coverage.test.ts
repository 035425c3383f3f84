import { expect } from 'chai';
import { generator } from './project.js';

describe('the proof of bodies', () => {
  it('has a case of every function, every operator and every option of a plugin that reads values', async () => {
    const { language, options, wanted, leftOut } = await generator();
    const covered = new Set([...language.cases, ...options.cases].map(({ covers }) => covers));
    // The proof asks a running service for its routes.
    const missing = wanted.filter(
      (name) => !name.startsWith('route ') && !covered.has(name) && !leftOut.has(name),
    );
    expect(missing).to.deep.equal([]);
  }).timeout(60_000);
});
