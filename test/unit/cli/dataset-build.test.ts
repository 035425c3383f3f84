import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Manifest } from '../../../runtime/learn/dataset/manifest.js';
import { millrace } from '../../support/command-line.js';
import { withFiles } from '../../support/temporary-files.js';

const PROJECT = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, stock: int }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  query: query
components:
  - use: filter
    with: { keep: product.stock > 0 }
  - use: text_match
    as: title
    with: { query: query.query, field: product.title }
  - use: linear
    as: relevance
    with: { weights: { "title:overlap": 1, product.price: 0.01 } }
  - use: score
    with: { value: relevance:score }
page: { size: 1, max_size: 2 }
`,
  'products.jsonl': [
    { product_id: 'p1', title: 'Desk lamp', price: 1, stock: 1 },
    { product_id: 'p2', title: 'Lamp shade', stock: 1 },
    { product_id: 'p3', title: 'Kettle', price: 3, stock: 1 },
    { product_id: 'p4', title: 'Lamp', price: 4, stock: 0 },
  ]
    .map((product) => `${JSON.stringify(product)}\n`)
    .join(''),
  'judgments.csv':
    'query,product_id,grade\nlamp,p1,2\nlamp,p2,0\nlamp,p3,\nlamp,p4,3\nkettle,p3,0.5\nkettle,p1,0\n',
};

describe('millrace dataset build', () => {
  it('makes a data set of judged queries: what models read, the grade, and which rows have one', () =>
    withFiles(PROJECT, async (root) => {
      const store = ['--project', root, '--store', 'embedded'];
      await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
      const out = join(root, 'set');
      const result = await millrace([
        ...['dataset', 'build', 'search', '--judgments', join(root, 'judgments.csv'), '--out', out],
        ...['--format', 'csv', '--split', 'hash:request:100%', '--json', ...store],
      ]);
      expect(result.code, result.stderr).to.equal(0);
      const manifest = JSON.parse(result.stdout) as Manifest;
      expect(manifest).to.deep.include({
        source: 'judgments',
        pipeline: 'search',
        examined: { rule: 'judged', propensities: false },
      });
      expect(manifest.attribution).to.include({ by_request: 4, orphans: 1 });
      const [head = '', ...rows] = readFileSync(join(out, 'train.csv'), 'utf8').trimEnd().split('\n');
      const names = head.split(',');
      expect(names).to.include.members(['title:overlap', 'product.price']);
      const shown = ['request_id', 'candidate_id', 'place', 'label', 'examined', 'product.price'];
      const cells = rows.map((row) => {
        const values = row.split(',');
        return shown.map((name) => values[names.indexOf(name)]).join(' ');
      });
      // The data set has the candidates of all pages, though a page shows only two. The sold-out product was removed.
      expect(cells.sort()).to.deep.equal([
        'kettle p1 2 0 true 1',
        'kettle p3 1 0.5 true 3',
        'lamp p1 1 2 true 1',
        'lamp p2 3 0 true ',
        'lamp p3 2 0 false 3',
      ]);
    }));

  it('names the flag for the format of judgments where the name of the file does not show it', () =>
    withFiles({ ...PROJECT, 'judged.data': 'x' }, async (root) => {
      const argv = [
        'dataset',
        'build',
        'search',
        '--judgments',
        join(root, 'judged.data'),
        '--project',
        root,
      ];
      const { stderr } = await millrace([...argv, '--store', 'embedded', '--out', join(root, 'data')]);
      expect(stderr).to.contain('or set it with --judgment-format');
    }));

  const wrong: readonly (readonly [string, string])[] = [
    ['--attribute order=last_click:7d', '--attribute order=…: order has no grade; add it to --label'],
    ['--split hash:user:80% --gap 1d', '--gap is for a split by time; a split by a hash has no gap'],
    ['--judgments j.csv', '--judgments needs the name of a pipeline; the project has brands, ranking'],
    ['--judgments j.csv --label click=1 p', '--label is for a ledger; leave it out with --judgments'],
    [
      '--judgments j.csv --split time:80% p',
      'judgments have no time; split them by a hash, e.g. --split hash:request:80%',
    ],
    [
      '--sql duckdb',
      '--sql needs the name of a pipeline, and --ledger with the folder that `ledger compact` wrote',
    ],
    ['--window soon', 'expected a time span, e.g. 7d or 12h; found soon'],
    ['--label click', 'expected KIND=GRADE with a grade of 0 or more, found click'],
    ['--examined all', 'expected page or last_click+K, e.g. last_click+2; found all'],
    ['--split 80%', 'expected time:SHARE or hash:TYPE:SHARE, e.g. time:80%; found 80%'],
    ['--since yesterday', 'expected a time, e.g. 2026-11-20 or 2026-11-20T12:00Z; found yesterday'],
    ['--add ctr', 'expected VIEW:FEATURE, e.g. product_stats:ctr_7d; found ctr'],
  ];
  for (const [words, message] of wrong)
    it(`refuses ${words}`, async () => {
      const { code, stderr } = await millrace(['dataset', 'build', '--out', '/nowhere', ...words.split(' ')]);
      expect(stderr).to.contain(message);
      expect(code).to.equal(2);
    });

  describe('--sql', () => {
    const files = {
      ...PROJECT,
      'schemas/entities/product.yaml': 'entity: product\nattributes: { brand: ref(brand) }\n',
      'schemas/entities/brand.yaml': 'entity: brand\n',
      'schemas/features/stats.yaml':
        'view: stats\nof: [brand, user, product]\nhistory: true\nfeatures: { ctr: float, tier: string, seen: timestamp }\n',
      'schemas/features/now.yaml': 'view: now\nof: [product]\nfeatures: { ctr: float }\n',
      'pipelines/search.yaml':
        'pipeline: search\nrank: product\nrequest: { user: user }\ncomponents:\n  - use: score\n    with: { value: product.brand.name }\n',
    };
    const sqlOf = (root: string, dialect: string, ...more: readonly string[]): ReturnType<typeof millrace> =>
      millrace([
        ...['dataset', 'build', 'search', '--project', root, '--ledger', "s3a://it's/l", '--out', 's3a://o'],
        ...['--sql', dialect, ...more],
      ]);

    for (const [dialect, brand, tier] of [
      ['duckdb', '"product.brand" AS millrace_key_0_0', '"stats:tier"'],
      ['spark', '`product.brand` AS millrace_key_0_0', '`stats:tier`'],
    ] as const)
      it(`finds the keys of views in the project, and reads nothing, for ${dialect}`, () =>
        withFiles(files, async (root) => {
          const { stdout, stderr, code } = await sqlOf(root, dialect, '--add', 'stats:ctr', 'stats:tier');
          expect(code, stderr).to.equal(0);
          expect(stdout).to.contain(brand).and.to.contain(`h0.value_1 AS ${tier}`);
          expect(stdout).to.match(
            /SELECT c\.millrace_key_0_0 AS key_0, substr\(.*'user='.*, 6\) AS key_1, l\.candidate_id AS key_2/,
          );
          expect(stdout).to.contain(
            dialect === 'spark' ? String.raw`'s3a://it\'s/l/history'` : "'s3a://it''s/l/history/",
          );
        }));

    for (const [added, message] of [
      ['stat:ctr', 'the project has no view stat with a history'],
      ['now:ctr', 'the project has no view now with a history'],
      ['stats:crt', 'the view stats has no feature crt'],
      ['stats:seen', '--sql joins numbers and texts; stats:seen is a timestamp'],
    ] as const)
      it(`refuses --add ${added}`, () =>
        withFiles(files, async (root) => {
          const { stderr, code } = await sqlOf(root, 'spark', '--add', added);
          expect(code).to.not.equal(0);
          expect(stderr).to.contain(message);
        }));
  });
});
