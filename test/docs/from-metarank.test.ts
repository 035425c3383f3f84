import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { runShellSteps, shellSteps } from '../support/documented-shell.js';
import { describeWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

describeWith('bash', 'docs/from-metarank.md', () => {
  it('shows commands that print what it shows', async function () {
    this.timeout(120_000);
    const page = readFileSync(repositoryPath('docs', 'from-metarank.md'), 'utf8');
    const steps = shellSteps(page);
    expect(steps).to.have.length(2);
    const printed = await runShellSteps(steps, []);
    for (const [i, { output }] of steps.entries()) expect(printed[i]?.trim()).to.equal(output.trim());
  });
});
