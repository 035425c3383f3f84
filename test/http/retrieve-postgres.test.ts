import { expect } from 'chai';
import { assert, asyncProperty, string } from 'fast-check';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { plugin } from '../../plugins/postgres/index.js';
import { stepTests } from '../../runtime/cli/testing/step-tests.js';
import { httpConnector } from '../../runtime/language/outbound/http-connector.js';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { millrace } from '../support/command-line.js';
import { describeWith } from '../support/needs.js';
import { findTestPackage } from '../support/onnx-runtime.js';
import { startPostgres, type PrivatePostgres } from '../support/postgres-server.js';
import { serveFiles, type Answered, type ServedProject } from '../support/served-project.js';

const TEXT = `select id, ts_rank(words, asked) as score, popularity, title ~ 'shoe' as shoe
from products, websearch_to_tsquery('english', $1) as asked
where words @@ asked
order by score desc, id
limit $2;
`;
const TABLE = `
create extension pg_trgm;
create table products (id text primary key, title text, popularity numeric, amount bigint,
  words tsvector generated always as (to_tsvector('english', title)) stored);
insert into products values ('p1', 'trail shoe', 1.5, 1), ('p2', 'trail running shoes for a trail', null, 2), ('p3', 'green lamp', 7, 3);
create index on products using gin (words);
create index on products using gin (title gin_trgm_ops);
`;

/** Of the pipeline, in milliseconds. */
const LIMIT = 20_000;

const withOf = (url: string, rest: string): string => `{ url: "${url}", ${rest} }`;

const filesFor = (url: string, ...more: readonly string[]): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'queries/text.sql': TEXT,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: {}, query: optional(query), seconds: optional(float), ids: optional(list(string)) }
limits: { time: ${LIMIT}ms }
retrieve:
  - { use: postgres, as: text, timeout: 8s, with: ${withOf(url, 'query_file: queries/text.sql, params: [query.query, 300], outputs: [score, popularity, shoe]')} }
  - { use: postgres, as: spelling, timeout: 8s, with: ${withOf(url, 'query: "select id, word_similarity($1, title) as likeness from products where $1 <% title order by 2 desc", params: [query.query], outputs: [likeness]')} }
  - { use: postgres, as: ids, timeout: 8s, with: ${withOf(url, 'query: "select id from products where id = any($1)", params: [request.ids]')} }
  - { use: postgres, as: slow, timeout: 300ms, when: known(request.seconds), with: ${withOf(url, 'query: "select id, pg_sleep($1) is null as done from products", params: [request.seconds], outputs: [done], connections: 2')} }
${more.map((one) => `  - ${one}\n`).join('')}components:
  - { use: score, with: { value: 'coalesce(text:score, 0)' } }
