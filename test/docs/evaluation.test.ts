import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const page = readFileSync(repositoryPath('docs', 'learn/evaluation.md'), 'utf8');

/** The commands of the page's console blocks, in order, each with the output below it. */
function shownCommands(): { readonly argv: readonly string[]; readonly output: string }[] {
  return [...page.matchAll(/^```console\n\$ millrace (.*)\n([\s\S]*?)^```$/gm)].map(
    ([, line = '', output = '']) => ({
      argv: Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, word]) => quoted ?? word ?? ''),
      output,
    }),
  );
}

/** Times differ from run to run. */
const alike = (text: string): string =>
  text.replace(/^([AB] +)[\d.]+( +)[\d.]+( +)[\d.]+$/gm, '$1#  #  #').replace(/^ms a request.*\n─.*$/m, '');

describe('docs/learn/evaluation.md', () => {
  it('shows commands with what they print', function () {
    this.timeout(60_000);
    const blocks = page.matchAll(/^```\w+ file=(\S+)\n([\s\S]*?)^```$/gm);
    const files = Object.fromEntries([...blocks].map(([, path = '', text = '']) => [path, text]));
    expect(Object.keys(files)).to.have.length(6);
    return withFiles(files, async (root) => {
      const store = ['--project', root, '--store', 'embedded'];
      const loaded = await millrace(['entities', 'load', 'product', `${root}/products.jsonl`, ...store]);
      expect(loaded.code, loaded.stderr).to.equal(0);
      const commands = shownCommands();
      expect(commands).to.have.length(5);
      for (const { argv, output } of commands) {
        const own = argv.map((word) => (Object.hasOwn(files, word) ? `${root}/${word}` : word));
        const result = await millrace([...own, ...store]);
        const printed = (result.stdout + result.stderr).replaceAll(`${root}/`, '');
        expect(alike(printed.trimEnd()), argv.join(' ')).to.equal(alike(output.trimEnd()));
      }
    });
  });
});
