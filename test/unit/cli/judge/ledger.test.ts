import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { pino } from 'pino';
import { startService } from '../../../../runtime/serve/app/serve.js';
import { readSettings } from '../../../../runtime/project/config/project/read-settings.js';
import type { Console } from '../../../../runtime/ground/core/console.js';
import type { Contestant } from '../../../../runtime/learn/judge/contestant.js';
import type { FoundRequests } from '../../../../runtime/learn/judge/found-requests.js';
import { findLoggedRequests, readLoggedRequests } from '../../../../runtime/learn/judge/logged-requests.js';
import { loadProject } from '../../../../runtime/project/config/project/load-project.js';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { writeProject } from '../../../support/project.js';

const PIPELINE = (name: string, score: string, log: string): string => `
pipeline: ${name}
rank: product
request:
  candidates: { search_score: float }
  query: query
  user: optional(user)
  kiosk: optional(bool)
components:
  - use: score
    with: { value: '${score}' }
page: { size: 3 }
${log}`;

const SCORE = 'product.search_score + if(coalesce(request.kiosk, false), product.price, 0 - product.price)';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/shop.yaml': PIPELINE('shop', SCORE, 'log: { features: all, candidates: all }\n'),
  'pipelines/other.yaml': PIPELINE('other', 'product.price', 'log: { hash: [user] }\n'),
  'pipelines/dear.yaml': PIPELINE('dear', 'product.price', ''),
  'pipelines/worth.yaml': `
pipeline: worth
score: product
request: { product: { discount: float } }
components:
  - use: score
    with: { value: product.price + product.discount }
log: { features: all }
`,
};

/** Pipelines with hashed ids need it. */
const ENV = { MILLRACE_ID_SALT: 'the salt of this test' };

const candidates = [1, 2, 3, 4, 5].map((price) => ({
  product_id: `p${price}`,
  search_score: price === 5 ? 9 : 0,
}));

