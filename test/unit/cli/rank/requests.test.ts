import { expect } from 'chai';
import { join } from 'node:path';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { withFiles } from '../../../support/temporary-files.js';

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\ndisplay: { title: title }\nattributes: { title: string, price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query) }
components:
  - { use: score, as: base, with: { value: product.price } }
  - { use: boost, as: cheap, with: { where: product.price < 2 and product.title != "x", add: 10 } }
`,
  'products.jsonl': [1, 2, 3]
    .map((at) => `${JSON.stringify({ product_id: `p${at}`, title: `thing ${at}`, price: at })}\n`)
    .join(''),
  'judgments/a.csv': 'query,product_id,grade\nthing,p1,0\nthing,p2,3\nother,p3,1\n',
  'two.jsonl': '{"candidates":[{"product_id":"p1"}]}\n{"candidates":[{"product_id":"p2"}]}\n',
  'list.json': '[{"candidates":[]},{"candidates":7}]',
};

describe('millrace rank', () => {
  async function inShop(
    run: (rank: (...argv: string[]) => Promise<CommandResult>, root: string) => Promise<void>,
  ): Promise<void> {
    await withFiles(FILES, async (root) => {
      const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'store')];
      const loaded = await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
      expect(loaded.code, loaded.stderr).to.equal(0);
      await run((...argv) => millrace(['rank', 'search', ...argv, ...store]), root);
    });
  }

  it('ranks the judged candidates of a query, and shows what each step added', () =>
    inShop(async (rank) => {
      expect(await rank('--judged', 'thing', '--explain')).to.deep.include({
        code: 0,
        stdout: `place  product  title    score   base   cheap  grade
─────  ───────  ───────  ─────  ─────  ──────  ─────
    1  p1       thing 1  11.00  +1.00  +10.00      0
    2  p2       thing 2   2.00  +2.00              3
`,
      });
      const { stdout } = await rank('--judged', 'other', '--json');
      expect(JSON.parse(stdout)).to.deep.equal({
        query: 'other',
        candidates: [
          { place: 1, id: 'p3', grade: 1, score: 3, card: { title: 'thing 3' }, steps: { base: 3 } },
        ],
      });
      expect((await rank('--judged', 'thin')).stderr).to.match(
        /^error: no judgments of "thin" in .*a.csv\nhelp: did you mean "thing"\?\n$/,
      );
    }));

  it('answers the requests of several files, and goes on after one that fails', () =>
    inShop(async (rank, root) => {
      const files = [join(root, 'two.jsonl'), join(root, 'list.json')];
      expect((await rank('--query', 'thing')).stderr).to.equal(
        'error: --query needs --all WHERE: the pipeline search has no `retrieve:`\n',
      );
      const { code, stdout, stderr } = await rank(...files, '--json');
      expect(code).to.equal(1);
      const ids = stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { ranked_candidates: readonly { candidate_id: string }[] } | null)
        .map((answer) => answer?.ranked_candidates.map((one) => one.candidate_id) ?? null);
      expect(ids).to.deep.equal([['p1'], ['p2'], [], null]);
      expect(stderr).to.match(/list.json, item 2:\nerror\[invalid_body\]/);
      // The only violation stands in the message, and not a second time below it.
      expect(stderr.match(/expected a list of candidates/g)).to.have.length(1);
      expect(stderr).to.contain('error: 1 of 4 requests failed\n');
    }));

  it('says which words it needs', async () => {
    for (const argv of [
      [],
      ['a.json', '--all', 'true'],
      ['a.json', '--query', 'x'],
      ['--judged', 'x', '--logged', 'y'],
    ])
      expect(await millrace(['rank', 'search', ...argv])).to.include({
        code: 2,
        stderr:
          'error: rank needs either files with requests, or --query TEXT, --all WHERE, --judged QUERY or --logged ID\n',
      });
  });
});
