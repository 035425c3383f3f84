import { execFileSync } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { itWith } from '../../../support/needs.js';
import { writeProject } from '../../../support/project.js';

const PIPELINE = (name: string, value: string, more = ''): string => `
pipeline: ${name}
rank: product
request:
  candidates: { search_score: float }
  query: query
  user: optional(user)
  device: optional(string)
${more}components:
  - use: filter
    with: { keep: product.stock > 0 }
  - use: score
    with: { value: '${value}' }
page: { size: 2, max_size: 3 }
`;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, stock: int }\n',
  'schemas/entities/query.yaml': 'entity: query\nkey: query\nattributes: { department: string }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { rich: bool }\n',
  'pipelines/cheap.yaml': PIPELINE('cheap', '0 - product.price'),
  'pipelines/dear.yaml': PIPELINE('dear', 'product.price'),
  'pipelines/sent.yaml': PIPELINE(
    'sent',
    'coalesce(product.search_score, 0) + if(request.device == "kiosk", 1, 0)',
  ),
  'pipelines/answer.yaml':
    'pipeline: answer\nscore: product\ncomponents:\n  - use: score\n    with: { value: product.price }\n',
  'pipelines/people.yaml':
    'pipeline: people\nrank: product\nrequest: { user: user, device: string }\ncomponents:\n  - use: score\n    with: { value: 0 - product.price }\n',
  'pipelines/visitors.yaml':
    'pipeline: visitors\nrank: user\ncomponents:\n  - use: score\n    with: { value: 1 }\n',
  'products.jsonl': [1, 2, 3, 4, 5, 6, 7, 8]
    .map((price) => `{"product_id":"00${price}","price":${price},"stock":${price === 8 ? 0 : 1}}\n`)
    .join(''),
  'queries.jsonl': '{"query":"tv","department":"video"}\n{"query":"lamp","department":"home"}\n',
  'judgments.csv': `query,id,grade
tv,001,3
tv,002,0
tv,003,1
tv,004,0
tv,005,0
lamp,006,0
lamp,007,1
nothing,001,0
`,
};

