import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { itWith } from '../../../support/needs.js';
import { startBrowser } from '../../../support/browser.js';
import { writeProject } from '../../../support/project.js';

const PIPELINE = (name: string, steps: string): string => `
pipeline: ${name}
rank: product
request:
  device: optional(string)
components:
  - use: score
    with: { value: 0 - product.price }
${steps}page: { size: 2, max_size: 3 }
`;

const FILES = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { price: float, stock: int }\n',
  'pipelines/old.yaml': PIPELINE('old', ''),
  'pipelines/boosted.yaml': PIPELINE(
    'boosted',
    `  - use: boost
    as: promote
    with: { where: product.price == 7, add: 6.5 }
`,
  ),
  'pipelines/ruled.yaml': PIPELINE(
    'ruled',
    `  - use: filter
    as: sold_out
    with: { keep: product.stock > 0 }
  - use: pin
    with: { positions: { 1: "p5" } }
`,
  ),
  'pipelines/shifted.yaml': PIPELINE(
    'shifted',
    `  - use: boost
    as: promote
    with: { add: 100 }
`,
  ),
  'products.jsonl': [1, 2, 3, 4, 5, 6, 7]
    .map((price) => `{"product_id":"p${price}","price":${price},"stock":${price === 3 ? 0 : 1}}\n`)
    .join(''),
};

const candidates = [1, 2, 3, 4, 5, 6, 7].map((price) => ({ product_id: `p${price}` }));

interface Json {
  readonly overlap: { readonly mean: number; readonly lowest: number };
  readonly rbo: { readonly mean: number };
  readonly tau: { readonly mean: number | null };
  readonly moves: readonly { candidate: string; from: number; to: number; step?: string; why: string }[];
  readonly steps: readonly { readonly step?: string; readonly moved: number }[];
  readonly removed: { readonly count: number; readonly first: readonly object[] };
  readonly added: { readonly count: number };
  readonly latency: { readonly a: { readonly p50: number } };
  readonly requests: readonly { readonly same: boolean }[];
  readonly same: number;
}

