import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'yaml';
import { ERROR_CODES } from '../../runtime/ground/api/error-codes.js';
import { KEY_PROBLEMS } from '../../runtime/serve/http/openapi/problems.js';
import { millrace } from '../support/command-line.js';
import { repositoryPath } from '../support/repository.js';
import { withFiles } from '../support/temporary-files.js';

const page = readFileSync(repositoryPath('docs', 'access.md'), 'utf8');

interface Shown {
  readonly argv: readonly string[];
  readonly output: string;
}

/** The commands of `keys` in the page's console blocks, in order, each with the output below it. */
function shownCommands(): Shown[] {
  const blocks = [...page.matchAll(/^( *)```console\n([\s\S]*?)^ *```$/gm)].map(
    ([, indent = '', text = '']) =>
      text
        .split('\n')
        .map((line) => line.slice(indent.length))
        .join('\n'),
  );
  return blocks
    .flatMap((text) => text.split(/^\$ /m).slice(1))
    .filter((text) => text.startsWith('millrace keys '))
    .map((text) => {
      const [command = '', ...output] = text.split('\n');
      return { argv: command.split(' ').slice(1), output: output.join('\n').trimEnd() };
    });
}

/** Dates of a run differ from those of the page; so do the keys. Their ids are those of the page by then. */
const alike = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g, 'DATE').replace(/mr_\w+/g, 'KEY');

/** The id of the key that `keys create` printed; empty for other commands. */
const createdId = (output: string): string => /^(?:\S+#)?mr_(\w{8})_/.exec(output)?.[1] ?? '';

describe('docs/access.md', () => {
  it('shows commands with what they print', () =>
    withFiles({}, async (root) => {
      const commands = shownCommands();
      expect(commands).to.have.length.above(5);
      const ids = new Map<string, string>();
      for (const { argv, output } of commands) {
        const [verb = '', ...rest] = argv.slice(1);
        const own = rest.map((word) => ids.get(word) ?? word);
        const result = await millrace(['keys', verb, ...own, '--keys-file', `${root}/keys.json`]);
        expect(result.code, result.stderr).to.equal(0);
        let printed = (result.stdout + result.stderr).trimEnd().replaceAll(`${root}/`, '');
        const [shownId, newId] = [createdId(output), createdId(printed)];
        if (newId !== '') ids.set(shownId, newId);
        for (const [shown, made] of ids) printed = printed.replaceAll(made, shown);
        expect(alike(printed), argv.join(' ')).to.equal(alike(output));
      }
    }));

  it('shows the message of a service that others could reach without keys', async () => {
    const { stderr } = await millrace(['serve', '--host', '0.0.0.0', '--project', repositoryPath()]);
    const shown = /```text\n(error\[invalid_setting\][\s\S]*?)```/.exec(page)?.[1] ?? '';
    expect(stderr.split('\nhelp: ')[0]).to.equal(shown.replace(/\n(?: {4})?/g, ' ').trimEnd());
  });

  it('lists the codes of all refusals with their statuses', () => {
    for (const code of [...KEY_PROBLEMS, 'scope_missing', 'key_not_allowed'] as const)
      expect(page).to.match(new RegExp(`\\| ${ERROR_CODES[code].status} +\\| \`${code}\``));
  });

  it('is followed by the compose file and the image: only the one says that no keys are needed', () => {
    const compose = parse(readFileSync(repositoryPath('docker-compose.yml'), 'utf8')) as {
      services: { millrace: { environment: Record<string, string>; ports: string[] } };
    };
    const { environment, ports } = compose.services.millrace;
    expect(environment.MILLRACE_AUTH).to.equal('none');
    for (const port of ports) expect(port).to.match(/^127\.0\.0\.1:/);
    const image = readFileSync(repositoryPath('Dockerfile'), 'utf8').replace(/^#.*$/gm, '');
    expect(image).to.contain('HOST=0.0.0.0').and.not.contain('MILLRACE_AUTH');
  });
});
