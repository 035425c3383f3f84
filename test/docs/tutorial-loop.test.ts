import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { describeWith } from '../support/needs.js';
import { repositoryPath } from '../support/repository.js';

const PAGE = 'docs/tutorial-loop.md';

describeWith(['bash', 'curl'], PAGE, () => {
  it('has commands that print what the page shows, and the shoppers click more often at its end', async function () {
    this.timeout(180_000);
    const steps = shellSteps(await readFile(repositoryPath(PAGE), 'utf8'));
    expect(steps).to.have.length(7);
    const printed = await runShellSteps(steps, ['5001']);
    const different = steps.flatMap(({ heading, output }, i) =>
      outputPattern(output).test(printed[i] ?? '') ? [] : [`${heading}: ${printed[i] ?? 'nothing'}`],
    );
    expect(different.join('\n')).to.equal('');
    const clicks = printed.flatMap((text) =>
      Array.from(text.matchAll(/clicks a ranked page: ([\d.]+)/g), ([, figure]) => Number(figure)),
    );
    expect(clicks).to.have.length(2);
    expect(clicks[1]).to.be.above(1.2 * (clicks[0] ?? Infinity));
  });
});
