import { expect } from 'chai';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readPropensities } from '../../../runtime/learn/training/propensities.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { withFiles } from '../../support/temporary-files.js';

const FILES = {
  'pipelines/shop.yaml':
    'pipeline: shop\nrank: product\nrequest: {}\ncomponents: []\nlog: { features: all, candidates: all }\n',
  'pipelines/next.yaml': 'pipeline: next\nrank: product\nrequest: {}\ncomponents: []\n',
  'a-file': 'text',
  'broken/manifest.json': '{ "format": 1,',
  'no-list.json': '[1, 0.5',
  'judgments.csv': 'query,product_id,grade\ntv,p1,1\ntv,p2,0\n',
};

const WITH_PRODUCTS = {
  ...FILES,
  'products.csv': 'id,title\n1,tv\n2,radio\n',
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { title: string }\n',
};

/** The commands that read a ledger, with the words that name it. */
const READERS: Readonly<Record<string, (root: string, ledger: string) => string[]>> = {
  'ledger cat': (_, ledger) => ['ledger', 'cat', ledger],
  'ledger compact': (root, ledger) => [
    ...['ledger', 'compact', '--ledger', ledger, '--out', join(root, 'out')],
  ],
  'ledger stats': (_, ledger) => ['ledger', 'stats', '--ledger', ledger],
  'ledger replay': (root, ledger) => ['ledger', 'replay', ledger, '--project', root],
  'dataset build': (root, ledger) => ['dataset', 'build', '--ledger', ledger, '--out', join(root, 'out')],
  diff: (root, ledger) => [
    ...['diff', 'shop', 'next', '--ledger', ledger, '--project', root],
    ...['--store', 'embedded', '--data-dir', join(root, 'data')],
  ],
  evaluate: (root, ledger) => [
    ...['evaluate', 'shop', '--ledger', ledger, '--project', root],
    ...['--store', 'embedded', '--data-dir', join(root, 'data')],
  ],
};

describe('a folder or a file that is not there', () => {
  for (const [command, words] of Object.entries(READERS)) {
    it(`${command} says that there is no ledger, and how to get one`, () =>
      withFiles(FILES, async (root) => {
        const ledger = join(root, 'none');
        const { code, stdout, stderr } = await millrace(words(root, ledger));
        expect({ code, stdout, stderr }).to.deep.equal({
          code: 1,
          stdout: '',
          stderr:
            `error: there is no ledger at ${ledger}\nhelp: name its folder, or set ledger.dir; a service writes ` +
            'a ledger if a pipeline has `log:`, and so does `millrace ledger import`\n',
        });
      }));

    it(`${command} warns of a folder without segments`, () =>
      withFiles(FILES, async (root) => {
        const ledger = join(root, 'pipelines');
        const { stderr } = await millrace(words(root, ledger));
        expect(stderr).to.contain(`warning: ${ledger} has no segment of a ledger (*.mlr)\n`);
      }));
  }

  const failure = async (words: readonly string[]): Promise<string> => {
    const { code, stderr }: CommandResult = await millrace(words);
    expect(code, stderr).to.equal(1);
    return stderr;
  };

  it('ledger stats says what is wrong with the manifest of --against', () =>
    withFiles(FILES, async (root) => {
      mkdirSync(join(root, 'ledger'));
      const stats = ['ledger', 'stats', '--ledger', join(root, 'ledger'), '--against'];
      expect(await failure([...stats, join(root, 'none')])).to.contain(
        'none/manifest.json: no such file or folder\nhelp: name the folder that dataset build wrote\n',
      );
      const broken = await failure([...stats, join(root, 'broken')]);
      expect(broken).to.match(/broken\/manifest\.json: .*\nhelp: name the folder that dataset build wrote\n/);
      expect(broken).not.to.contain('position');
    }));

  it('--propensities says what is wrong with its file', () =>
    withFiles(FILES, async (root) => {
      const problemOf = (name: string): Promise<unknown> =>
        readPropensities(join(root, name)).catch((error: unknown) => error);
      const help = 'expected a list such as [1, 0.7, 0.55]';
      expect(await problemOf('none.json'))
        .to.include({ help })
        .and.to.have.property('message')
        .that.matches(/none\.json: no such file or folder$/);
      expect(await problemOf('no-list.json'))
        .to.include({ help })
        .and.to.have.property('message')
        .that.matches(/^cannot read .*no-list\.json: /);
    }));

  it('evaluate says in words why it cannot write a report', () =>
    withFiles(FILES, async (root) => {
      const report = join(root, 'none', 'junit.xml');
      const message = await failure([
        ...['evaluate', 'shop', '--judgments', join(root, 'judgments.csv'), '--junit', report],
        ...['--project', root, '--store', 'embedded', '--data-dir', join(root, 'data')],
      ]);
      expect(message).to.contain(`error: cannot write ${report}: no such file or folder\n`);
    }));

  for (const words of [
    ['evaluate', 'shp', '--judgments', 'judgments.csv'],
    ['tune', 'shp', '--judgments', 'judgments.csv'],
    ['diff', 'shop', 'shp', '--requests', 'none.jsonl'],
    ['dataset', 'build', 'shp', '--judgments', 'judgments.csv', '--out', 'out'],
  ])
    it(`${words[0] ?? ''} finds the pipeline before it opens the store`, () =>
      withFiles(FILES, async (root) => {
        const store = ['--store', 'embedded', '--data-dir', join(root, 'data')];
        expect(await failure([...words, '--project', root, ...store])).to.contain(
          'error[unknown_pipeline]: the project has no pipeline shp; did you mean shop?',
        );
        expect(existsSync(join(root, 'data'))).to.equal(false);
      }));

  for (const [command, ...words] of [
    ['init', 'new', '--from', 'a-file'],
    ['init', 'new', '--from', 'products.csv', '--judgments', 'a-file'],
    ['diff', 'shop', 'next', '--requests', 'a-file'],
    ['evaluate', 'shop', '--judgments', 'a-file'],
    ['entities load', 'product', 'a-file'],
    ['text-stats', 'product.title', '--from', 'a-file'],
  ] as const)
    it(`${[command, ...words].join(' ')} names only flags that it has, if the name of the file shows no format`, () =>
      withFiles(WITH_PRODUCTS, async (root) => {
        const own = command === 'init' ? [] : ['--project', root, '--store', 'embedded', '--data-dir', root];
        const argv = words.map((word) => (/^a-file$|\.csv$|^new$/.test(word) ? join(root, word) : word));
        const { code, stderr } = await millrace([...command.split(' '), ...argv, ...own]);
        expect(code).to.equal(2);
        expect(stderr).to.contain(`error: cannot tell the format of ${join(root, 'a-file')} by its name`);
        const { stdout: help } = await millrace([...command.split(' '), '--help']);
        expect(stderr.includes('--format'), stderr).to.equal(help.includes(' --format '));
        expect(existsSync(join(root, 'new'))).to.equal(false);
      }));

  it('a folder that cannot be written is no fault of the program', () =>
    withFiles(FILES, async (root) => {
      mkdirSync(join(root, 'ledger'));
      const message = await failure([
        ...['ledger', 'compact', '--ledger', join(root, 'ledger'), '--out', join(root, 'a-file/out')],
      ]);
      expect(message).to.match(/error: cannot use .*a-file\/out.*: a part of the path is a file\n/);
      expect(message).not.to.contain('    at ');
    }));
});