describe('millrace evaluate', () => {
  let root = '';
  let store: string[] = [];
  before(async () => {
    root = await writeProject(FILES);
    store = ['--project', root, '--store', 'embedded'];
    await run('entities', 'load', 'product', join(root, 'products.jsonl'));
    await run('entities', 'load', 'query', join(root, 'queries.jsonl'));
  });
  after(() => rm(root, { recursive: true }));

  const run = (...argv: string[]): Promise<CommandResult> => millrace([...argv, ...store]);
  const at = (name: string): string => join(root, name);

  /** Runs the command on a file of judgments. */
  async function evaluate(
    pipeline: string,
    judgments: string | readonly [name: string, text: string],
    ...argv: string[]
  ): Promise<CommandResult> {
    const name = typeof judgments === 'string' ? judgments : judgments[0];
    if (typeof judgments !== 'string') await writeFile(at(name), judgments[1]);
    return run('evaluate', pipeline, '--judgments', at(name), ...argv);
  }

  interface Json {
    readonly metrics: readonly {
      readonly metric: string;
      readonly queries: number;
      readonly mean: number;
      readonly lower: number;
      readonly delta?: { readonly mean: number; readonly baseline: number; readonly p: number };
    }[];
    readonly [name: string]: unknown;
  }

  async function json(...argv: Parameters<typeof evaluate>): Promise<Json> {
    const result = await evaluate(...argv, '--json');
    expect(result.stderr).to.equal('');
    return JSON.parse(result.stdout) as Json;
  }

  const valueOf = (found: Json, metric: string): number =>
    found.metrics.find((one) => one.metric === metric)?.mean ?? NaN;

  it('reranks the judged candidates of each query, over all pages', async () => {
    const found = await json('cheap', 'judgments.csv', '--metrics', 'ndcg@10,mrr,precision@2');
    // tv: 3 0 1 0 0; lamp: 0 1.
    const tv = (7 + 1 / 2) / (7 + 1 / Math.log2(3));
    expect(valueOf(found, 'ndcg@10')).to.be.closeTo((tv + 1 / Math.log2(3)) / 2, 1e-9);
    expect(valueOf(found, 'mrr')).to.equal(0.75);
    expect(valueOf(found, 'precision@2')).to.equal(0.5);
    expect(found).to.include({ queries: 3, candidates: 8, unjudged: 0, removed: 0, missing: 0, degraded: 0 });
    expect(found.metrics[0]?.queries).to.equal(2);
  });

  it('prints metrics with intervals, and the worst queries, in 80 columns', async () => {
    const { stdout, stderr, code } = await evaluate(
      'cheap',
      'judgments.csv',
      '--metrics',
      'ndcg@10',
      '--worst',
      '1',
    );
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.equal(`cheap reranks the judged candidates of 3 queries (median 2)
metric     mean  95 % interval     queries
───────  ──────  ────────────────  ───────
ndcg@10  0.8069  [0.6309, 0.9828]        2

judged@10 1.0000; 8 candidates, 0 unjudged, 0 removed, 0 not in the store
1 query has no relevant candidate and is left out

Lowest ndcg@10
query  ndcg@10
─────  ───────
lamp    0.6309
`);
  });

  it('counts a query without a relevant candidate as --empty says', async () => {
    expect(valueOf(await json('cheap', 'judgments.csv', '--empty', '0'), 'mrr')).to.be.closeTo(0.5, 1e-9);
    expect(valueOf(await json('cheap', 'judgments.csv', '--empty', '1'), 'mrr')).to.be.closeTo(2.5 / 3, 1e-9);
  });

  it('compares with another pipeline, query by query', async () => {
    const result = await evaluate('cheap', 'judgments.csv', '--against', 'dear', '--metrics', 'mrr');
    expect(result.stdout).to.contain(`Difference to dear
metric  baseline    delta  95 % interval            p
──────  ────────  ───────  ──────────────────  ──────
mrr       0.6667  +0.0833  [-0.5000, +0.6667]  1.0000
`);
    const [mrr] = (await json('cheap', 'judgments.csv', '--against', 'dear', '--metrics', 'mrr')).metrics;
    // dear: tv 1/3, lamp 1.
    expect(mrr?.delta?.baseline).to.be.closeTo(2 / 3, 1e-9);
    expect(mrr?.delta?.mean).to.be.closeTo(0.75 - 2 / 3, 1e-9);
    expect(mrr?.delta?.p).to.equal(1);
  });

  it('compares with the project of another folder, on the same store', async () => {
    const other = await writeProject({
      ...FILES,
      'pipelines/cheap.yaml': PIPELINE('cheap', 'product.price'),
    });
    try {
      const found = await json('cheap', 'judgments.csv', '--against', other, '--metrics', 'mrr');
      expect(found.metrics[0]?.delta?.baseline).to.be.closeTo(2 / 3, 1e-9);
      await writeFile(join(other, 'pipelines/cheap.yaml'), PIPELINE('cheap', 'product.prize'));
      const { code, stderr } = await evaluate('cheap', 'judgments.csv', '--against', other);
      expect(code).to.equal(1);
      expect(stderr).to.contain(`the project of ${other} cannot be loaded:\npipelines/cheap.yaml:`);
    } finally {
      await rm(other, { recursive: true });
    }
  });

  itWith('git', 'compares with a commit, and leaves the repository as it was', async () => {
    const git = (...argv: string[]): string =>
      execFileSync('git', ['-C', root, '-c', 'user.name=a', '-c', 'user.email=a@b', ...argv], {
        encoding: 'utf8',
      });
    git('init', '--quiet');
    await writeFile(at('.gitignore'), '.millrace\n');
    git('add', '.');
    git('commit', '--quiet', '--message', 'first');
    await writeFile(at('pipelines/cheap.yaml'), PIPELINE('cheap', 'product.price'));
    const before = git('status', '--porcelain');
    try {
      const [mrr] = (await json('cheap', 'judgments.csv', '--against', 'git:HEAD', '--metrics', 'mrr'))
        .metrics;
      expect(mrr?.mean).to.be.closeTo(2 / 3, 1e-9);
      expect(mrr?.delta?.baseline).to.equal(0.75);
      expect(git('status', '--porcelain')).to.equal(before);
      expect(git('worktree', 'list').trimEnd().split('\n')).to.have.length(1);
      const { code, stderr } = await evaluate('cheap', 'judgments.csv', '--against', 'git:--all');
      expect([code, stderr]).to.deep.equal([
        2,
        `error: git:--all: the repository of ${root} has no commit, branch or tag --all\n`,
      ]);
    } finally {
      await writeFile(at('pipelines/cheap.yaml'), FILES['pipelines/cheap.yaml']);
    }
  });

  it('fails if a condition of --require does not hold, and reports it for JUnit', async () => {
    const argv = ['--require', 'mrr >= 0.7', '--require', 'lower(mrr) > 0.7 & <', '--junit', at('junit.xml')];
    const wrong = await evaluate('cheap', 'judgments.csv', ...argv);
    expect([wrong.code, wrong.stdout]).to.deep.equal([2, '']);
    expect(wrong.stderr).to.contain(
      '--require:1:18: error[expression_syntax]: a condition cannot contain `&`',
    );
    const { code, stdout, stderr } = await evaluate(
      'cheap',
      'judgments.csv',
      ...['--require', 'mrr >= 0.7', 'lower(mrr) > 0.7', '--junit', at('junit.xml')],
    );
    expect(code).to.equal(1);
    expect(stderr).to.equal('error: 1 of 2 conditions of --require does not hold\n');
    expect(stdout).to.contain(
      '\nPASS  mrr >= 0.7, found 0.7500\nFAIL  lower(mrr) > 0.7, found 0.5000 of 2 queries, needs at least 10\n',
    );
    const junit = await readFile(at('junit.xml'), 'utf8');
    expect(junit).to.contain('<testsuites tests="2" failures="1">');
    expect(junit).to.contain('name="mrr &gt;= 0.7"/>');
    expect(junit).to.contain('<failure message="lower(mrr) &gt; 0.7, found 0.5000 of 2 queries');
  });

  it('needs a baseline for a difference', async () => {
    const { code, stderr } = await evaluate('cheap', 'judgments.csv', '--require', 'delta.mrr > 0');
    expect(code).to.equal(2);
    expect(stderr).to.contain(
      "error: --require 'delta.mrr > 0' reads a difference; say to what with --against",
    );
  });

  it('reports slices by a column, or by an attribute of the query, with corrected p values', async () => {
    const text = 'query,id,grade,season\ntv,001,1,winter\ntv,002,0,\nlamp,006,0,summer\nlamp,007,1,summer\n';
    const column = await json('cheap', ['season.csv', text], '--slice', 'season', '--against', 'dear');
    const slices = column.slices as {
      slice: string;
      mean: number;
      delta: { p: number; corrected_p: number };
    }[];
    expect(slices.map(({ slice, mean }) => [slice, mean > 0.9])).to.deep.equal([
      ['summer', false],
      ['winter', true],
    ]);
    expect(slices[0]?.delta).to.include({ p: 1, corrected_p: 1 });
    const attribute = await evaluate('cheap', 'judgments.csv', '--slice', 'department');
    expect(attribute.stdout).to.match(
      /ndcg@10 by department\ndepartment .*\n.*\n\(none\) .*\nhome .*\nvideo /,
    );
    const wrong = await evaluate('cheap', 'judgments.csv', '--slice', 'departmnet');
    expect(wrong.stderr).to.contain('did you mean department?');
  });

  it('counts candidates that are unjudged, removed or not in the store', async () => {
    const text = 'query,id,grade\ntv,001,1\ntv,002,\ntv,008,1\ntv,099,0\n';
    const found = await json('cheap', ['counts.csv', text], '--metrics', 'recall@10,judged@10');
    expect(found).to.include({ candidates: 4, unjudged: 1, removed: 1, missing: 1, degraded: 1 });
    expect(valueOf(found, 'recall@10')).to.equal(0.5);
    expect(valueOf(found, 'judged@10')).to.be.closeTo(2 / 3, 1e-9);
    const { code } = await evaluate('cheap', 'counts.csv', '--require', 'missing <= 0');
    expect(code).to.equal(1);
  });

  it('reads TREC qrels and runs, and writes a run', async () => {
    const qrels = 'tv 0 001 3\ntv 0 003 1\ntv 0 002 0\n\nlamp 0 007 1\nlamp 0 006 0\n';
    const cheap = await json('cheap', ['set.qrels', qrels], '--metrics', 'mrr', '--run', at('cheap.run'));
    expect(valueOf(cheap, 'mrr')).to.equal(0.75);
    expect(await readFile(at('cheap.run'), 'utf8')).to.equal(
      'tv Q0 001 1 3 cheap\ntv Q0 002 2 2 cheap\ntv Q0 003 3 1 cheap\nlamp Q0 006 1 2 cheap\nlamp Q0 007 2 1 cheap\n',
    );
    const compared = await json('dear', 'set.qrels', '--metrics', 'mrr', '--against', at('cheap.run'));
    expect(compared.metrics[0]?.delta?.baseline).to.equal(0.75);
  });

  it('reads LibSVM with qid, and with the sizes of the queries in another file', async () => {
    const text = '2 qid:tv 1:0.5 # docid = 001 inc = 1\n0 qid:tv 1:0.1 # 002\n';
    const found = await json('cheap', ['set.libsvm', text], '--metrics', 'mrr');
    expect(found).to.include({ candidates: 2, missing: 0 });
    expect(valueOf(found, 'mrr')).to.equal(1);
    await writeFile(at('sizes.svm.query'), '2\n1\n');
    const sizes = await json(
      'cheap',
      ['sizes.svm', '1 1:1 # 001\n0 1:2 # 002\n1 1:1 # 003\n'],
      '--metrics',
      'mrr',
    );
    expect(sizes).to.include({ queries: 2, candidates: 3 });
    await writeFile(at('sizes.svm.query'), '2\n');
    const { stderr } = await evaluate('cheap', 'sizes.svm');
    expect(stderr).to.contain('its sizes add up to 2, but');
  });

  it('sends columns that are named as fields of the request or attributes of the candidates', async () => {
    const text = 'search_score,id,query,grade,device\n0.1,001,tv,0,kiosk\n0.9,002,tv,1,kiosk\n';
    expect(valueOf(await json('sent', ['sent.csv', text], '--metrics', 'mrr'), 'mrr')).to.equal(1);
    const differing = text.replace('kiosk\n0.9', 'phone\n0.9');
    const { code, stderr } = await evaluate('sent', ['differing.csv', differing]);
    expect(code).to.equal(1);
    expect(stderr).to.contain('line 3: the query "tv" has two values of device: "phone" and "kiosk"');
  });

  it('says which field could hold the query if the schema does not', async () => {
    const { code, stderr } = await evaluate('people', 'judgments.csv');
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      'error: cannot tell which field of a request to people holds the query of the judgments; it has user (user), device (string)\n' +
        'help: name it: --query-field user\n',
    );
    const named = 'query,id,grade,device\nada,001,1,phone\nada,002,0,phone\n';
    expect(
      valueOf(await json('people', ['users.csv', named], '--query-field', 'user', '--metrics', 'mrr'), 'mrr'),
    ).to.equal(1);
    expect((await evaluate('people', 'users.csv', '--query-field', 'user.ritch')).stderr).to.contain(
      'did you mean user.rich?',
    );
    expect((await evaluate('people', 'users.csv', '--query-field', 'usr')).stderr).to.contain(
      'did you mean user?',
    );
  });

  it('refuses pipelines without a ranking, and names that do not exist', async () => {
    expect((await evaluate('answer', 'judgments.csv')).stderr).to.contain(
      'scores one entity and has no ranking',
    );
    expect((await evaluate('cheap', 'judgments.csv', '--against', 'visitors')).stderr).to.contain(
      'cheap ranks product and visitors ranks user, so they cannot be compared',
    );
    expect((await evaluate('cheep', 'judgments.csv')).stderr).to.contain('did you mean cheap?');
    expect((await evaluate('cheap', 'judgments.csv', '--against', './none')).code).to.equal(2);
    expect((await evaluate('cheap', 'judgments.csv', '--metrics', 'ndgc@5')).stderr).to.contain(
      'did you mean `ndcg@5`?',
    );
  });

  it('shows the rows that it cannot read', async () => {
    const text = 'query,id,grade\ntv,001,good\n,002,1\ntv,,1\ntv,003,1\ntv,003,2\ntv,004,1e9\ntv,005\n';
    const { code, stderr, stdout } = await evaluate('cheap', ['bad.csv', text]);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr.split('\n').sort()).to.deep.equal(
      [
        'line 2: grade: expected a number, found "good"',
        'line 3: expected a query in the column query',
        'line 4: expected an id in the column id',
        'line 6: the query "tv" has two grades for "003": 1 and 2',
        'line 7: grade: a grade is a number from -1000 to 1000, found 1000000000',
        'line 8: expected 3 cells, as in the header, but found 2',
        `error: 6 rows of ${at('bad.csv')} cannot be read`,
        '',
      ].sort(),
    );
    const columns = await evaluate('cheap', ['columns.csv', 'asked,id,grade\ntv,001,1\n']);
    expect(columns.stderr).to.contain('help: name the column of the query: --columns query=asked');
    const points = await evaluate(
      'cheap',
      ['points.csv', 'asked,id,points\ntv,001,1\n'],
      ...['--columns', 'query=asked'],
    );
    expect(points.stderr).to.contain('help: name the column of the grade: --columns grade=points');
    const all = await evaluate('cheap', ['all.csv', 'asked,what,points\ntv,001,1\n']);
    expect(all.stderr).to.contain(
      'help: name the column of the query, the id, the grade: --columns query=NAME,id=NAME,grade=NAME',
    );
    expect((await evaluate('cheap', 'columns.csv', '--columns', 'query=asked')).code).to.equal(0);
    expect((await evaluate('cheap', ['usual.csv', 'q,item,stars\ntv,001,1\n'])).code).to.equal(0);
    expect((await evaluate('cheap', ['empty.csv', 'query,id,grade\n'])).stderr).to.contain(
      'has no judgments',
    );
    expect((await evaluate('cheap', ['bad.qrels', 'tv 0 001\n'])).stderr).to.contain(
      'line 1: expected query, iteration, id and grade, found 3 cells',
    );
  });

  it('gives the same result for the same seed, whatever the order of the file', async () => {
    const rows = FILES['judgments.csv'].trimEnd().split('\n');
    const first = await json('sent', 'judgments.csv', '--shuffles', '5');
    expect(await json('sent', 'judgments.csv', '--shuffles', '5')).to.deep.equal(first);
    // All scores are equal here, so the order of the file alone would decide.
    const [header = '', ...others] = rows;
    const sorted = ['best.csv', [header, ...others].join('\n')] as const;
    expect(valueOf(await json('sent', sorted, '--shuffles', '0'), 'mrr')).to.equal(0.75);
    expect(valueOf(await json('sent', sorted, '--ties', 'id'), 'mrr')).to.be.closeTo((1 / 3 + 1) / 2, 1e-9);
  });
});
