import { expect } from 'chai';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rankingText } from '../../../../runtime/cli/report/card-text.js';
import { diffTree } from '../../../../runtime/learn/report/diff-tree.js';
import { reportText } from '../../../../runtime/cli/report/report.js';
import { DiffCollector, type DiffReport } from '../../../../runtime/learn/judge/diff-report.js';
import { millrace } from '../../../support/command-line.js';
import { withFiles } from '../../../support/temporary-files.js';

const HOSTILE = '<script>alert(1)</script>\u001b[31m';
const PRODUCT = `entity: product
display: { title: title, image: image, subtitle: brand.name, badges: [price] }
attributes: { title: string, image: string, price: float, brand: ref(brand) }
`;
const scoring = (name: string, value: string): string => `pipeline: ${name}
rank: product
request: { candidates: {}, query: optional(query) }
components:
  - { use: score, with: { value: "${value}" } }
`;
const lines = (...rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const FILES = {
  'millrace.yaml': 'project: shop\nimage_hosts: [img.example]\n',
  'schemas/entities/product.yaml': PRODUCT,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'pipelines/dear.yaml': scoring('dear', 'product.price'),
  'pipelines/cheap.yaml': scoring('cheap', '0 - product.price'),
  'product.jsonl': lines(
    { product_id: 'p1', title: 'Trail shoe', price: 1, brand: 'n', image: 'https://img.example/1.jpg' },
    { product_id: 'p2', title: HOSTILE, price: 2, image: 'https://other.example/2.jpg' },
    { product_id: 'p3', price: 3 },
  ),
  'brand.jsonl': lines({ brand_id: 'n', name: 'Nord' }),
  'judgments.csv': 'query,product_id,grade\nshoe,p1,3\nshoe,p2,0\nshoe,p3,0\n',
  'requests.jsonl': lines({ candidates: ['p1', 'p2', 'p3', 'gone'].map((id) => ({ product_id: id })) }),
};
const CARD = {
  title: 'Trail shoe',
  subtitle: 'Nord',
  image: 'https://img.example/1.jpg',
  badges: [{ name: 'price', value: 1 }],
};

type Run = (...argv: string[]) => Promise<string>;

/** @param run runs a command over the store of the shop, and returns what it printed */
async function inShop(test: (run: Run, root: string) => Promise<void>): Promise<void> {
  await withFiles(FILES, async (root) => {
    const store = ['--project', root, '--store', 'embedded', '--data-dir', join(root, 'store')];
    const run: Run = async (...argv) => {
      const { code, stdout, stderr } = await millrace([...argv, ...store]);
      expect(code, stderr).to.equal(0);
      for (const line of stdout.split('\n')) expect(line.length, line).to.be.at.most(80);
      expect(stdout).not.to.contain('\u001b');
      return stdout;
    };
    for (const type of ['product', 'brand'])
      await millrace(['entities', 'load', type, join(root, `${type}.jsonl`), ...store]);
    await test(run, root);
  });
}

const json = async (text: Promise<string>): Promise<unknown> => JSON.parse(await text);

describe('cards in reports', () => {
  it('of rank: titles in 80 columns, and a card of each candidate as JSON', () =>
    inShop(async (run, root) => {
      const requests = join(root, 'requests.jsonl');
      const text = await run('rank', 'cheap', requests);
      expect(text).to.match(/place +candidate_id +title +ranked_score/);
      expect(text).to.match(/\d +p1 +Trail shoe +Nord +-1\.000000/);
      expect(text)
        .to.match(/p3 +p3 /)
        .and.match(/gone +\(not in the index\)/);
      const { ranked_candidates: ranked } = (await json(run('rank', 'cheap', requests, '--json'))) as {
        readonly ranked_candidates: readonly { readonly candidate_id: string; readonly card: object }[];
      };
      const cards = new Map(ranked.map(({ candidate_id: id, card }) => [id, card]));
      expect(cards.get('p1')).to.deep.equal(CARD);
      expect(cards.get('p2')).to.include({ blocked_host: 'other.example' });
      expect(cards.get('gone')).to.deep.equal({ title: 'gone', missing: true });
    }));

  it('of an explanation', () =>
    inShop(async (run, root) => {
      const requests = join(root, 'requests.jsonl');
      const text = await run('rank', 'cheap', requests, '--explain');
      expect(text)
        .to.match(/\d +p1 +Trail shoe +-1/)
        .and.contain('\np1: Trail shoe\n');
      const { page } = (await json(run('rank', 'cheap', requests, '--explain', '--json'))) as {
        readonly page: readonly { readonly candidate_id: string }[];
      };
      expect(page.find(({ candidate_id: id }) => id === 'p1')).to.deep.include({ card: CARD });
    }));

  it('of a comparison, escaped on its page', () =>
    inShop(async (run, root) => {
      const given = ['diff', 'cheap', 'dear', '--requests', join(root, 'requests.jsonl')];
      const page = join(root, 'diff.html');
      expect(await run(...given, '--html', page)).to.match(/1 +p1 +Trail shoe +\d +\d/);
      const html = await readFile(page, 'utf8');
      expect(html).to.contain('<td>Trail shoe</td>').and.contain('&lt;script&gt;alert');
      expect(html).not.to.contain('<script');
      const { moves } = (await json(run(...given, '--json'))) as {
        readonly moves: readonly { readonly candidate: string }[];
      };
      expect(moves.find(({ candidate }) => candidate === 'p1')).to.deep.include({ card: CARD });
    }));

  it('of an evaluation: what stands first for the worst queries', () =>
    inShop(async (run, root) => {
      const given = ['evaluate', 'cheap', '--judgments', join(root, 'judgments.csv'), '--metrics', 'ndcg@10'];
      expect(await run(...given)).to.match(/shoe +1\.0000 +Trail shoe/);
      const { per_query: queries } = (await json(run(...given, '--json'))) as {
        readonly per_query: readonly object[];
      };
      expect(queries[0]).to.deep.include({ first: 'p1', card: CARD });
      expect(await run(...given, '--json', '--worst', '0')).not.to.contain('"card"');
    }));

  it('are left out where the type has no display', () =>
    inShop(async (run, root) => {
      const plain = PRODUCT.replace(/^display:.*\n/m, '');
      await writeFile(join(root, 'schemas/entities/product.yaml'), plain);
      const text = await run('rank', 'cheap', join(root, 'requests.jsonl'));
      expect(text).not.to.contain('Trail');
      expect(await run('rank', 'cheap', join(root, 'requests.jsonl'), '--json')).not.to.contain('card"');
    }));

  it('leave room for whole ids, if the terminal has it', () => {
    const id = '0b5c2a52-6d0e-4bb8-a2a5-6f4d3d9f1c77';
    const page = [{ candidate_id: id, ranked_score: 1 }];
    const cards = new Map([[id, { title: 'Trail shoe '.repeat(9).trim() }]]);
    for (const width of [80, 120, 200]) {
      const [, , line = ''] = rankingText(page, cards, width).split('\n');
      expect(line.length, line).to.be.at.most(width);
      if (width < 120) expect(line).to.contain(`${id.slice(0, 15)}…  Trail shoe Trail shoe`);
      if (width === 200) expect(line).to.contain(`${id}  Trail shoe`);
    }
    const short = new Map([[id, { title: 'Trail shoe' }]]);
    expect(rankingText(page, short, 80)).to.contain(`${id}  Trail shoe`);
  });

  it('of moves with long reasons fit into 80 columns', () => {
    const id = 'p'.repeat(40);
    const move = { line: 1000, candidate: id, from: 100, to: 200, why: 'why '.repeat(20) };
    const none = new DiffCollector(1).report({ a: 'A', b: 'B', k: 10, p: 0.9 });
    const report = { ...none, moves: [move], allMoves: 1 } as unknown as DiffReport;
    const { parts } = diffTree(report, new Map([[id, { title: 'Trail '.repeat(20) }]]));
    for (const line of reportText(parts, 80).split('\n')) expect(line.length, line).to.be.at.most(80);
  });
});