`,
});

const ask = (project: ServedProject | undefined, body: object): Promise<Answered> =>
  (project as ServedProject).post('/api/v1/search/explain', body);

interface Explained {
  readonly candidates: {
    readonly retrieval: {
      readonly retrievers: readonly { as: string; outcome: string; found: number; reason?: string }[];
    };
  };
  readonly page: readonly {
    readonly candidate_id: string;
    readonly values: Record<string, { value: unknown; status: string }>;
  }[];
}

const outcomes = ({ status, json }: Answered): Record<string, string> => {
  expect(status, JSON.stringify(json)).to.equal(200);
  return Object.fromEntries(
    (json as unknown as Explained).candidates.retrieval.retrievers.map(({ as, outcome, reason }) => [
      as,
      reason === undefined ? outcome : `${outcome}: ${reason}`,
    ]),
  );
};

describeWith('PostgreSQL', 'retrieve, with PostgreSQL', () => {
  let postgres: PrivatePostgres;
  let project: ServedProject | undefined;
  const env = { MILLRACE_MODEL_HOSTS: '127.0.0.1' };
  before(async function () {
    this.timeout(120_000);
    postgres = await startPostgres();
    await postgres.run(TABLE);
    project = await serveFiles(filesFor(postgres.url), undefined, env);
  });
  after(async () => {
    await project?.close();
    await postgres.remove();
  });

  const statements = async (): Promise<readonly { state: string; query: string; count: number }[]> => {
    const { rows } = await postgres.run(
      "select state, query, count(*)::int from pg_stat_activity where application_name = 'millrace' group by 1, 2",
    );
    return rows as { state: string; query: string; count: number }[];
  };

  it('finds by full text, trigrams and lists, and returns numbers of all types', async () => {
    const { json } = await ask(project, { query: { query: 'trail shoe' }, ids: ['p3', 'none'] });
    const { page } = json as unknown as Explained;
    expect(page.map((one) => one.candidate_id)).to.deep.equal(['p2', 'p1', 'p3']);
    const values = (at: number): unknown =>
      Object.fromEntries(Object.entries(page[at]?.values ?? {}).map(([name, { value }]) => [name, value]));
    expect(values(1)).to.include({
      'text:popularity': 1.5,
      'text:shoe': 1,
      'text:place': 2,
      'spelling:likeness': 1,
      'ids:place': null,
    });
    expect(values(0)).to.include({ 'text:popularity': null, 'text:place': 1 });
    expect(values(2)).to.include({ 'text:score': null, 'ids:place': 1 });
  });

  it('binds any text of a query as one parameter', async () => {
    await assert(
      asyncProperty(string({ unit: 'binary', maxLength: 40 }), async (query) => {
        const answer = await ask(project, { query: { query }, ids: [query, 'p1'] });
        expect(outcomes(answer)).to.include({ text: 'found', spelling: 'found', ids: 'found' });
      }),
      { numRuns: 30, examples: [["'; drop table products; --"], ['\0'], ['$1 \\ " \' % _']] },
    );
    expect((await postgres.run('select count(*)::int as n from products')).rows).to.deep.equal([{ n: 3 }]);
  });

  it('cancels a late statement on the server, and uses its connection again', async () => {
    expect(outcomes(await ask(project, { seconds: 30 }))['slow']).to.match(/^late/);
    await pause(200);
    expect((await statements()).filter(({ state }) => state === 'active')).to.deep.equal([]);
    const before = (
      await postgres.run(
        "select count(*)::int as n from pg_stat_activity where application_name = 'millrace'",
      )
    ).rows as unknown;
    expect(outcomes(await ask(project, { seconds: 0 }))['slow']).to.equal('found');
    expect(
      (
        await postgres.run(
          "select count(*)::int as n from pg_stat_activity where application_name = 'millrace'",
        )
      ).rows,
    ).to.deep.equal(before);
  });

  it('has no more connections than its options say', async () => {
    let most = 0;
    const over = new AbortController();
    const asks = Promise.all(Array.from({ length: 12 }, () => ask(project, { seconds: 0.05 }))).finally(() =>
      over.abort(),
    );
    do {
      const { rows } = await postgres.run(
        "select count(*)::int as n from pg_stat_activity where application_name = 'millrace' and query like '%pg_sleep%'",
      );
      most = Math.max(most, (rows as { n: number }[])[0]?.n ?? 0);
    } while (!over.signal.aborted);
    await asks;
    expect(most).to.be.within(1, 2);
  });

  it('ranks without a server that is killed, hangs, or comes back', async function () {
    this.timeout(60_000);
    const query = { query: { query: 'trail shoe' } };
    postgres.signal('SIGSTOP');
    const began = performance.now();
    const hung = await ask(project, query);
    expect(performance.now() - began).to.be.below(LIMIT);
    expect([hung.status, hung.json['code']]).to.deep.equal([503, 'retrieval_failed']);
    postgres.signal('SIGCONT');
    await pause(700);
    expect(outcomes(await ask(project, query))['text']).to.equal('found');
    await postgres.stop();
    expect((await ask(project, query)).status).to.equal(503);
    await postgres.start();
    expect(outcomes(await ask(project, query))).to.include({ text: 'found', spelling: 'found' });
  });

  it('says what is wrong with a statement, its columns, a password or a server', async function () {
    this.timeout(60_000);
    const held: Socket[] = [];
    const silent = createServer((socket) => void held.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const one = (as: string, rest: string, url = postgres.url): string =>
      `{ use: postgres, as: ${as}, timeout: 1s, with: ${withOf(url, rest)} }`;
    const wrong = await serveFiles(
      filesFor(
        postgres.url,
        one('column', 'query: select titel from products'),
        one('no_id', 'query: select title from products'),
        one('no_number', 'query: "select id, title as score from products", outputs: [score]'),
        one('writes', 'query: "delete from products returning id"'),
        one('two', 'query: "select id from products; select 1 as id"'),
        one('database', 'query: select id from products', postgres.url.replace(/postgres$/, 'shop')),
        one('nobody', 'query: select id from products', 'postgres://127.0.0.1:1/shop'),
        one('silent', 'query: select id from products', `postgres://127.0.0.1:${port}/shop`),
      ),
      undefined,
      env,
    );
    try {
      const of = outcomes(await ask(wrong, { query: { query: 'trail' } }));
      const told = Object.fromEntries(Object.entries(of).slice(4));
      expect(told['silent']).to.match(/^late/);
      expect({ ...told, silent: '' }).to.deep.equal({
        column:
          'failed: column "titel" does not exist (42703); Perhaps you meant to reference the column "products.title".',
        no_id: 'failed: the statement returns no column `id`; it returns `title`',
        no_number:
          'failed: the column `score` has no number; select score::float8, or take it from `outputs`',
        writes: 'failed: cannot execute DELETE in a read-only transaction (25006)',
        two: 'failed: cannot insert multiple commands into a prepared statement (42601)',
        database: 'failed: database "shop" does not exist (3D000)',
        nobody: 'failed: 127.0.0.1: connect ECONNREFUSED 127.0.0.1:1',
        silent: '',
      });
      const { stdout } = await millrace(['validate', '--connect', '--project', wrong.root], { env });
      for (const line of [
        'column "titel" does not exist',
        'the column `score` has no number',
        'ECONNREFUSED',
        'returns id, score, popularity, shoe',
      ])
        expect(stdout).to.contain(line);
    } finally {
      await wrong.close();
      for (const socket of held) socket.destroy();
      silent.close();
    }
  });

  describe('the suite of retrievers, on a real server', () => {
    const http = httpConnector(AllowedHosts.parse('127.0.0.1') ?? AllowedHosts.none)({
      pipeline: 'p',
      step: 's',
    });
    const example = (): object => ({
      with: { url: postgres.url, query: TEXT, params: ['query.query', 'request.most'], outputs: ['score'] },
      kinds: { 'query.query': 'text' },
      http,
      findPackage: findTestPackage,
    });
    // The address is known when the tests run.
    for (const [at, { name }] of stepTests(plugin, []).entries())
      it(name, () => stepTests(plugin, [example()])[at]?.run());
  });
});
