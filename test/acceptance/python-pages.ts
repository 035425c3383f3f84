/**
 * Runs the pages of the docs whose commands train with LightGBM, and compares what they print with what the pages show.
 * usage: PATH=FOLDER_OF_PYTHON:$PATH node dist/test/acceptance/python-pages.js [PAGE …]
 */
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { outputPattern, runShellSteps, shellSteps } from '../support/documented-shell.js';
import { repositoryPath } from '../support/repository.js';

/** The pages, and how many blocks of commands each has. */
const PAGES = new Map([
  ['docs/tutorial-model.md', 6],
  ['docs/retrain.md', 5],
]);

const named = process.argv.slice(2);
for (const page of named.length > 0 ? named : PAGES.keys()) {
  const steps = shellSteps(await readFile(repositoryPath(page), 'utf8'));
  assert.equal(steps.length, PAGES.get(page), `${page}: the number of blocks of commands`);
  const printed = await runShellSteps(steps, ['5001']);
  for (const [i, { heading, output }] of steps.entries())
    assert.match(
      printed[i] ?? '',
      outputPattern(output),
      `${page}, ${heading}, block ${i + 1}:\n${printed[i] ?? ''}`,
    );
  const gates = printed.join('\n').match(/^(?:PASS|FAIL).*$/gm) ?? [];
  console.log(`${page}: ${steps.length} blocks print what the page shows; ${gates.join('; ')}`);
}
