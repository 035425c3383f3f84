import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { startService, type RunningService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';

const FILES = {
  'schemas/entities/product.yaml': `
entity: product
extends: ProductEntity
attributes:
  title: string
  price: float
`,
  'schemas/features/product_stats.yaml': `
view: product_stats
of: [product]
features:
  orders: int
`,
  'schemas/features/daily.yaml': `
view: daily
of: [product]
ttl: 1d
features:
  clicks: int
`,
  'pipelines/cheap.yaml': `
pipeline: cheap
route: /api/v1/cheap-first
rank: product
features: [product_stats]
components:
  - use: score
    with: { value: 'coalesce(product_stats:orders, 0) - product.price' }
`,
  'pipelines/dear.yaml': `
pipeline: dear
score: product
components:
  - use: score
    with: { value: product.price }
answer: { is_dear: score > 2, title: product.title }
`,
};

const PRODUCTS = [
  '{"product_id":"a","title":"Red kettles","price":3}',
  '{"product_id":"b","title":"Blue kettle","price":1}',
  '{"product_id":"c","price":"dear"}',
  '{"product_id":"d","price":2}',
].join('\n');
const REQUEST = '{"candidates":[{"product_id":"a"},{"product_id":"b"},{"product_id":"d"}]}';

describe('millrace', () => {
  let root = '';
  let service: RunningService;
  before(async () => {
    root = await writeProject({ ...FILES, 'products.jsonl': PRODUCTS, 'request.json': REQUEST });
    service = await startService(
      loadSettings(
        { LOG_LEVEL: 'silent', PORT: '0' },
        { project: root, store: 'embedded', dataDir: join(root, 'served') },
      ),
    );
  });
  after(async () => {
    await service.close();
    await rm(root, { recursive: true });
  });

  /** Data commands work in the same way with the store of the settings and with a running service. */
  const targets: Readonly<Record<string, () => string[]>> = {
    'the store of the settings': () => [
      '--project',
      root,
      '--store',
      'embedded',
      '--data-dir',
      join(root, 'local'),
    ],
    'a running service': () => ['--project', root, '--url', service.url],
  };
  for (const [name, flags] of Object.entries(targets))
    describe(`with ${name}`, () => {
      it('loads entities and features, and ranks with them', async () => {
        const loaded = await millrace([
          'entities',
          'load',
          'product',
          join(root, 'products.jsonl'),
          ...flags(),
        ]);
        expect(loaded.code).to.equal(1);
        expect(loaded.stdout).to.match(/^3 product entities loaded into .* 1 refused\n$/);
        expect(loaded.stderr).to.match(/^line 3: .*price.*\nerror: 1 row was refused\n$/);

        const csv = 'product_id,orders,event_time\na,9,\n';
        const pushed = await millrace(
          ['features', 'load', 'product_stats', '-', '--format', 'csv', '--json', ...flags()],
          {
            stdin: csv,
          },
        );
        expect(pushed.stderr).to.equal('');
        expect(pushed.code).to.equal(0);
        expect(JSON.parse(pushed.stdout)).to.deep.include({ loaded: 1, refused: 0, older: 0 });

        const ranked = await millrace(['rank', 'cheap', join(root, 'request.json'), '--json', ...flags()]);
        expect(ranked.stderr).to.equal('');
        expect(JSON.parse(ranked.stdout)).to.deep.equal({
          ranked_candidates: [
            { candidate_id: 'a', ranked_score: 6 },
            { candidate_id: 'b', ranked_score: -1 },
            { candidate_id: 'd', ranked_score: -2 },
          ],
        });
        const table = await millrace(['rank', 'cheap', join(root, 'request.json'), ...flags()]);
        expect(table.stdout).to.match(/1 {2}a +6\.0+\n.*2 {2}b +-1\.0/s);
      });

      it('counts rows that repeat an id, and accepts whole numbers as ids', async () => {
        const rows = [
          { product_id: 71, price: 1 },
          { product_id: '072', price: 2 },
          { product_id: '71', price: 3 },
          ...Array.from({ length: 1500 }, (_, i) => ({ product_id: `many-${i % 1400}`, price: i })),
        ];
        const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
        const load = (...more: string[]): Promise<CommandResult> =>
          millrace(['entities', 'load', 'product', '-', ...more, ...flags()], { stdin: text });
        expect((await load()).stdout).to.match(
          /^1,503 product entities loaded .*, 0 refused, 101 repeated an id\n$/,
        );
        expect(JSON.parse((await load('--json')).stdout)).to.include({ loaded: 1503, duplicates: 101 });
        const body = '{"candidates":[{"product_id":71},{"product_id":"072"},{"product_id":"many-7"}]}';
        const ranked = await millrace(['rank', 'cheap', '-', '--json', ...flags()], { stdin: body });
        expect(JSON.parse(ranked.stdout)).to.deep.equal({
          ranked_candidates: [
            { candidate_id: '072', ranked_score: -2 },
            { candidate_id: '71', ranked_score: -3 },
            { candidate_id: 'many-7', ranked_score: -1407 },
          ],
        });
      });

      it('deletes feature rows by their keys, or by a file', async () => {
        const load = (csv: string): Promise<CommandResult> =>
          millrace(['features', 'load', 'product_stats', '-', '--format', 'csv', ...flags()], { stdin: csv });
        const remove = (...argv: string[]): Promise<CommandResult> =>
          millrace(['features', 'delete', 'product_stats', ...argv, ...flags()]);
        const rows = 'product_id,orders,event_time\nx,9,2026-01-31\ny,8,2026-01-31\nz,7,2026-01-31\n';
        await load(rows);
        const late = ['--event-time', '2026-01-30T12:00Z', '--json'];
        const older = await remove('--key', 'product_id=x', ...late);
        expect(older.stderr).to.equal('');
        expect(JSON.parse(older.stdout)).to.deep.include({ deleted: 0, refused: 0, older: 1 });
        const two = await remove('--key', 'product_id=x', '--key', 'product_id=a=b');
        expect(two.stdout).to.match(/^2 product_stats rows deleted from .* in .* s \(.*\/s\), 0 refused\n$/);
        // A file that was loaded can also be used for a deletion; its features are ignored.
        await writeFile(join(root, 'rows.csv'), `${rows}p,not a number,2026-01-31\n,1,2026-01-31\n`);
        const file = await remove(join(root, 'rows.csv'), '--json');
        expect(file.stderr).to.equal('line 6: the row has no product_id\nerror: 1 row was refused\n');
        // The deletion of x above has a later time than the deletion of the file.
        expect(JSON.parse(file.stdout)).to.deep.include({ deleted: 3, refused: 1, older: 1 });
        const again = await load(rows);
        expect(again.stdout).to.match(/^0 product_stats rows loaded .* 3 older than the stored row\n$/);
      });

      it('reports rows to delete that are missing or wrong', async () => {
        const remove = (...argv: string[]): Promise<CommandResult> =>
          millrace(['features', 'delete', ...argv, ...flags()]);
        const stats = 'product_stats';
        const cases: readonly (readonly [argv: readonly string[], stderr: RegExp])[] = [
          [[stats], /choose the rows with --key product_id=ID, or with a file/],
          [[stats, 'rows.csv', '--key', 'product_id=a'], /use --key or a file, not both/],
          [[stats, '--key', 'a'], /such as product_id=p1/],
          [
            [stats, '--key', 'product_id=a', '--event-time', 'soon'],
            /Expected epoch milliseconds, or ISO 8601/,
          ],
          [[stats, '--key', 'product_id=a', '--resume'], /rows of the command line cannot be resumed/],
          [
            [stats, '--key', 'produkt_id=a'],
            /row 1: the row has no product_id; .*did you mean "product_id"\?/,
          ],
          [['product_stat'], /there is no feature view product_stat/],
          [
            [stats, '--key', 'product_id=a', '--event-time', '1769851800'],
            /row 1: event_time: .*this looks like seconds: multiply by 1000/,
          ],
        ];
        for (const [argv, stderr] of cases) {
          const result = await remove(...argv);
          expect(result.stderr, argv.join(' ')).to.match(stderr);
          expect(result.code).not.to.equal(0);
        }
      });

      it('rejects event times in seconds, in CSV and in JSON lines', async () => {
        const load = (format: string, text: string): Promise<CommandResult> =>
          millrace(['features', 'load', 'product_stats', '-', '--format', format, ...flags()], {
            stdin: text,
          });
        for (const [format, text, line] of [
          ['csv', 'product_id,orders,event_time\ns,1,1769851800\n', 2],
          ['jsonl', '{"product_id":"s","orders":1,"event_time":1769851800}\n', 1],
        ] as const) {
          const { code, stderr } = await load(format, text);
          expect(code).to.equal(1);
          expect(stderr).to.match(
            new RegExp(`^line ${line}: event_time: .*this looks like seconds: multiply by 1000\n`),
          );
        }
        const columnData = [
          { name: 'product_id', data: ['s'], type: 'STRING' as const },
          { name: 'event_time', data: [1_769_851_800n], type: 'INT64' as const },
        ];
        const parquet = join(root, 'seconds.parquet');
        await writeFile(parquet, Buffer.from(parquetWriteBuffer({ columnData })));
        const rows = await millrace(['features', 'load', 'product_stats', parquet, ...flags()]);
        expect(rows.stderr).to.match(/^row 1: event_time: .*this looks like seconds: multiply by 1000\n/);
        const future = await load('jsonl', '{"product_id":"s","orders":1,"event_time":"9999-01-01"}');
        expect(future.stderr).to.match(/expected a time at most 3600 s after now/);
      });

      it('counts rows that are already expired, and warns if all rows are expired', async () => {
        const load = (text: string, ...more: string[]): Promise<CommandResult> =>
          millrace(['features', 'load', 'daily', '-', '--format', 'csv', ...more, ...flags()], {
            stdin: text,
          });
        const old = await load('product_id,clicks,event_time\na,1,2026-01-31\nb,1,2026-01-31\n', '--json');
        expect(JSON.parse(old.stdout)).to.deep.include({ loaded: 2, older: 0, expired: 2 });
        expect(old.stderr).to.equal(
          'warning: every row that was loaded is older than the ttl of its view, so rankings read all of them as expired; check event_time\n',
        );
        const some = await load('product_id,clicks,event_time\na,1,\nc,1,2026-01-31\n');
        expect(some.stdout).to.match(
          /^2 daily rows loaded .* 0 refused, 1 older than the ttl of the view\n$/,
        );
        expect(some.stderr).to.equal('');
      });

      it('gives a remedy for an id column with another name, and for a column with a misspelt name', async () => {
        const load = (text: string): Promise<CommandResult> =>
          millrace(['entities', 'load', 'product', '-', '--format', 'csv', ...flags()], { stdin: text });
        const keyless = await load('sku,price\na1,3\n');
        expect(keyless.stderr).to.contain(
          'error: there is no column product_id; found sku, price\nhelp: name the column that holds the id with --key\n',
        );
        const near = await load('productid,price\na1,3\na2,3\n');
        expect(near.stderr).to.contain(
          'help: name the column that holds the id with --key, e.g. --key productid\n',
        );
        expect(near.stderr).to.not.contain('line 2');
        const misspelt = await load('product_id,prise\na1,3\n');
        expect(misspelt.code).to.equal(0);
        expect(misspelt.stderr).to.equal(
          'warning: the project does not declare prise, so no pipeline reads that column; did you mean price?\n',
        );
        const foreign = await load('product_id,Preis in EUR,Name des Artikels\na1,3,lamp\n');
        expect(foreign.code).to.equal(0);
        expect(foreign.stderr).to.equal(
          'warning: the project declares nothing of this file but the id, and not Preis in EUR, Name des Artikels; name the columns as the schema does\n',
        );
      });

      it('loads the rows before a quote that is never closed, and reports its line', async () => {
        const text = 'product_id,title,price\nq1,one,1\nq2,"two,2\nq3,three,3\n';
        const cut = await millrace(['entities', 'load', 'product', '-', '--format', 'csv', ...flags()], {
          stdin: text,
        });
        expect(cut.code).to.equal(1);
        expect(cut.stdout).to.match(/^1 product entities loaded/);
        expect(cut.stderr).to.contain('error: line 3: a quote in this row is never closed');
        const { entities } = await service.app.entities.get({
          entity_type: 'product',
          entity_ids: ['q1', 'q2'],
        });
        if (flags().includes('--url'))
          expect([entities['q1']?.['price'], entities['q2']]).to.deep.equal([1, null]);
      });

      it('scores one entity, and explains the score', async () => {
        const body = '{"product":{"product_id":"new","price":5}}';
        const run = (...more: string[]): Promise<CommandResult> =>
          millrace(['rank', 'dear', '-', ...more, ...flags()], { stdin: body });
        const answer = { product_id: 'new', score: 5, is_dear: true, title: null };
        expect(JSON.parse((await run('--json')).stdout)).to.deep.equal(answer);
        const { stdout } = await run();
        expect(stdout).to.match(/product_id +new\nscore +5\nis_dear +true\ntitle +null\n/);
        const why = await run('--explain', '--contributions');
        expect(why.stdout).to.match(/ {2}score, step \d+, is 5 =\n {4}5 {2}product\.price: 5\n/);
        expect((await run('--contributions')).stderr).to.contain(
          '--contributions, --compare and --lift need --explain',
        );
        expect(why.stdout).to.match(/score from none to 5/);
        expect(why.stdout).to.match(
          /Values that the answer contains in addition to the score\n +is_dear +present +1\n +title +missing_entity\n/,
        );
        const plan = await millrace(['plan', 'dear', '--project', root]);
        expect(plan.stdout).to.match(/^dear: scores product at POST \/api\/v1\/dear\n/);
        expect(plan.stdout).to.match(/is_dear: score > 2/);
      });

      it('suggests the nearest valid name for a wrong name', async () => {
        for (const argv of [
          ['entities', 'load', 'prodct', join(root, 'products.jsonl')],
          ['features', 'load', 'product_stat', '-'],
          ['rank', 'cheep', join(root, 'request.json')],
        ]) {
          const result = await millrace([...argv, ...flags()], { stdin: '{"product_id":"a","orders":1}' });
          expect(result.code, argv.join(' ')).to.equal(1);
          expect(result.stderr).to.match(/did you mean "?(product|product_stats|cheap)"?\?/);
        }
      });

      it('reports every violation of a request', async () => {
        const body = '{"candidates":[{"product_id":1.5}],"user_page":-1}';
        const result = await millrace(['rank', 'cheap', '-', ...flags()], { stdin: body });
        expect(result.code).to.equal(1);
        expect(result.stderr).to.contain('/candidates/0/product_id').and.to.contain('/user_page');
      });
    });

  it('reads CSV by the types of the project', async () => {
    const csv = 'product_id,title,price\n007,,1.5\n';
    const flags = ['--format', 'csv', ...(targets['a running service']?.() ?? [])];
    const result = await millrace(['entities', 'load', 'product', '-', ...flags], { stdin: csv });
    expect(result).to.include({ code: 0, stderr: '' });
    const { entities } = await service.app.entities.get({ entity_type: 'product', entity_ids: ['007'] });
    expect({ ...entities['007'] }).to.deep.equal({ product_id: '007', price: 1.5 });
  });

  it('validates a project, and prints a summary', async () => {
    const good = await millrace(['validate', '--project', root]);
    expect(good.code).to.equal(0);
    expect(good.stdout).to.match(/^ok: 2 pipelines, 1 entity type \(and 5 built in\), 2 feature views/);

    const broken = {
      ...FILES,
      'pipelines/cheap.yaml': FILES['pipelines/cheap.yaml'].replace('.price', '.prize'),
    };
    const folder = await writeProject(broken);
    try {
      const bad = await millrace(['validate', '--project', folder]);
      expect(bad.code).to.equal(1);
      expect(bad.stdout).to.contain('pipelines/cheap.yaml:8:').and.to.contain('1 error');
      const json = await millrace(['validate', '--project', folder, '--json']);
      expect(json.code).to.equal(1);
      expect(JSON.parse(json.stdout)).to.deep.include({ ok: false, errors: 1 });
      for (const argv of [
        ['plan', 'cheap'],
        ['serve', '--store', 'embedded'],
      ]) {
        const result = await millrace([...argv, '--project', folder]);
        expect(result.code).to.equal(1);
        expect(result.stderr).to.contain('pipelines/cheap.yaml:8:');
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('prints a plan as text within 80 columns, and as JSON', async () => {
    const text = await millrace(['plan', 'cheap', '--project', root]);
    expect(text.stdout).to.contain('cheap: ranks product at POST /api/v1/cheap-first');
    expect(Math.max(...text.stdout.split('\n').map((line) => line.length))).to.be.at.most(80);
    const json = await millrace(['plan', 'cheap', '--project', root, '--json']);
    expect(JSON.parse(json.stdout)).to.deep.include({ pipeline: 'cheap', rank: 'product' });
  });

  it('validates a project with unused parts, and shows each as a warning at its place', async () => {
    const folder = await writeProject({
      ...FILES,
      'pipelines/cheap.yaml': FILES['pipelines/cheap.yaml'].replace(
        'components:',
        'define:\n  margin: product.price * 2\ncomponents:',
      ),
    });
    try {
      const { code, stdout } = await millrace(['validate', '--project', folder]);
      expect(code).to.equal(0);
      expect(stdout)
        .to.contain('warning[unused_definition]')
        .and.to.contain('  ^^^^^^')
        .and.to.contain('ok:');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('prints the warnings of a project with its plan', async () => {
    const unused = {
      ...FILES,
      'pipelines/cheap.yaml': FILES['pipelines/cheap.yaml'].replace(/value: .*}/, 'value: product.price }'),
    };
    const folder = await writeProject(unused);
    try {
      const { code, stdout, stderr } = await millrace(['plan', 'cheap', '--json', '--project', folder]);
      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.deep.include({ pipeline: 'cheap' });
      expect(stderr).to.contain('pipelines/cheap.yaml:5:').and.to.contain('unused_feature');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('counts words for text_match', async () => {
    const out = join(root, 'models', 'titles.json');
    const from = join(root, 'products.jsonl');
    const result = await millrace([
      'text-stats',
      'product.title',
      '--from',
      from,
      '--out',
      out,
      '--project',
      root,
    ]);
    expect(result.code).to.equal(0);
    expect(JSON.parse(await readFile(out, 'utf8'))).to.deep.include({
      documents: 2,
      frequencies: { blue: 1, kettle: 2, red: 1 },
    });
    const wrong = await millrace(['text-stats', 'product.titel', '--from', from, '--project', root]);
    expect(wrong.code).to.equal(1);
    expect(wrong.stderr).to.contain('did you mean title?');
  });

  it('names the command for help', async () => {
    const told = async (...argv: string[]): Promise<string> => (await millrace(argv)).stderr;
    expect(await told('valdate')).to.equal(
      "error: unknown command 'valdate'\n(Did you mean validate?)\nhelp: millrace --help\n",
    );
    expect(await told('entities', 'load', '--kee', 'id')).to.match(
      /\nhelp: millrace entities load --help\n$/,
    );
    expect(await told('evaluate', 'cheap', '--ledger', '--estimator', 'snips')).to.equal(
      "error: option '--ledger <DIR>' needs a value, found the option --estimator\nhelp: millrace evaluate --help\n",
    );
  });

  describe('distinguishes wrong usage from failure', () => {
    const wrong: readonly (readonly string[])[] = [
      [],
      ['nonsense'],
      ['serve', '--nonsense'],
      ['serve', '--port', 'http'],
      ['serve', '--store', 'MySQL'],
      ['plan'],
      ['rank', 'cheap', 'request.json', '--url', '127.0.0.1:5001'],
      ['rank', 'cheap', 'request.json', '--url', 'ftp://127.0.0.1'],
      ['entities', 'load', 'product', 'products.txt'],
      ['entities', 'load', 'product', '-', '--format', 'xml'],
      ['text-stats', 'product.title'],
      ['text-stats', 'title', '--from', 'products.jsonl'],
    ];
    for (const argv of wrong)
      it(`millrace ${argv.join(' ')}`, async () => {
        const result: CommandResult = await millrace(argv, { env: { MILLRACE_PROJECT: root } });
        expect(result.code).to.equal(2);
        expect(result.stderr).not.to.equal('');
        expect(result.stdout).to.equal('');
      });

    it('and help and version from both', async () => {
      expect(await millrace(['--version'])).to.deep.equal({ code: 0, stdout: '1.2.3\n', stderr: '' });
      expect((await millrace(['--help'])).code).to.equal(0);
      expect((await millrace(['entities', 'load', '--help'])).code).to.equal(0);
    });
  });

  it('reports that a file does not exist, or is not JSON', async () => {
    const missing = await millrace(['rank', 'cheap', join(root, 'none.json'), '--project', root]);
    expect(missing).to.include({ code: 1 });
    expect(missing.stderr).to.contain('the file does not exist');
    await writeFile(join(root, 'broken.json'), '{"candidates":');
    const broken = await millrace(['rank', 'cheap', join(root, 'broken.json'), '--project', root]);
    expect(broken.code).to.equal(1);
    expect(broken.stderr).to.contain('not JSON');
  });
});
