import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Random } from '../../../../runtime/ground/core/random.js';
import { millrace } from '../../../support/command-line.js';
import { withFiles } from '../../../support/temporary-files.js';

/**
 * Queries whose grades follow column 2 and, less, column 40. Column 3 is 7 in all lines, column 5 is 0 or left out.
 * @param form how the query of a line is written
 */
function letor(from: number, queries: number, form: 'qid' | 'sizes' = 'qid'): string {
  const random = new Random(from + 1);
  const lines = Array.from({ length: 10 * queries }, (_, at) => {
    const [first, second] = [random.next(), random.next()];
    const query = from + Math.floor(at / 10);
    const grade = Math.min(2, Math.floor(2 * first + second));
    const own = form === 'qid' ? `qid:${query} ` : '';
    const last = second < 0.2 ? '' : ` 40:${second.toFixed(4)}`;
    return `${grade} ${own}2:${first.toFixed(4)} 3:7 5:0${last} #docid = D${query}-${at}\n`;
  });
  return `# made by a test\n${lines.join('')}`;
}

const FOLDER = {
  'set/train.txt': letor(0, 60),
  'set/vali.txt': letor(60, 10),
  'set/test.txt': letor(70, 30),
  'set/README.md': 'not judgments',
};

describe('millrace init with LibSVM judgments alone', () => {
  it('makes a project whose requests carry the columns', () =>
    withFiles(FOLDER, async (root) => {
      const shop = join(root, 'shop');
      const made = await millrace(['init', shop, '--judgments', join(root, 'set'), '--no-git']);
      expect(made.code, made.stderr).to.equal(0);
      expect(made.stdout).to.contain(
        'train.txt   60 queries, 600 lines, grades 0 to 2; 2 columns, f2 to f40\n',
      );
      expect(made.stdout).to.contain('columns f3, f5 left out: one value in all lines\n');
      expect(made.stdout).to.contain('test.txt   30 queries, 300 lines, grades 0 to 2\n');
      expect(made.stdout).to.contain('npx --no millrace evaluate search --judgments ../set/test.txt\n');
      expect((await millrace(['validate', '--project', shop])).code).to.equal(0);
      const ranked = await millrace([
        'rank',
        'search',
        join(shop, 'request.json'),
        '--project',
        shop,
        '--json',
      ]);
      expect(ranked.code, ranked.stderr).to.equal(0);
      expect(ranked.stdout).to.contain('D0-4');
      const built = await millrace([
        ...['dataset', 'build', 'search', '--judgments', join(root, 'set/train.txt')],
        ...['--out', join(root, 'data'), '--project', shop],
      ]);
      expect(built.code, built.stderr).to.equal(0);
      expect(built.stdout).to.contain('60 requests');
    }));

  it('takes one file, and the sizes of its queries beside it', () =>
    withFiles(
      { 'rank.train': letor(0, 12, 'sizes'), 'rank.train.query': '10\n'.repeat(12) },
      async (root) => {
        const shop = join(root, 'shop');
        const made = await millrace([
          ...['init', shop, '--judgments', join(root, 'rank.train'), '--no-git', '--json'],
        ]);
        expect(made.code, made.stderr).to.equal(0);
        expect(JSON.parse(made.stdout)).to.deep.equal({
          judgments: { train: { file: join(root, 'rank.train'), queries: 12, rows: 120 } },
          columns: ['f2', 'f40'],
          constant: ['f3', 'f5'],
          leaked: 0,
          files: 7,
        });
        expect(await readFile(join(shop, 'README.md'), 'utf8')).to.not.contain('evaluate');
      },
    ));

  it('warns of queries that are in the test too', () =>
    withFiles({ 'set/train.txt': letor(0, 12), 'set/test.txt': letor(6, 12) }, async (root) => {
      const made = await millrace(['init', join(root, 'shop'), '--judgments', join(root, 'set'), '--no-git']);
      expect(made.stdout).to.contain('warning: 6 queries of the test also in train.txt');
    }));

  it('does not take the numbers of queries for their names', () => {
    const [train, test] = ['set/rank.train', 'set/rank.test'];
    const files = {
      ...{ [train]: letor(0, 12, 'sizes'), [`${train}.query`]: '10\n'.repeat(12) },
      ...{ [test]: letor(12, 6, 'sizes'), [`${test}.query`]: '10\n'.repeat(6) },
    };
    return withFiles(files, async (root) => {
      const made = await millrace(['init', join(root, 'shop'), '--judgments', join(root, 'set'), '--no-git']);
      expect(made.stdout).to.contain('rank.test   6 queries, 60 lines').and.not.contain('warning');
    });
  });

  it('takes the only file of a folder, whatever its name', () =>
    withFiles({ 'set/mq2008.txt': letor(0, 12), 'set/README.md': 'x' }, async (root) => {
      const made = await millrace(['init', join(root, 'shop'), '--judgments', join(root, 'set'), '--no-git']);
      expect(made.stdout, made.stderr).to.contain('mq2008.txt   12 queries');
    }));

  it('asks for the products of judgments that name them', () =>
    withFiles({ 'judgments.csv': 'query,id,grade\nlamp,a,1\n' }, async (root) => {
      const made = await millrace(['init', join(root, 'shop'), '--judgments', join(root, 'judgments.csv')]);
      expect(made.code).to.equal(2);
      expect(made.stderr).to.contain('so --from FILE must name the file of the products');
    }));

  const MISTAKES: Readonly<Record<string, readonly [files: Record<string, string>, told: string]>> = {
    'no file to train on': [
      { 'set/test.txt': letor(0, 3), 'set/vali.txt': letor(3, 3) },
      'has no file of judgments to train on',
    ],
    'a folder of folds': [{ 'set/Fold1/train.txt': letor(0, 3) }, 'set/Fold1'],
    'two files to train on': [
      { 'set/set1.train.txt': letor(0, 3), 'set/set2.train.txt': letor(0, 3) },
      'two files to train on: set1.train.txt and set2.train.txt',
    ],
    'another format': [{ 'set/train.txt': 'query,id,grade\na,b,1\n' }, 'is not in the LibSVM format'],
    'a line that cannot be read': [
      { 'set/train.txt': `${letor(0, 3)}1 qid:9 2:x\n` },
      'line 32: expected column:value with two numbers, found "2:x"',
    ],
    'columns that do not vary': [{ 'set/train.txt': '1 qid:1 1:3\n0 qid:1 1:3\n' }, 'no column of'],
    'no lines': [{ 'set/train.txt': '' }, 'is not in the LibSVM format'],
  };
  for (const [title, [files, told]] of Object.entries(MISTAKES))
    it(`says what is wrong with ${title}, and writes nothing`, () =>
      withFiles(files, async (root) => {
        const shop = join(root, 'shop');
        const { code, stderr } = await millrace(['init', shop, '--judgments', join(root, 'set'), '--no-git']);
        expect(code).to.equal(1);
        expect(stderr.replaceAll(/\s+/g, ' ')).to.contain(told);
        expect(await readFile(join(shop, 'README.md'), 'utf8').catch(() => 'none')).to.equal('none');
      }));

  it('refuses flags that are of products', () =>
    withFiles({ ...FOLDER, 'products.csv': 'id,title\na,b\n' }, async (root) => {
      const init = ['init', join(root, 'shop'), '--judgments', join(root, 'set'), '--no-git'];
      const key = await millrace([...init, '--key', 'sku']);
      expect([key.code, key.stderr.includes('--key cannot be used with LibSVM')]).to.deep.equal([2, true]);
      const from = await millrace([...init, '--from', join(root, 'products.csv')]);
      expect([from.code, from.stderr.includes('name the file of the judgments')]).to.deep.equal([2, true]);
    }));
});
