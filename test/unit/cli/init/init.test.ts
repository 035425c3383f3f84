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
  for (const [header, displayed] of [
    ['sku;title;description;image_url;brand;price;stock', 'title,image_url,brand,price,stock'],
    ['Artikelnr;Bezeichnung;Langtext;Bild 1;Marke;Preis;Bestand', 'bezeichnung,bild_1,marke,preis,bestand'],
    ['sku;title;description;media;brand;price;stock', 'title,media,brand,price,stock'],
  ] as const)
    it(`guesses what a card shows: ${header}`, () =>
      withFiles(
        {
          'products.csv': `${header}\n${BRANDS.map(
            (brand, at) =>
              `a${at};Trail shoe ${at};Light on stones;https://img${at % 2}.example:8443/${at}.jpg?w=1;${brand};${at},50;${at + 3}`,
          ).join('\n')}\n`,
        },
        async (root) => {
          const shop = join(root, 'shop');
          const { code, stderr } = await millrace([
            'init',
            shop,
            '--from',
            join(root, 'products.csv'),
            '--no-git',
          ]);
          expect(code, stderr).to.equal(0);
          const [title, image, brand, ...badges] = displayed.split(',');
          expect(await readFile(join(shop, 'schemas/entities/product.yaml'), 'utf8')).to.contain(
            `display:\n  title: ${title}\n  image: ${image}\n  subtitle: ${brand}\n  badges: [${badges.join(', ')}]\n`,
          );
          expect(await readFile(join(shop, 'millrace.yaml'), 'utf8')).to.contain(
            'image_hosts: ["img0.example:8443", "img1.example:8443"]\n',
          );
          const ranked = await millrace(['rank', 'search', '--query', 'shoe', '--json', '--project', shop]);
          expect(ranked.code, ranked.stderr).to.equal(0);
          expect(ranked.stdout).to.contain('"image": "https://img1.example:8443/1.jpg?w=1"');
        },
      ));

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
  npx --no millrace rank search --judged 'shoe 0' --explain
  npx --no millrace dev
then open http://127.0.0.1:5001/workbench?q=shoe+0
`.replace(/shoe.0(?!0)/g, (example) => example.replace('0', /--judged 'shoe (.*?)'/.exec(stdout)?.[1] ?? '')),
      );
      expect(await readdir(shop)).to.have.members([
        ...['.gitignore', '.millrace', 'README.md', 'judgments', 'millrace.yaml', 'package.json'],
        ...['pipelines', 'rows', 'schemas', 'statistics'],
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

      // The folder that the docs name for a data set is free.
      const built = await millrace([
        ...['dataset', 'build', 'search', '--judgments', join(shop, 'judgments', 'train.csv')],
        ...['--out', join(shop, 'data'), '--project', shop],
      ]);
      expect(built.code, built.stderr).to.equal(0);
    }));

  it('ranks what the words find by their score, also where only a part of a compound matches', () =>
    withFiles(
      {
        'p.csv': [
          'sku;titel;beschreibung',
          ...['a;Große Mütze', 'b;Große Lampe', 'c;Regenjacke', 'd;Große Regenjacke', 'e;Regenhose'].map(
            (row) => `${row};für die Straße und den Wald`,
          ),
          '',
        ].join('\n'),
      },
      async (root) => {
        const shop = join(root, 'shop');
        const made = await millrace(['init', shop, '--from', join(root, 'p.csv'), '--no-git']);
        expect(made.code, made.stderr).to.equal(0);
        const argv = ['rank', 'search', '--query', 'Große Jacke', '--json', '--project', shop];
        const { stdout, stderr } = await millrace(argv);
        const { ranked_candidates: ranked } = JSON.parse(stdout) as {
          readonly ranked_candidates: readonly {
            readonly candidate_id: string;
            readonly ranked_score: number;
          }[];
        };
        expect(ranked[0]?.candidate_id, stderr).to.equal('d');
        expect(ranked.find(({ candidate_id: id }) => id === 'c')?.ranked_score).to.be.above(0);
      },
    ));

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

  it('says how to convert a file that is not UTF-8, and searches for a title in one line', () =>
    withFiles({}, async (root) => {
      const rows = [
        `00001;"Regen\njacke"`,
        ...PRODUCTS.slice(1).map((row) => row.split(';', 2).join(';')),
        '9;Größe 42',
      ];
      await writeFile(join(root, 'p.csv'), Buffer.from(`sku;title\n${rows.join('\n')}\n`, 'latin1'));
      const made = await millrace(['init', join(root, 'shop'), '--from', join(root, 'p.csv'), '--no-git']);
      const text = made.stdout.replaceAll(/\s+/g, ' ');
      expect(text).to.include('1 rows are left out; the first: line 43: not encoded in UTF-8');
      expect(text).to.include('iconv -f WINDOWS-1252 -t UTF-8');
      expect(text).to.include("--query 'Regen jacke'");
    }));

  for (const [header, rows, key, told, shown] of [
    [
      'Name,Color',
      ['trail shoe one,red', 'wool jacket two,red'],
      'product_id',
      /no column is an id/,
      'wool jacket',
    ],
    ['title', ['trail shoe', 'winter jacket'], 'product_id', /no column is an id/, 'winter jacket'],
    [
      'id,title,price',
      ['1,trail shoe,1', '1,city shoe,2', '2,wool jacket,3'],
      'id',
      /1 rows repeat an id/,
      'wool jacket',
    ],
  ] as const)
    it(`searches a file with the columns ${header} and ${rows.length} rows`, () =>
      withFiles({ 'p.csv': `${header}\n${rows.join('\n')}\n` }, async (root) => {
        const shop = join(root, 'shop');
        const made = await millrace(['init', shop, '--from', join(root, 'p.csv'), '--no-git']);
        expect(made.code, made.stderr).to.equal(0);
        const text = made.stdout.replaceAll(/\s+/g, ' ');
        expect(text).to.include(`key ${key},`).and.match(told);
        const ranked = await millrace(['rank', 'search', '--query', 'jacket', '--project', shop]);
        expect(ranked.code, ranked.stderr).to.equal(0);
        expect(ranked.stdout).to.include(shown).and.not.include('shoe');
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
      const next = /npx --no millrace (rank search --query) '(.+)'\n/.exec(made.stdout);
      const found = await millrace([
        ...(next?.[1] ?? '').split(' '),
        next?.[2] ?? '',
        '--json',
        '--project',
        shop,
      ]);
      expect(JSON.parse(found.stdout), found.stderr).to.have.property('ranked_candidates').that.is.not.empty;
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
