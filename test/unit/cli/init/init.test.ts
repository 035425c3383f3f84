import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { millrace } from '../../../support/command-line.js';
import { BIN } from '../../../support/repository.js';
import { withFiles } from '../../../support/temporary-files.js';
import { itWith } from '../../../support/needs.js';
import { until } from '../../../support/until.js';

const BRANDS = ['Lumen', 'Vela', 'Arco'];
const PRODUCTS = Array.from(
  { length: 40 },
  (_, at) => `${String(at).padStart(5, '0')};shoe ${at};${BRANDS[at % 3] ?? ''};${at},50`,
);
const CSV = `sku;title;brand;price\n${PRODUCTS.join('\n')}\n`;
/** Twenty queries, of which one has an id that is no product. */
const JUDGMENTS = `query;sku;grade\n${Array.from({ length: 20 }, (_, at) =>
  [`shoe ${at};${String(at).padStart(5, '0')};3`, `shoe ${at};${at === 0 ? '99999' : '00030'};0`].join('\n'),
).join('\n')}\n`;

describe('millrace init', () => {
  it('says what it guessed, wrote and loaded', () =>
    withFiles({ 'products.csv': CSV, 'judgments.csv': JUDGMENTS }, async (root) => {
      const shop = join(root, 'shop');
      const files = ['--from', join(root, 'products.csv'), '--judgments', join(root, 'judgments.csv')];
      const { code, stdout, stderr } = await millrace(['init', shop, ...files, '--no-git']);
      expect(code, stderr).to.equal(0);
      expect(stdout.replaceAll(shop, 'shop')).to.equal(
        `products.csv   40 rows → product: key sku (text: leading zeros), title string,
  brand → ref (3), price float (decimal comma)
  ranked by the words of title, brand; and by price
judgments.csv   20 queries, 97.5 % of ids found → judgments/train.csv 12,
  judgments/test.csv 8
  an id that is no product: "99999"
wrote 11 files; loaded 40 products (embedded)
next:
  cd shop
  npx --no millrace rank search --judged "shoe 0" --explain
`.replace('"shoe 0"', /--judged (".*?")/.exec(stdout)?.[1] ?? ''),
      );
      expect(await readdir(shop)).to.have.members([
        ...['.gitignore', '.millrace', 'README.md', 'data', 'judgments', 'millrace.yaml', 'package.json'],
        ...['pipelines', 'schemas', 'statistics'],
      ]);
      const [train = '', test = ''] = await Promise.all(
        ['train', 'test'].map((part) => readFile(join(shop, 'judgments', `${part}.csv`), 'utf8')),
      );
      const queriesOf = (text: string): Set<string> =>
        new Set(
          text
            .trim()
            .split('\n')
            .slice(1)
            .map((line) => line.split(',')[0] ?? ''),
        );
      expect(queriesOf(train).size).to.equal(12);
      expect([...queriesOf(test)].filter((query) => queriesOf(train).has(query))).to.deep.equal([]);
      const first = (await readFile(join(shop, 'pipelines', 'search.yaml'), 'utf8')).split('\n')[0] ?? '';
      const schema = first.slice(first.indexOf('=') + 1);
      expect(existsSync(join(shop, 'pipelines', schema)), schema).to.equal(true);

      const query = [...queriesOf(test)][0] ?? '';
      const ranked = await millrace(['rank', 'search', '--judged', query, '--explain', '--project', shop]);
      expect(ranked.stdout, ranked.stderr).to.match(/^place +product +title +score +text/);
    }));

  it('leaves a folder that is not empty as it is, and lists what is in the way', () =>
    withFiles({ 'p.csv': CSV, 'shop/notes.txt': 'mine', 'shop/package.json': '{}' }, async (root) => {
      const shop = join(root, 'shop');
      const { code, stderr } = await millrace(['init', shop, '--from', join(root, 'p.csv')]);
      expect(code).to.equal(1);
      expect(stderr.replaceAll(shop, 'shop')).to.equal(
        'error: the folder shop is not empty; nothing is written. It has notes.txt\n' +
          'help: name a new folder: millrace init shop-ranking\n',
      );
      expect(await readdir(shop)).to.have.members(['notes.txt', 'package.json']);
    }));

  it('keeps the package.json of npm, and takes its file from the same folder', () =>
    withFiles({ 'p.csv': CSV, 'package.json': '{"name":"mine"}' }, async (root) => {
      const { code, stdout, stderr } = await millrace([
        'init',
        root,
        '--from',
        join(root, 'p.csv'),
        '--no-git',
      ]);
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain('left package.json as it was');
      expect(await readFile(join(root, 'package.json'), 'utf8')).to.equal('{"name":"mine"}');
      expect(existsSync(join(root, 'pipelines', 'search.yaml'))).to.equal(true);
    }));

  it('leaves nothing behind if it fails', () =>
    withFiles({ 'p.csv': CSV, 'j.csv': 'query,sku,grade\nshoe,nobody,1\n' }, async (root) => {
      const files = ['--from', join(root, 'p.csv'), '--judgments', join(root, 'j.csv')];
      const { code, stderr } = await millrace(['init', join(root, 'a', 'shop'), ...files]);
      expect(code).to.equal(1);
      expect(stderr.replaceAll(`${root}/`, '')).to.equal(
        'error: no id of j.csv is a sku of p.csv; for example nobody\n' +
          'help: name the column of the products that the judgments mean: --key COLUMN\n',
      );
      expect(await readdir(root)).to.have.members(['p.csv', 'j.csv']);
      const absent = await millrace(['init', join(root, 'a'), '--from', join(root, 'none.csv')]);
      expect(absent.stderr.replaceAll(`${root}/`, '')).to.equal(
        'error: cannot open none.csv: the file does not exist\n',
      );
      await mkdir(join(root, 'empty'));
      await writeFile(join(root, 'bad.csv'), 'a"b\n');
      const bad = await millrace(['init', join(root, 'empty'), '--from', join(root, 'bad.csv')]);
      expect(bad.code).to.equal(1);
      expect(await readdir(join(root, 'empty'))).to.deep.equal([]);
    }));

  it('leaves nothing behind after a signal', () =>
    withFiles(
      { 'p.csv': `sku;title\n${Array.from({ length: 300_000 }, (_, at) => `${at};t`).join('\n')}\n` },
      async (root) => {
        const argv = [BIN, 'init', 'a/shop', '--from', 'p.csv'];
        const child = spawn(process.execPath, argv, { cwd: root, stdio: 'ignore' });
        const ended = once(child, 'close');
        await until('the folder', () => existsSync(join(root, 'a', 'shop')));
        child.kill('SIGINT');
        const [, signal] = (await ended) as [number | null, string | null];
        expect(signal).to.equal('SIGINT');
        expect(await readdir(root)).to.deep.equal(['p.csv']);
      },
    ));

  it('starts with an example shop if no file is named', () =>
    withFiles({}, async (root) => {
      const shop = join(root, 'shop');
      const made = await millrace(['init', shop, '--no-git']);
      expect(made.stdout, made.stderr).to.contain('loaded 5,000 products');
      const where = 'product.price < 100 and product.number_in_stock > 0';
      const argv = ['rank', 'search', '--all', where, '--query', 'desk chair', '--json', '--project', shop];
      const ranked = await millrace(argv);
      const answer = JSON.parse(ranked.stdout) as { readonly ranked_candidates: readonly unknown[] };
      expect(answer.ranked_candidates.length).to.be.above(5);
    }));

  itWith('git', 'commits the files, unless the folder is in a repository', () =>
    withFiles({ 'p.csv': CSV }, async (root) => {
      const shop = join(root, 'shop');
      const made = await millrace(['init', shop, '--from', join(root, 'p.csv')]);
      expect(made.stderr).to.equal('');
      expect(existsSync(join(shop, '.git', 'HEAD'))).to.equal(true);
      const inner = await millrace(['init', join(shop, 'inner'), '--from', join(root, 'p.csv')]);
      expect(inner.stderr).to.equal(
        'commit the files, so that evaluate --against git:HEAD can compare with them\n',
      );
    }),
  );
});
