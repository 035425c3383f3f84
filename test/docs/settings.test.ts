import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace } from '../support/command-line.js';
import { writeProject } from '../support/project.js';
import { repositoryPath } from '../support/repository.js';

const ENV = { SHOP_PASSWORD: 'correct-horse', MILLRACE_PREFIX: 'shop_test' };

describe('docs/reference/settings.md and docs/reference/cli.md', () => {
  const blockOf = (page: string, fence: string): string => {
    const text = readFileSync(repositoryPath('docs', page), 'utf8');
    const start = text.indexOf(`${fence}\n`);
    return text.slice(start + fence.length + 1, text.indexOf('\n```', start + fence.length));
  };
  let root = '';
  afterEach(() => rm(root, { recursive: true, force: true }));

  it('show a project file without errors, and what `millrace settings` prints for it', async () => {
    root = await writeProject({
      'shop/millrace.yaml': blockOf('reference/settings.md', '```yaml file=millrace.yaml'),
    });
    await mkdir(join(root, 'models'));
    const argv = ['settings', '--project', join(root, 'shop'), '--port', '7000'];
    const { code, stdout, stderr } = await millrace(argv, { env: ENV });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    const words = (line: string): string => line.trim().replace(/ +/g, ' ');
    const printed = stdout.replace(root, '/home/ada').split('\n').map(words);
    const page = blockOf('reference/cli.md', 'millrace settings --port 7000\n```\n\n```text');
    const shown = page.split('\n').map(words);
    expect(shown).to.have.length.above(6);
    // The width of the line under the titles depends on the longest value.
    expect(printed).to.include.members(shown.filter((line) => !line.startsWith('─')));
    expect(printed.slice(4).map((line) => line.split(' ')[0])).to.include.members([
      'queue_ms',
      'resident_bytes',
      'linked_folders',
    ]);
  });
});
