import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { millrace } from '../../support/command-line.js';
import { repositoryPath } from '../../support/repository.js';

const COMMANDS = [
  ['serve'],
  ['validate'],
  ['plan'],
  ['entities', 'load'],
  ['entities', 'export'],
  ['features', 'load'],
  ['features', 'export'],
  ['features', 'delete'],
  ['features', 'consume'],
  ['features', 'import-feast'],
  ['store', 'check'],
  ['store', 'backup'],
  ['store', 'restore'],
  ['store', 'repair'],
  ['text-stats'],
  ['rank'],
  ['demo'],
];

function flagsIn(text: string): Set<string> {
  return new Set([...text.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag));
}

describe('docs/cli.md', () => {
  const page = readFileSync(repositoryPath('docs', 'cli.md'), 'utf8');

  it('has a section for every command', async () => {
    for (const command of COMMANDS) expect(page).to.contain(`\n## ${command.join(' ')}\n`);
    const { stdout } = await millrace(['--help']);
    const listed = [...stdout.matchAll(/^ {2}([a-z][a-z-]+) (?=.* {2})/gm)].map(([, name]) => name);
    const expected = [...new Set(COMMANDS.map(([name]) => name))];
    expect(listed.filter((name) => name !== 'help')).to.have.members(expected);
  });

  it('names every flag that there is, and no other', async () => {
    const flags = new Set<string>();
    for (const command of COMMANDS) {
      const { stdout } = await millrace([...command, '--help']);
      for (const flag of flagsIn(stdout)) flags.add(flag);
    }
    expect([...flagsIn(page)].sort()).to.deep.equal([...flags].sort());
  });
});