describe('commands on a ledger', () => {
  let root = '';
  let store: string[] = [];
  let ledger = '';

  before(async () => {
    root = await writeProject(FILES);
    const dataDir = join(root, 'data');
    ledger = join(dataDir, 'ledger');
    store = ['--project', root, '--store', 'embedded', '--data-dir', dataDir];
    const settings = await readSettings(ENV, { project: root, store: 'embedded', dataDir, port: '0' });
    const service = await startService(settings, { logger: pino({ level: 'silent' }) });
    const post = async (path: string, body: object): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status, await answer.text()).to.equal(200);
    };
    const entities = candidates.map(({ product_id: id }) => ({ product_id: id, price: Number(id.slice(1)) }));
    await post('/api/v1/entities/upload', { entity_type: 'product', entities });
    for (let i = 0; i < 6; i++)
      await post('/api/v1/shop', {
        request_id: `r${i}`,
        query: { query: 'tv' },
        ...(i % 2 === 0 ? { user: { user_id: 'u1' } } : {}),
        ...(i === 5 ? { kiosk: true } : {}),
        candidates,
        user_page: 1,
        user_page_size: 2,
      });
    await post('/api/v1/other', {
      request_id: 'partly',
      query: { query: 'tv' },
      user: { user_id: 'u1' },
      candidates,
    });
    await post('/api/v1/other', { request_id: 'empty', query: { query: 'tv' }, candidates: [] });
    await post('/api/v1/worth', { request_id: 'one', product: { product_id: 'p4', discount: 10 } });
    // Request 0: a click on its best candidate. Request 1: on its worst one. Another of no known request.
    for (const [request, id] of [
      ['r0', 'p5'],
      ['r1', 'p4'],
      ['gone', 'p1'],
    ] as const)
      await post('/api/v1/feedback', {
        request_id: request,
        user: null,
        events: [{ type: 'click', product: { product_id: id } }],
      });
    await service.close();
  });
  after(async () => {
    await rm(root, { recursive: true, force: true });
  });

  const run = (...argv: string[]): Promise<CommandResult> =>
    millrace([...argv, '--ledger', ledger, ...store], { env: ENV });

  it('compare a pipeline with itself on logged requests, and find no difference', async () => {
    const { code, stdout, stderr } = await run('diff', 'shop', 'shop', '--json');
    expect([code, stderr]).to.deep.equal([0, '']);
    const { same, requests } = JSON.parse(stdout) as { same: number; requests: unknown[] };
    expect([same, requests.length]).to.deep.equal([6, 6]);
  });

  it('send what the requests carried: entities, values, attributes of candidates, the order', async () => {
    const { code, stdout } = await run('diff', 'shop', 'dear', '--json', '--last', '2');
    expect(code).to.equal(0);
    const { moves, requests } = JSON.parse(stdout) as {
      moves: { line: number; candidate: string; from: number; to: number }[];
      requests: { line: number; same: boolean }[];
    };
    // The last request, of a kiosk, has the order of `dear` already; the one before starts with p5, p1 and ends with p4.
    expect(requests.map(({ same }) => same)).to.deep.equal([false, true]);
    expect(moves.find(({ candidate }) => candidate === 'p4')).to.include({ line: 1, from: 5, to: 2 });
  });

  it('say what the log lacks', async () => {
    const { stdout, stderr } = await run('diff', 'other', 'dear');
    expect(stdout).to.contain('1 request compared');
    expect(stderr).to.contain('note: the log of 1 of 1 requests lacks some candidates\n');
    expect(stderr)
      .to.contain('lacks kiosk\n')
      .and.to.contain('lacks user\n')
      .and.to.contain('lacks product.search_score\n');
  });

  it('end if the ledger changes between the two times that they read it', async () => {
    const { config } = await loadProject(root, ENV);
    const definition = config?.pipelines.find(({ name }) => name === 'shop');
    if (config === undefined || definition === undefined) throw new Error('the project is valid');
    const shop = { definition, project: { config } } as unknown as Contestant;
    const silent = { stderr: { write: () => true } } as unknown as Console;
    const read = async (found: FoundRequests): Promise<string[]> => {
      const ids: string[] = [];
      for await (const [, { requestId }] of readLoggedRequests(found, shop)) ids.push(requestId);
      return ids.sort();
    };
    const copy = join(root, 'copy');
    const changes: Readonly<Record<string, (found: FoundRequests) => unknown>> = {
      'its files are gone': () => rm(copy, { recursive: true }),
      'its records are gone': ({ places }) =>
        Promise.all(Array.from(places.bySegment().keys(), (path) => writeFile(path, ''))),
      'its records moved': ({ places }) => {
        places.keep(Uint32Array.from({ length: places.length }, (_, row) => (row + 1) % places.length));
      },
    };
    for (const [title, change] of Object.entries(changes)) {
      await cp(ledger, copy, { recursive: true });
      const found = await findLoggedRequests(silent, copy, 3, shop);
      expect(await read(found)).to.deep.equal(['r3', 'r4', 'r5']);
      await change(found);
      const failure = await read(found).catch((error: unknown) => error);
      expect(failure, title).to.have.property('message', 'the ledger changed while it was read');
      await rm(copy, { recursive: true, force: true });
    }
  });

  it('say which pipelines the ledger has', async () => {
    const { code, stderr } = await run('diff', 'dear', 'shop');
    expect(code).to.equal(1);
    expect(stderr).to.contain('has no answered request to dear; it has rankings of other, shop');
    const none = await millrace(['diff', 'shop', 'dear', '--ledger', join(root, 'none'), ...store], {
      env: ENV,
    });
    expect(none.stderr).to.contain('there is no ledger');
    const both = await run('diff', 'shop', 'dear', '--requests', 'x.jsonl');
    expect([both.code, both.stderr.includes('with --requests FILE or with --ledger DIR')]).to.deep.equal([
      2,
      true,
    ]);
  });

  it('measure agreement with clicks, and count what was not shown as unjudged', async () => {
    const { code, stdout, stderr } = await run(
      'evaluate',
      'shop',
      '--metrics',
      'mrr',
      '--against',
      'dear',
      '--json',
    );
    expect(code, stderr).to.equal(0);
    const report = JSON.parse(stdout) as Record<string, unknown> & {
      metrics: { queries: number; mean: number; delta: { baseline: number } }[];
    };
    expect(report).to.include({ ledger, agreement_with: 'clicks', queries: 6 });
    const [mrr] = report.metrics;
    // p5 is first for both pipelines; p4 is last of five for `shop`, and second for `dear`.
    expect(mrr).to.include({ queries: 2, mean: (1 + 1 / 5) / 2 });
    expect(mrr?.delta.baseline).to.equal((1 + 1 / 2) / 2);
    const text = await run('evaluate', 'shop', '--metrics', 'mrr');
    expect(text.stdout).to.match(
      /^shop reranks the candidates of 6 logged requests \(median 5\): agreement with\nclicks\n/,
    );
    expect(text.stdout).to.contain('4 requests without feedback left out');
  });

  it('warn of a kind of feedback that the ledger does not have', async () => {
    const { stderr } = await run('evaluate', 'shop', '--metrics', 'mrr', '--label', 'click=1,ordr=3');
    expect(stderr).to.contain('warning: the ledger has no feedback of the kind ordr; it has click\n');
  });

  it('gate on clicks only if the user says so', async () => {
    const gate = ['--require', 'mrr > 0.1'];
    const refused = await run('evaluate', 'shop', ...gate);
    expect(refused.code).to.equal(2);
    expect(refused.stderr).to.contain('agreement with clicks is no gate: clicks favour what was at the top');
    const allowed = await run('evaluate', 'shop', ...gate, '--gate-on-clicks');
    expect(allowed.code, allowed.stderr).to.equal(0);
    expect(allowed.stdout).to.contain('PASS  mrr > 0.1');
    const mixed = await run('evaluate', 'shop', '--judgments', 'x.csv');
    expect(mixed.code).to.equal(2);
  });

  describe('rank --logged', () => {
    const rank = async (pipeline: string, id: string): Promise<CommandResult> =>
      run('rank', pipeline, '--logged', id, '--json');
    const orderOf = ({ stdout }: CommandResult): string[] =>
      (JSON.parse(stdout) as { ranked_candidates: { candidate_id: string }[] }).ranked_candidates.map(
        ({ candidate_id: id }) => id,
      );

    it('sends the request again, with its fields and what its candidates carried', async () => {
      const visitor = await rank('shop', 'r1');
      expect([visitor.code, visitor.stderr]).to.deep.equal([0, '']);
      expect(orderOf(visitor)).to.deep.equal(['p5', 'p1', 'p2']);
      // Request 5 is of a kiosk, which ranks by the price.
      expect(orderOf(await rank('shop', 'r5'))).to.deep.equal(['p5', 'p4', 'p3']);
      const explained = await run('rank', 'shop', '--logged', 'r0', '--explain', '--json');
      expect(explained.code, explained.stderr).to.equal(0);
      expect(explained.stdout).to.contain('"u1"');
    });

    it('sends it to another pipeline, and says which one logged it', async () => {
      const { code, stdout, stderr } = await rank('dear', 'r1');
      expect([code, stderr]).to.deep.equal([0, 'note: the request was logged by the pipeline shop\n']);
      expect(orderOf({ code, stdout, stderr })).to.deep.equal(['p5', 'p4', 'p3']);
    });

    it('says what the log lacks', async () => {
      const { code, stdout, stderr } = await rank('other', 'partly');
      expect(code, stderr).to.equal(0);
      expect(stderr.trim().split('\n')).to.deep.equal([
        'note: the log lacks some candidates: the others are ranked without them',
        'note: the log lacks kiosk: the request is sent without it',
        'note: the log lacks product.search_score: the request is sent without it',
        'note: the log lacks user: the request is sent without it',
      ]);
      expect(orderOf({ code, stdout, stderr })).to.have.length(3);
    });

    it('sends a logged entity to a pipeline that scores', async () => {
      const { code, stdout, stderr } = await rank('worth', 'one');
      expect([code, stderr]).to.deep.equal([0, '']);
      expect(JSON.parse(stdout)).to.include({ score: 14 });
    });

    it('refuses a request that the ledger does not have, and a file beside it', async () => {
      const unknown = await rank('shop', 'r17');
      expect(unknown.code).to.equal(1);
      expect(unknown.stderr).to.contain('has no request with the id r17');
      const empty = await rank('other', 'empty');
      expect([empty.code, empty.stdout]).to.deep.equal([1, '']);
      expect(empty.stderr).to.contain('the request empty failed, or its log has no candidates');
      const both = await run('rank', 'shop', 'request.json', '--logged', 'r1');
      expect([
        both.code,
        both.stderr.includes(
          'either files with requests, or --query TEXT, --all WHERE, --judged QUERY or --logged ID',
        ),
      ]).to.deep.equal([2, true]);
      expect((await run('rank', 'shp', '--logged', 'r1')).stderr).to.contain('did you mean shop?');
    });
  });
});
