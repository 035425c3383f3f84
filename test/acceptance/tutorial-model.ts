/**
 * Runs docs/tutorial-model.md with a Python that has LightGBM, and compares what its commands print with what it shows.
 * usage: node dist/test/acceptance/tutorial-model.js
 */
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { repositoryPath } from '../support/repository.js';

const PAGE = 'docs/tutorial-model.md';

const steps = shellSteps(await readFile(repositoryPath(PAGE), 'utf8'));
assert.equal(steps.length, 6, `${PAGE} has six blocks of commands`);
const printed = await runShellSteps(steps, ['5001']);
for (const [i, { heading, output }] of steps.entries())
  assert.match(printed[i] ?? '', outputPattern(output), `${PAGE}, ${heading}`);
const gate = printed.join('\n').match(/^PASS.*$/m)?.[0] ?? '';
console.log(`${PAGE}: ${steps.length} blocks print what the page shows; ${gate}`);