describe('millrace diff', () => {
  let root = '';
  let store: string[] = [];
  before(async () => {
    root = await writeProject({
      ...FILES,
      'requests.jsonl': [
        { candidates, user_page: 1 },
        { candidates: candidates.slice(0, 2) },
        { candidates: [] },
      ]
        .map((body) => `${JSON.stringify(body)}\n`)
        .join(''),
    });
    store = ['--project', root, '--store', 'embedded'];
    await millrace(['entities', 'load', 'product', join(root, 'products.jsonl'), ...store]);
  });
  after(() => rm(root, { recursive: true }));

  const diff = (a: string, b: string, ...argv: string[]): Promise<CommandResult> =>
    millrace(['diff', a, b, '--requests', join(root, 'requests.jsonl'), ...store, ...argv]);

  async function json(a: string, b: string): Promise<Json> {
    const { stdout, stderr } = await diff(a, b, '--json');
    expect(stderr).to.equal('');
    return JSON.parse(stdout) as Json;
  }

  it('finds no difference between a pipeline and itself', async () => {
    const found = await json('old', 'old');
    expect([found.same, found.overlap.lowest, found.tau.mean]).to.deep.equal([3, 1, 1]);
    expect(found.moves).to.deep.equal([]);
    expect(found.latency.a.p50).to.be.above(0);
    const { stdout, code } = await diff('old', 'old');
    expect(code).to.equal(0);
    expect(stdout).to.contain('3 requests compared, 3 with the same order');
  });

  it('names the step that moved a candidate, over all pages', async () => {
    const found = await json('old', 'boosted');
    expect(found.moves[0]).to.deep.include({
      candidate: 'p7',
      from: 7,
      to: 1,
      step: 'promote',
      why: 'promote +6.5',
    });
    // The others only give way.
    expect(found.moves[1]).to.deep.include({ candidate: 'p1', from: 1, to: 2 });
    expect(found.moves[1]?.step).to.equal(undefined);
    expect(found.steps).to.deep.equal([{ moved: 6 }, { step: 'promote', moved: 1 }]);
    expect(found.requests.map(({ same }) => same)).to.deep.equal([false, true, true]);
  });

  it('names pins, and the filter that removed a candidate', async () => {
    const found = await json('old', 'ruled');
    expect(found.moves[0]).to.deep.include({ candidate: 'p5', from: 5, to: 1, why: 'pin pinned it to 1' });
    expect(found.removed).to.deep.include({
      count: 1,
      first: [{ line: 1, candidate: 'p3', place: 3, filter: 'sold_out' }],
    });
    const back = await json('ruled', 'old');
    expect([back.removed.count, back.added.count]).to.deep.equal([0, 1]);
    expect(back.moves.find(({ candidate }) => candidate === 'p5')?.why).to.equal(
      'pin of A pinned it to 1, that of B does not',
    );
  });

  it('does not blame a step that adds the same to every candidate', async () => {
    const found = await json('old', 'shifted');
    expect(found.same).to.equal(3);
    await writeFile(
      join(root, 'pipelines', 'both.yaml'),
      PIPELINE(
        'both',
        `  - use: boost
    as: promote
    with: { add: 100 }
  - use: boost
    as: favour
    with: { where: product.price == 2, add: 1.5 }
`,
      ),
    );
    const both = await json('old', 'both');
    expect(both.moves.find(({ candidate }) => candidate === 'p1')?.step).to.equal(undefined);
    expect(both.moves.find(({ candidate }) => candidate === 'p2')?.step).to.equal('favour');
  });

  it('goes on after a request that fails, and ends with 1', async () => {
    const path = join(root, 'bad.jsonl');
    await writeFile(path, `{"candidates":[{"product_id":"p1"}]}\n{"candidates":3}\nno json\n`);
    const { code, stdout, stderr } = await millrace(['diff', 'old', 'boosted', '--requests', path, ...store]);
    expect(code).to.equal(1);
    expect(stdout).to.contain('1 request compared').and.to.contain('line 2: A failed: invalid_body');
    expect(stderr)
      .to.match(/^line 3: not JSON/)
      .and.to.contain('error: 1 request failed, 1 line cannot be read');
    expect((await diff('old', 'bosted')).stderr).to.contain('did you mean boosted?');
  });

  it('lists lines that cannot be read below its progress, without control characters', async () => {
    const path = join(root, 'unread.jsonl');
    await writeFile(path, `{"candidates":[{"product_id":"p1"}]}\n${'\u001b[31m\n'.repeat(30)}`);
    const argv = ['diff', 'old', 'boosted', '--requests', path, ...store];
    const { stderr } = await millrace(argv, { isTerminal: true });
    const told = stderr.split('\n').filter((line) => line.includes('not JSON'));
    expect(told).to.have.length(20);
    for (const line of told) expect(line).to.match(/^line \d+: not JSON: unexpected token '[^\p{Cc}]+'$/u);
    expect(stderr).to.contain('error: 30 lines cannot be read');
  });

  it('says how many requests failed, and each fault once', async () => {
    const path = join(root, 'failing.jsonl');
    const line = JSON.stringify({ candidates, device: 3 });
    const twice = JSON.stringify({ candidates: [{ product_id: {} }, { product_id: [] }] });
    await writeFile(path, `${[JSON.stringify({ candidates }), line, line, line, twice].join('\n')}\n`);
    const html = join(root, 'failing.html');
    const argv = ['diff', 'old', 'boosted', '--requests', path, '--html', html, ...store];
    const text = (await millrace(argv)).stdout.replace(/\s+/g, ' ');
    expect(text).to.contain(
      'Failed: 4 line 2: A failed: invalid_body: The request at /device: expected a text',
    );
    expect(text.split('line 2: A failed')[1]?.split('line 2: B')[0]?.split('expected a')).to.have.length(2);
    expect(await readFile(html, 'utf8')).to.contain('<h2>Failed: 4</h2>');
    const only = join(root, 'twice.jsonl');
    await writeFile(only, `${JSON.stringify({ candidates })}\n${twice}\n`);
    const { stdout } = await millrace(['diff', 'old', 'boosted', '--requests', only, ...store]);
    expect(stdout.replace(/\s+/g, ' ')).to.contain('has 2 violations; /candidates/0/product_id: an id is');
  });

  it('compares whole rankings of requests that take their candidates from the index', async () => {
    const path = join(root, 'index.jsonl');
    await writeFile(path, `${JSON.stringify({ candidates: { from: 'index', where: 'true' } })}\n`);
    const { stdout } = await millrace(['diff', 'old', 'boosted', '--requests', path, '--json', ...store]);
    const { moves, overlap } = JSON.parse(stdout) as Json;
    // p7 moves from the last of seven places, over three pages.
    expect(moves.find(({ candidate }) => candidate === 'p7')?.from).to.equal(7);
    expect(overlap.mean).to.equal(1);
  });

  describe('its page', () => {
    const hostile = '<img src=x onerror=alert(1)>"\'&';
    let page = '';
    let path = '';
    before(async () => {
      path = join(root, 'diff.html');
      const requests = join(root, 'hostile.jsonl');
      const odd = [
        ...candidates,
        { product_id: hostile, price: 7.5, stock: 1 },
        { product_id: 'p9', price: 7, stock: 0 },
      ];
      await writeFile(requests, `${JSON.stringify({ candidates: odd })}\n`.repeat(3));
      await writeFile(
        join(root, 'pipelines', 'hostile.yaml'),
        PIPELINE(
          'hostile',
          `  - use: boost
    with: { where: product.price > 7, add: 9 }
`,
        ),
      );
      await millrace(['diff', 'old', 'hostile', '--requests', requests, '--html', path, ...store]);
      page = await readFile(path, 'utf8');
    });

    it('loads nothing, runs no script, and escapes every value', () => {
      expect(page).not.to.match(/<script|https?:|@import|url\(|<link|<img|javascript:| style=/i);
      expect(page).to.contain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;');
      const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
      const [, style = ''] = /<style>([^]*)<\/style>/.exec(page) ?? [];
      expect(policy).to.contain("default-src 'none'").and.not.to.contain('unsafe');
      expect(policy).to.contain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
    });

    itWith(
      'chromium',
      'shows its plots and tables in a browser, without a complaint of the policy',
      async function () {
        const browser = await startBrowser(this);
        try {
          const tab = await browser.newPage();
          const told: string[] = [];
          tab.on('console', (message) => told.push(message.text()));
          tab.on('request', (request) => told.push(request.url()));
          await tab.goto(pathToFileURL(path).href);
          expect(told).to.deep.equal([pathToFileURL(path).href]);
          expect(await tab.locator('svg').count()).to.equal(3);
          for (const plot of await tab.locator('svg').all())
            expect((await plot.boundingBox())?.height).to.be.above(100);
          // The style sheet is in force.
          const columns = await tab.evaluate("getComputedStyle(document.querySelector('.plots')).display");
          expect(columns).to.equal('grid');
          expect(await tab.getByRole('cell', { name: hostile }).first().isVisible()).to.equal(true);
        } finally {
          await browser.close();
        }
      },
    );
  });
});
