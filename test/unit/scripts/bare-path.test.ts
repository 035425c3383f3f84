import { spawnSync } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { NEEDS } from '../../support/needs.js';
import { repositoryPath } from '../../support/repository.js';

describe('scripts/bare-path.mjs', () => {
  const script = repositoryPath('scripts', 'bare-path.mjs');

  it('runs a command that finds Node and npm, and no program that a suite can need', () => {
    const helper = pathToFileURL(repositoryPath('dist', 'test', 'support', 'needs.js')).href;
    const names = ['node', 'npm', 'sh', ...Object.keys(NEEDS)];
    const code = `import { findProgram } from '${helper}';
      console.log(JSON.stringify(${JSON.stringify(names)}.filter((name) => findProgram(name) !== undefined)));`;
    const ran = spawnSync(process.execPath, [script, 'node', '--input-type=module', '--eval', code], {
      encoding: 'utf8',
      env: { ...process.env, CI: 'true' },
    });
    expect(JSON.parse(ran.stdout), ran.stderr).to.deep.equal(['node', 'npm', 'sh']);
  });

  it('ends as its command ends', () => {
    const ran = spawnSync(process.execPath, [script, 'sh', '-c', 'exit 7']);
    expect(ran.status).to.equal(7);
  });
});
