import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { outputPattern } from '../support/documented-shell.js';
import { withFiles } from '../support/temporary-files.js';

describe('docs/shop.md', () => {
  const page = readFileSync(repositoryPath('docs', 'shop.md'), 'utf8');

  it('is a project whose commands print what the page shows', () => {
    const blocks = [...page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm)];
    const files = Object.fromEntries(blocks.map(([, path = '', text = '']) => [path, text]));
    expect(Object.keys(files)).to.have.length(3);
    const [, commands = '', output = ''] =
      /^```sh\n([\s\S]*?)^```\n+```text\n([\s\S]*?)^```$/m.exec(page) ?? [];
    return withFiles(files, async (root) => {
      let printed = '';
      for (const line of commands.trim().split('\n')) {
        const { stdout, stderr } = await millrace([...line.split(' ').slice(1), '--project', root]);
        printed += stderr + stdout;
      }
      expect(printed).to.match(outputPattern(output));
    });
  });
});
