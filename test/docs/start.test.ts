import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { describeWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

describeWith(['bash', 'git'], 'docs/start.md', () => {
  it('shows what its commands print', async () => {
    const steps = shellSteps(readFileSync(repositoryPath('docs/start.md'), 'utf8'));
    expect(steps.length).to.be.above(5);
    const printed = await runShellSteps(steps, []);
    for (const [at, { heading, output }] of steps.entries())
      expect(printed[at], heading).to.match(outputPattern(output));
  }).timeout(120_000);
});
