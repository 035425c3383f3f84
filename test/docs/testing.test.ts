import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

describe('docs/testing.md', () => {
  const page = readFileSync(repositoryPath('docs', 'testing.md'), 'utf8');
  const written = [...page.matchAll(/^```yaml file=(\S+)\n([\s\S]*?)^```$/gm)];
  const all = Object.fromEntries(written.map(([, path = '', text = '']) => [path, text]));
  const { 'tests/no_prediction.yaml': unpredicted = '', ...files } = all;
  /** The text block with this word in its fence. */
  const block = (word: string): string =>
    new RegExp(`^\`\`\`text ${word}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(page)?.[1] ?? 'the block is missing';

  it('has commands that print what the page shows', () =>
    withFiles(files, async (root) => {
      const commands = [...page.matchAll(/^```sh\nmillrace test([^\n]*)\n```\n\n```text\n([\s\S]*?)^```$/gm)];
      expect(commands).to.have.length(2);
      for (const [, flags = '', text] of commands) {
        const words = [...flags.matchAll(/"([^"]*)"|(\S+)/g)].map(
          ([, quoted, plain]) => quoted ?? plain ?? '',
        );
        const { code, stdout, stderr } = await millrace(['test', ...words, '--project', root]);
        expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: text, stderr: '' });
      }
    }));

  it('shows how a changed condition fails', () =>
    withFiles(files, async (root) => {
      const path = join(root, 'pipelines/search.yaml');
      writeFileSync(path, readFileSync(path, 'utf8').replace('in_stock <= 0', 'in_stock < 0'));
      const { code, stdout } = await millrace(['test', '--project', root]);
      expect(code).to.equal(1);
      expect(stdout.startsWith(block('failed')), stdout).to.equal(true);
    }));

  it('shows how a property fails', () =>
    withFiles({ ...files, 'tests/no_prediction.yaml': unpredicted }, async (root) => {
      const { code, stdout } = await millrace(['test', '--project', root]);
      expect(code).to.equal(1);
      expect(stdout.startsWith(block('property')), stdout).to.equal(true);
    }));

  it('lists every key of a test and of an expectation', () => {
    const schema = JSON.parse(readFileSync(repositoryPath('schemas/test.schema.json'), 'utf8')) as {
      properties: object;
      $defs: { expect: { properties: object } };
    };
    const keys = [...Object.keys(schema.properties), ...Object.keys(schema.$defs.expect.properties)];
    expect(keys.filter((key) => !page.includes(`\n| \`${key}\``))).to.deep.equal([]);
  });
});
