import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { millrace } from '../support/command-line.js';
import { fileLedger } from '../support/ledger-records.js';
import { idsOf, pluginFiles, startProject, writeProject, type TestProject } from '../support/project.js';

/** A retriever that finds the ids that the request says. */
const GIVEN = pluginFiles(
  'given',
  'retriever',
  `return {
    outputs: { score: 'number' },
    retrieve(input) {
      const column = input.column(options.from);
      const ids = isKnown(column.status[0]) ? column.values[0].split(' ').filter((id) => id !== '') : [];
      return { ids, columns: { score: Float64Array.from(ids, (_, at) => 100 - at) } };
    },
  };`,
  { from: { description: 'The ids.', millrace: 'text' } },
);

interface Parts {
  readonly retrieve?: boolean;
  readonly bring?: boolean;
  readonly candidates?: number;
}

const project = ({ retrieve = false, bring = true, candidates = 200 }: Parts = {}): Record<
  string,
  string
> => ({
  ...GIVEN,
  'schemas/entities/product.yaml': 'entity: product\nattributes: { stock: int, price: float }\n',
  'schemas/entities/user.yaml': 'entity: user\nattributes: { tier: string }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request:
  candidates: { found: float }
  query: optional(query)
  user: optional(user)
  text: optional(string)
  sponsored: optional(list(string))
limits: { candidates: ${candidates}, time: 2s }
define: { is_gold: user.tier == "gold" }
${retrieve ? 'retrieve: [{ use: given, with: { from: request.text } }]\n' : ''}components:
  - { use: score, with: { value: "coalesce(product.price, 0)" } }
  - { use: filter, as: sold_out, with: { keep: "coalesce(product.stock, 1) > 0" } }
  - { use: pin, as: paid, when: is_gold or known(request.sponsored), with: { ids: request.sponsored, bring: ${bring} } }
  - { use: curation, as: rules, with: { list: campaigns, bring: ${bring} } }
log: { candidates: all, features: all }
`,
  'curation/campaigns.yaml': `curation: campaigns
rules:
  - { name: gift, query: gift card, pin: { 1: card } }
  - { name: gold, when: user.tier == "gold", pin: { 2: lounge } }
  - { name: recalled, when: user.tier == "gold", hide: [recalled] }
  - { name: wrong, query: recalled, pin: { 1: recalled, 3: gone } }
`,
});

describe('pins that bring their product', () => {
  let running: TestProject | undefined;
  afterEach(async () => {
    await running?.close();
    running = undefined;
  });
  const start = async (parts?: Parts): Promise<TestProject> => {
    running = await startProject(project(parts));
    await running.upload(
      'product',
      { product_id: 'card', price: 5, stock: 3 },
      { product_id: 'gone', price: 9, stock: 0 },
      { product_id: 'p1', price: 7, stock: 1 },
    );
    await running.upload('user', { user_id: 'u1', tier: 'gold' });
    return running;
  };
  const P1 = { candidates: [{ product_id: 'p1', found: 1 }, { product_id: 'p2' }] };

  it('adds what rules of a list pin, by conditions on the query and the user', async () => {
    const { rank } = await start();
    const gift = await rank({ ...P1, query: { query: 'gift card' } });
    expect(idsOf(gift)).to.deep.equal(['card', 'p1', 'p2']);
    expect(idsOf(await rank({ ...P1, user: { user_id: 'u1' } }))).to.deep.equal(['p1', 'lounge', 'p2']);
    expect(idsOf(await rank(P1))).to.deep.equal(['p1', 'p2']);
  });

  it('adds what a request sponsors, each once, at most 50 and as far as there is room', async () => {
    const { rank, run } = await start({ candidates: 60 });
    expect(idsOf(await rank({ ...P1, sponsored: ['s1', 'p2', 's1'] }))).to.deep.equal(['s1', 'p2', 'p1']);
    const many = Array.from({ length: 70 }, (_, at) => `s${at}`);
    const { report } = await run({ ...P1, sponsored: many });
    expect([report.brought?.ids.length, report.brought?.left_out]).to.deep.equal([50, 20]);
    const full = Array.from({ length: 58 }, (_, at) => ({ product_id: `c${at}` }));
    const { report: little } = await run({ candidates: full, sponsored: many });
    expect(little.brought).to.deep.equal({ ids: ['s0', 's1'], left_out: 68 });
    const { report: none } = await run({ ...P1, sponsored: ['', 'x'.repeat(2_000)] });
    expect(none.brought).to.equal(undefined);
  });

  it('adds nothing without `bring`, nor to an empty list that was sent', async () => {
    const { rank } = await start();
    expect(await rank({ candidates: [], query: { query: 'gift card' } })).to.deep.equal([]);
    await running?.close();
    const { rank: other } = await start({ bring: false });
    expect(idsOf(await other({ ...P1, query: { query: 'gift card' }, sponsored: ['s1'] }))).to.have.members([
      'p1',
      'p2',
    ]);
  });

  it('adds nothing for a caller that cuts the page, such as a front', async () => {
    const { app } = await start();
    const body = { ...P1, query: { query: 'gift card' } };
    const ranked = await app.pipelines[0]?.run(body, { requestId: 'r1', page: { start: 0, size: 5 } });
    expect(ranked?.report.brought).to.equal(undefined);
    expect(ranked?.answer.ranked_candidates).to.have.length(2);
  });

  it('reads its values, lets filters and `hide` win, and says why', async () => {
    const { rank, app } = await start();
    const body = { ...P1, query: { query: 'recalled' }, user: { user_id: 'u1' } };
    expect(idsOf(await rank(body))).to.deep.equal(['p1', 'lounge', 'p2']);
    const explain = async (why: string): Promise<unknown> => {
      const explanation = await app.pipelines[0]?.explain(body, { requestId: 'r1', why });
      expect(explanation?.candidates).to.deep.include({
        brought: { ids: ['lounge', 'recalled', 'gone'], left_out: 0 },
      });
      return explanation?.why;
    };
    expect(await explain('gone')).to.deep.include({ fate: 'removed', as: 'sold_out' });
    expect(await explain('recalled')).to.deep.include({
      fate: 'removed',
      as: 'rules',
      rules: ['campaigns:recalled'],
    });
  });

  it('adds to what retrievers found, also if they found nothing', async () => {
    const { rank, run } = await start({ retrieve: true });
    const gift = { query: { query: 'gift card' } };
    expect(idsOf(await rank({ ...gift, text: 'p1 p2' }))).to.deep.equal(['card', 'p1', 'p2']);
    expect(idsOf(await rank({ ...gift, text: '' }))).to.deep.equal(['card']);
    const { report } = await run({ ...gift, text: 'p2 card' });
    expect([report.brought, report.retrieval?.found]).to.deep.equal([undefined, 2]);
    expect(idsOf(await rank({ ...gift, candidates: [] }))).to.deep.equal([]);
  });

  for (const retrieve of [false, true])
    it(`is logged and replayed ${retrieve ? 'with' : 'without'} retrievers`, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-ledger-'));
      const files = project({ retrieve });
      const root = await writeProject(files);
      const ledger = await fileLedger(folder);
      running = await startProject(files, { ledger });
      const sent = retrieve ? { text: 'p1 p2' } : P1;
      expect(idsOf(await running.rank({ ...sent, query: { query: 'gift card' } }))[0]).to.equal('card');
      await running.rank({ ...sent, sponsored: ['s1', 's2'] });
      await nextTurn();
      await ledger.flush();
      await ledger.close(1000);
      const { code, stdout } = await millrace(['ledger', 'replay', folder, '--project', root, '--json']);
      expect(JSON.parse(stdout)).to.deep.equal([
        { pipeline: 'search', replayed: 2, equal: 2, candidates: 7, different: [], refused: [] },
      ]);
      expect(code, stdout).to.equal(0);
      await rm(folder, { recursive: true });
      await rm(root, { recursive: true });
    });
});
