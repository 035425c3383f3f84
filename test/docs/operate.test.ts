import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { describeWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

const PAGE = 'docs/operate.md';
const PORTS = ['6379', '5001', '5002', '9090'];

describeWith(['redis-server', 'promtool', 'openssl', 'bash', 'curl'], PAGE, () => {
  it('has commands that print what the page shows', async function () {
    this.timeout(180_000);
    const steps = shellSteps(await readFile(repositoryPath(PAGE), 'utf8'));
    expect(steps.length).to.be.greaterThan(8);
    const printed = await runShellSteps(steps, PORTS);
    const different = steps.flatMap(({ heading, output }, i) =>
      outputPattern(output).test(printed[i] ?? '') ? [] : [`${heading}: ${printed[i] ?? 'nothing'}`],
    );
    expect(different.join('\n')).to.equal('');
  });
});
