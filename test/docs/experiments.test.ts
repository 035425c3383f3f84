import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { describeWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

const PAGE = 'docs/experiments/live.md';

describeWith(['bash', 'curl'], PAGE, () => {
  it('has commands that print what the page shows, from an idea to a decision', async function () {
    this.timeout(240_000);
    const steps = shellSteps(await readFile(repositoryPath(PAGE), 'utf8'));
    expect(steps).to.have.length(6);
    const printed = await runShellSteps(steps, ['5001']);
    const different = steps.flatMap(({ output }, i) =>
      outputPattern(output).test(printed[i] ?? '') ? [] : [`block ${i + 1}: ${printed[i] ?? 'nothing'}`],
    );
    expect(different.join('\n')).to.equal('');
  });
});
