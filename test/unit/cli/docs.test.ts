import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { millrace } from '../../support/command-line.js';
import { repositoryPath } from '../../support/repository.js';

interface HelpPage {
  /** The words of a command, e.g. `entities load`. */
  readonly command: string;
  readonly text: string;
}

/** The help of every command that has no subcommands. */
async function helpPages(command: readonly string[] = []): Promise<readonly HelpPage[]> {
  const { stdout: text } = await millrace([...command, '--help']);
  const [, list = ''] = text.split(/^Commands:$/m);
  const names = [...list.matchAll(/^ {2}([a-z][a-z-]+)(?= |$)/gm)].map(([, name = '']) => name);
  const subcommands = names.filter((name) => name !== 'help');
  if (subcommands.length === 0) return [{ command: command.join(' '), text }];
  return (await Promise.all(subcommands.map((name) => helpPages([...command, name])))).flat();
}

function flagsIn(text: string): string[] {
  // `npx --no` has a flag of npx.
  return [
    ...new Set([...text.replaceAll('npx --no ', '').matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag)),
  ].sort();
}

/** The commands without `--json`, apart from those that write a first file, and what a program reads instead. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
  consume: 'its log',
  'curation export': 'a CSV file',
  demo: 'the service',
  dev: 'the service',
  'ledger cat': 'JSON lines',
  serve: 'its log',
  'text-stats': 'the statistics, which are JSON',
  types: 'a TypeScript module',
  workbench: 'its log',
};

describe('docs/reference/cli.md', () => {
  const page = readFileSync(repositoryPath('docs', 'reference/cli.md'), 'utf8');

  it('has a section for every command', async () => {
    const commands = (await helpPages()).map(({ command }) => command);
    expect(commands).to.include.members(['serve', 'entities load', 'features import-feast']);
    expect(commands.filter((command) => !page.includes(`\n## ${command}\n`))).to.deep.equal([]);
  });

  it('has --json for every command whose output a program would read', async () => {
    const without = (await helpPages()).filter(({ text }) => !/ --json /.test(text));
    expect(
      without.map(({ command }) => command).filter((command) => !command.startsWith('new ')),
    ).to.have.members(Object.keys(WITHOUT_JSON));
  });

  it('names every flag, and no flag that does not exist', async () => {
    const texts = (await helpPages()).map(({ text }) => text);
    expect(flagsIn(page)).to.deep.equal(flagsIn(texts.join('\n')));
  });
});

describe('command lines of millrace on all pages', () => {
  const files = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...['docs', 'plugins', 'deploy'].flatMap((folder) =>
      (readdirSync(repositoryPath(folder), { recursive: true }) as string[])
        // docs/reference/mistakes.md has wrong command lines, and its own test runs them.
        .filter((name) => name.endsWith('.md') && !/node_modules|^reference\/mistakes\.md$/.test(name))
        .map((name) => `${folder}/${name}`),
    ),
  ];

  it('name commands and flags that exist', async () => {
    const pages = new Map((await helpPages()).map(({ command, text }) => [command, new Set(flagsIn(text))]));
    const lines = files.flatMap((file) =>
      [...readFileSync(repositoryPath(file), 'utf8').matchAll(/^ *```(?:sh|console)[^\n]*\n([^]*?)^ *```$/gm)]
        .flatMap(([, block = '']) => block.replaceAll('\\\n', ' ').split('\n'))
        .flatMap((line) => {
          const [, words] = /^ *(?:\$ )?(?:npx --no )?millrace (.*?)(?: [|>&#] ?.*| &)?$/.exec(line) ?? [];
          return words === undefined ? [] : [{ file, words }];
        }),
    );
    expect(lines.length).to.be.above(100);
    const wrong = lines.filter(({ words }) => {
      const [first = '', second = ''] = words.split(/ +/);
      const flags = pages.get(`${first} ${second}`) ?? pages.get(first);
      const used = flagsIn(words).filter((flag) => !/^--(?:help|version)$/.test(flag));
      return flags === undefined ? !first.startsWith('--') : used.some((flag) => !flags.has(flag));
    });
    expect(wrong.map(({ file, words }) => `${file}: millrace ${words}`)).to.deep.equal([]);
  });
});
