import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { reader } from '../../plugins/postgres/index.js';
import { readerTests, type ReaderExample } from '../../runtime/cli/testing/reader-tests.js';
import { httpConnector } from '../../runtime/language/outbound/http-connector.js';
import { AllowedHosts } from '../../runtime/project/settings/allowed-hosts.js';
import { millrace } from '../support/command-line.js';
import { describeWith } from '../support/needs.js';
import { findTestPackage } from '../support/onnx-runtime.js';
import { startPostgres, type PrivatePostgres } from '../support/postgres-server.js';
import { writeProject } from '../support/project.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const STOCK = `
create table stock (product_id text primary key, amount bigint, price numeric, sold boolean, colours text[], changed timestamptz,
  likes float4[], brand int, more jsonb);
insert into stock values
  ('p1', 3, 1.5, true, '{red,"light \\"blue\\""}', '2026-01-30 12:00+01', '{1,2}', 7, '{"a": 1}'),
  ('p2', null, 'NaN', false, '{}', now(), null, null, null),
  ('p3', 9, 2, null, null, null, '{1,2}', 8, null);
create table taste (user_id text, brand_id text, clicks int);
insert into taste values ('u1', 'b1', 5), ('u1', 'b2', 6), ('u2', 'b1', 7);
`;

/** Of the pipeline, in milliseconds. */
const LIMIT = 4_000;

const view = (name: string, rest: string, features: string, of = '[product]'): Record<string, string> => ({
  [`schemas/features/${name}.yaml`]: `view: ${name}\nof: ${of}\nuse: postgres\n${rest}\nfeatures: ${features}\n`,
});

const withOf = (url: string, query: string, more = ''): string =>
  `with: { url: "${url}", query: "${query}"${more} }`;

const pipeline = (views: readonly string[], more = ''): Record<string, string> => ({
  'schemas/entities/product.yaml': 'entity: product\nattributes: { brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\n',
  'schemas/entities/user.yaml': 'entity: user\n',
  'pipelines/shop.yaml': `pipeline: shop
rank: product
request: { candidates: {}, user: optional(user) }
limits: { time: ${LIMIT}ms }
features: [${views.join(', ')}]
${more}
`,
});

interface Explained {
  readonly degraded: readonly { cause: string; value: string }[];
  readonly outside: {
    readonly round_trips: number;
    readonly keys_read: number;
    readonly reads?: readonly {
      view: string;
      outcome: string;
      asked: number;
      stale: number;
      reason?: string;
    }[];
  };
  readonly page: readonly {
    readonly candidate_id: string;
    readonly values: Record<string, { value: unknown; status: string; cause?: string }>;
  }[];
}

const body = (...ids: readonly string[]): object => ({
  candidates: (ids.length === 0 ? ['p1', 'p2', 'p3', 'none'] : ids).map((product_id) => ({ product_id })),
});

const explain = async (project: ServedProject, asked = body()): Promise<Explained> => {
  const { status, json } = await project.post('/api/v1/shop/explain', asked);
  expect(status, JSON.stringify(json)).to.equal(200);
  return json as unknown as Explained;
};

/** By candidate: the value of a name, or its status. */
const cells = ({ page }: Explained, name: string): Record<string, unknown> =>
  Object.fromEntries(
    page.map(({ candidate_id: id, values }) => {
      const { value, status, cause } = values[name] ?? { value: null, status: 'none' };
      return [id, status === 'present' ? value : cause === undefined ? status : `${status}: ${cause}`];
    }),
  );

const reads = ({ outside }: Explained): Record<string, string> =>
  Object.fromEntries(
    (outside.reads ?? []).map(({ view: name, outcome, reason = '' }) => [
      name,
      `${outcome} ${reason}`.trim(),
    ]),
  );

describeWith('PostgreSQL', 'views that PostgreSQL reads', () => {
  let postgres: PrivatePostgres;
  const open: ServedProject[] = [];
  const env = { MILLRACE_MODEL_HOSTS: '127.0.0.1,localhost' };
  const serve = async (files: Record<string, string>): Promise<ServedProject> => {
    const project = await serveFiles(files, undefined, env);
    open.push(project);
    return project;
  };
  before(async function () {
    this.timeout(120_000);
    postgres = await startPostgres();
    await postgres.run(STOCK);
  });
  afterEach(async () => {
    for (const project of open.splice(0)) await project.close();
  });
  after(() => postgres.remove());

  const statements = async (text: string): Promise<number> => {
    const { rows } = await postgres.run(
      `select count(*)::int as n from pg_stat_activity where application_name = 'millrace' and state = 'active' and query like '%${text}%'`,
    );
    return (rows[0] as { n: number }).n;
  };

  const ALL =
    'select product_id, amount, price, sold, colours, changed, likes, likes as vec, brand, more from stock where product_id = any($1)';
  const TYPES =
    '{ amount: { type: int, default: 0 }, price: float, sold: bool, colours: list(string), changed: timestamp, likes: list(float), vec: vector(2), brand: ref(brand) }';
  const names = ['amount', 'price', 'sold', 'colours', 'changed', 'likes', 'vec', 'brand'];
  const answering = (more = ''): string =>
    `components:\n  - { use: score, with: { value: 'coalesce(s:amount, 0) + count(s:colours) * 0 + mean(s:likes) * 0 + s:vec[0] * 0 + s:price * 0 + if(s:sold, 0, 0) + age_days(s:changed) * 0 + if(s:brand == "x", 0, 0)' } }\n${more}`;

  it('reads each type, once for all candidates and beside the store, from a DSN of the environment', async () => {
    process.env['TEST_STOCK_DSN'] = postgres.url;
    const project = await serve({
      ...pipeline(['s: stock(product)'], answering()),
      ...view('stock', withOf('${TEST_STOCK_DSN}', ALL), TYPES),
    });
    delete process.env['TEST_STOCK_DSN'];
    const told = await explain(project);
    expect(reads(told)).to.deep.equal({ stock: 'read' });
    expect(told.degraded.filter(({ cause }) => cause !== 'unscored')).to.deep.equal([]);
    expect(told.outside).to.include({ round_trips: 1, keys_read: 4 });
    const of = Object.fromEntries(names.map((name) => [name, cells(told, `s:${name}`)]));
    expect(of['amount']).to.deep.equal({
      p1: 3,
      p2: 'defaulted: null',
      p3: 9,
      none: 'defaulted: missing_feature',
    });
    expect(of['price']).to.deep.equal({ p1: 1.5, p2: 'null', p3: 2, none: 'missing_feature' });
    expect(of['sold']).to.deep.equal({ p1: 1, p2: 0, p3: 'null', none: 'missing_feature' });
    expect(of['colours']).to.deep.include({ p1: ['red', 'light "blue"'], p2: [], p3: 'null' });
    expect(of['changed']).to.include({ p1: Date.parse('2026-01-30T11:00:00Z'), p3: 'null' });
    expect(of['likes']).to.deep.include({ p1: [1, 2], p2: 'null' });
    expect(of['vec']).to.deep.include({ p1: [1, 2], p2: 'null' });
    expect(of['brand']).to.include({ p1: '7', p2: 'null' });
    const online = await project.post('/feature/get-online-features', {
      features: ['stock:amount', 'stock:price'],
      entities: { product_id: ['p1', 'none'] },
    });
    expect(online.status, JSON.stringify(online.json)).to.equal(200);
    expect(JSON.stringify(online.json)).to.include('[3,0]');
    const metrics = await (await fetch(`${project.url}/metrics`)).text();
    expect(metrics).to.include('millrace_view_reads_total{view="stock",outcome="read"} 2');
    expect(metrics).to.include('millrace_view_rows_total{view="stock",from="asked"} 6');
  });

  it('reads a view of two entity types', async () => {
    const query =
      'select user_id, brand_id, clicks from taste where (user_id, brand_id) in (select * from unnest($1::text[], $2::text[]))';
    const project = await serve({
      ...pipeline(
        ['{ t: "taste(user, product.brand)" }'],
        "components:\n  - { use: score, with: { value: 't:clicks' } }",
      ),
      ...view('taste', withOf(postgres.url, query), '{ clicks: int }', '[user, brand]'),
    });
    const told = await explain(project, {
      user: { user_id: 'u1' },
      candidates: [
        { product_id: 'p1', brand: 'b1' },
        { product_id: 'p2', brand: 'b2' },
        { product_id: 'p3', brand: 'b1' },
        { product_id: 'p4' },
      ],
    });
    expect(cells(told, 't:clicks')).to.deep.equal({ p1: 5, p2: 6, p3: 5, p4: 'missing_entity' });
    expect(told.outside.keys_read).to.equal(2);
  });

  it('holds the time limit of a slow statement, cancels it, and ranks without it', async () => {
    const slow = withOf(
      postgres.url,
      'select product_id, amount from stock, pg_sleep(30) where product_id = any($1) /* slow one */',
    );
    const project = await serve({
      ...pipeline(
        ['s: stock(product)', 'h: half(product)'],
        "components:\n  - { use: score, with: { value: 'coalesce(s:amount, 0) + coalesce(h:amount, 1)' } }",
      ),
      ...view('stock', `timeout: 100ms\n${slow}`, '{ amount: { type: int, default: 7 } }'),
      ...view(
        'half',
        withOf(postgres.url, 'select product_id, amount from stock where product_id = any($1)'),
        '{ amount: int }',
      ),
    });
    const answer = await fetch(`${project.url}/api/v1/shop`, {
      method: 'POST',
      body: JSON.stringify(body()),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('millrace-degraded')).to.include('read=stock').and.not.include('failed=');
    expect(project.log.map(({ msg }) => msg)).to.include('a reader did not answer in full');
    const told = await explain(project);
    expect(reads(told)).to.deep.equal({ half: 'read', stock: 'late it did not answer within 100 ms' });
    expect(cells(told, 's:amount')).to.include({ p1: 'failed', none: 'failed' });
    expect(cells(told, 'h:amount')).to.include({ p1: 3, none: 'missing_feature' });
    for (let tries = 0; tries < 100 && (await statements('slow one')) > 0; tries++) await pause(20);
    expect(await statements('slow one')).to.equal(0);
  });

  it('takes at most half of the time of a request without `timeout`', async () => {
    const slow = withOf(
      postgres.url,
      'select product_id, amount from stock, pg_sleep(30) where product_id = any($1)',
    );
    const project = await serve({
      ...pipeline(
        ['s: stock(product)'],
        "components:\n  - { use: score, with: { value: 'coalesce(s:amount, 0)' } }",
      ),
      ...view('stock', slow, '{ amount: int }'),
    });
    const told = await explain(project);
    expect(reads(told)['stock']).to.match(/^late it did not answer within 1\d{3} ms$/);
  });

  it('tells wrong columns, wrong types, too many rows, repeated keys and wrong SQL', async () => {
    const at = (query: string): string => withOf(postgres.url, query);
    const where = 'from stock where product_id = any($1)';
    const bad = {
      lacks: at(`select product_id, price ${where}`),
      texts: at(`select product_id, product_id as amount, price ${where}`),
      parts: at(`select product_id, amount + 0.5 as amount, price ${where}`),
      many: at(
        'select product_id, amount, price from stock cross join generate_series(1, 9) where product_id <> ($1::text[])[1]',
      ),
      twice: at(`select product_id, amount, price ${where} union all select 'p1', 4, 5 where 'p1' = any($1)`),
      keyless: at(`select amount, price ${where}`),
      wrong: at('select nothing from nowhere where id = any($1)'),
    };
    const project = await serve({
      ...pipeline(
        Object.keys(bad).map((name) => `${name}: ${name}(product)`),
        `components:\n  - { use: score, with: { value: '${Object.keys(bad)
          .map((name) => `coalesce(${name}:amount, 0) + coalesce(${name}:price, 0)`)
          .join(' + ')}' } }`,
      ),
      ...Object.fromEntries(
        Object.entries(bad).flatMap(([name, rest]) =>
          Object.entries(view(name, rest, '{ amount: int, price: float }')),
        ),
      ),
    });
    const told = await explain(project);
    expect(reads(told)).to.deep.equal({
      lacks: 'partial the statement returns no column `amount`; it returns `product_id`, `price`',
      texts: 'partial the column `amount` has no values of the type int',
      parts: 'partial `amount`: expected a whole number up to 2^53, found the number 3.5',
      many: 'partial it returned more rows than the 4 keys; add a condition such as = any($1)',
      twice: 'partial 1 rows repeat a key; return one row for each key',
      keyless: 'failed the statement returns no column `product_id`, the key; it returns `amount`, `price`',
      wrong: 'failed relation "nowhere" does not exist (42P01)',
    });
    expect(cells(told, 'lacks:amount')).to.include({ p1: 'failed' });
    expect(cells(told, 'lacks:price')).to.include({ p1: 1.5, none: 'missing_feature' });
    expect(cells(told, 'texts:price')).to.include({ p1: 1.5 });
    expect(cells(told, 'parts:amount')).to.include({ p1: 'failed', p2: 'null', p3: 'failed' });
    expect(cells(told, 'many:amount')).to.include({ none: 'failed' });
    expect(cells(told, 'twice:amount')).to.include({ p1: 3, none: 'missing_feature' });
    expect(cells(told, 'wrong:amount')).to.include({ p1: 'failed' });
    const causes = told.degraded.flatMap(({ cause, value }) => (cause === 'read' ? value : []));
    expect(causes.sort()).to.deep.equal(Object.keys(bad).sort());
  });

  it('keeps rows: fresh ones are not read again, older ones are stale when the server is killed, and it recovers', async function () {
    this.timeout(60_000);
    const own = await startPostgres();
    try {
      await own.run(STOCK);
      const rest = (cache: string): string =>
        `timeout: 1s\n${cache}\n${withOf(own.url, 'select product_id, amount from stock where product_id = any($1)')}`;
      const project = await serve({
        ...pipeline(
          ['long: long(product)', 'brief: brief(product)', 'none: none(product)'],
          "components:\n  - { use: score, with: { value: 'coalesce(long:amount, 0) + coalesce(brief:amount, 0) + coalesce(none:amount, 0)' } }",
        ),
        ...view('long', rest('cache: { fresh: 10m, keep: 1h }'), '{ amount: int }'),
        ...view('brief', rest('cache: { fresh: 1ms, keep: 1h }'), '{ amount: int }'),
        ...view('none', rest(''), '{ amount: int }'),
      });
      expect(reads(await explain(project))).to.deep.equal({ long: 'read', brief: 'read', none: 'read' });
      await own.run("update stock set amount = 4 where product_id = 'p1'");
      await pause(5);
      const second = await explain(project);
      expect(reads(second)).to.deep.equal({ long: 'kept', brief: 'read', none: 'read' });
      expect([cells(second, 'long:amount')['p1'], cells(second, 'brief:amount')['p1']]).to.deep.equal([3, 4]);
      await own.stop();
      const down = await explain(project, body('p1', 'none', 'unseen'));
      expect(reads(down)['none']).to.match(/^failed /);
      expect(cells(down, 'long:amount')).to.deep.equal({ p1: 3, none: 'missing_feature', unseen: 'failed' });
      expect(cells(down, 'brief:amount')).to.deep.equal({
        p1: 'stale',
        none: 'missing_feature',
        unseen: 'failed',
      });
      expect(cells(down, 'none:amount')).to.deep.equal({ p1: 'failed', none: 'failed', unseen: 'failed' });
      expect(down.outside.reads?.find((one) => one.view === 'brief')).to.include({ asked: 3, stale: 2 });
      await own.start();
      let back = await explain(project);
      for (let tries = 0; tries < 50 && reads(back)['none'] !== 'read'; tries++) {
        await pause(100);
        back = await explain(project);
      }
      expect(reads(back)).to.include({ brief: 'read', none: 'read' });
      expect(cells(back, 'brief:amount')).to.include({ p1: 4 });
    } finally {
      await own.remove();
    }
  });

  it('keeps rows over a reload while the reader reads the same', async () => {
    const at = (more: string): string =>
      `cache: { fresh: 1h }\n${withOf(postgres.url, `select product_id, amount from stock where product_id = any($1)${more}`)}`;
    const project = await serve({
      ...pipeline(
        ['kept: kept(product)', 'other: other(product)'],
        "components:\n  - { use: score, with: { value: 'coalesce(kept:amount, 0) + coalesce(other:amount, 0)' } }",
      ),
      ...view('kept', at(''), '{ amount: int }'),
      ...view('other', at(''), '{ amount: int }'),
    });
    expect(reads(await explain(project))).to.deep.equal({ kept: 'read', other: 'read' });
    await project.edit(
      'schemas/features/other.yaml',
      Object.values(view('other', at(' -- edited'), '{ amount: int }'))[0] ?? '',
    );
    expect((await project.app.reload()).outcome).to.equal('succeeded');
    expect(reads(await explain(project))).to.deep.equal({ kept: 'kept', other: 'read' });
  });

  it('expires rows by their event time, as views of the store do', async () => {
    const rest = (more: string): string =>
      `ttl: 1h\n${more}\n${withOf(postgres.url, 'select product_id, amount, changed from stock where product_id = any($1)', ', time: changed')}`;
    const project = await serve({
      ...pipeline(
        ['a: a(product)', 'b: b(product)', 'c: c(product)'],
        "components:\n  - { use: score, with: { value: 'coalesce(a:amount, 0) + coalesce(b:amount, 0) + coalesce(c:amount, 0)' } }",
      ),
      ...view('a', rest(''), '{ amount: { type: int, default: 1 } }'),
      ...view('b', rest('expired: stale'), '{ amount: int }'),
      ...view('c', rest('expired: fail'), '{ amount: int }'),
    });
    const told = await explain(project);
    expect(cells(told, 'a:amount')).to.include({
      p1: 'defaulted: expired',
      p3: 9,
      none: 'defaulted: missing_feature',
    });
    expect(cells(told, 'b:amount')).to.include({ p1: 'stale', p2: 'null' });
    expect(cells(told, 'c:amount')).to.include({ p1: 'failed', p3: 9 });
  });

  it('survives a server that closes, hangs, or answers with nonsense', async function () {
    this.timeout(60_000);
    const sockets = new Set<Socket>();
    let mode: 'hang' | 'close' | 'nonsense' = 'hang';
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      if (mode === 'close') socket.destroy();
      if (mode === 'nonsense') socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const project = await serve({
      ...pipeline(
        ['s: stock(product)'],
        "components:\n  - { use: score, with: { value: 'coalesce(s:amount, 0)' } }",
      ),
      ...view(
        'stock',
        `timeout: 200ms\n${withOf(`postgres://owner@127.0.0.1:${port}/x`, 'select product_id, amount from stock where product_id = any($1)')}`,
        '{ amount: int }',
      ),
    });
    try {
      for (mode of ['hang', 'close', 'nonsense'] as const) {
        const told = await explain(project);
        expect(reads(told)['stock'], mode).to.match(/^(late|failed) /);
        expect(cells(told, 's:amount')).to.include({ p1: 'failed' });
      }
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
  });

  const conforming: ReaderExample = {
    keys: ['product_id'],
    features: {
      amount: { kind: 'int' },
      sold: { kind: 'bool' },
      colours: { kind: 'list', of: { kind: 'string' } },
    },
    rows: [
      { key: ['p1'], values: { amount: 3, sold: true, colours: ['red', 'light "blue"'] } },
      { key: ['p2'], values: { amount: null, sold: false, colours: [] } },
    ],
    missing: ['none'],
    http: httpConnector(AllowedHosts.parse('127.0.0.1,any') ?? AllowedHosts.none)({
      pipeline: '',
      step: 'stock',
    }),
    findPackage: findTestPackage,
  };
  for (const [at, { name }] of readerTests(reader, conforming).entries())
    it(`conforms: ${name}`, () => {
      const url = postgres.url;
      const query = 'select product_id, amount, sold, colours from stock where product_id = any($1)';
      return readerTests(reader, { ...conforming, with: { url, query } })[at]?.run();
    });

  it('is checked by validate: readers, options, hosts; and with --connect columns and types', async function () {
    this.timeout(60_000);
    const where = 'from stock where product_id = any($1)';
    const options = {
      both: `use: postgres\nwith: { url: "${postgres.url}", query: "select 1", query_file: x.sql }`,
      host: 'use: postgres\nwith: { url: "postgres://db.example/x", query: "select 1" }',
      literal: 'use: postgres\nwith: { url: "postgres://me:hunter2@127.0.0.1/x", query: "select 1" }',
    };
    const wrong = {
      nobody: 'use: postgress',
      lookup: 'use: kafka',
      keep: `use: postgres\ncache: { fresh: 5s, keep: 1s }\n${withOf(postgres.url, `select product_id, amount ${where}`)}`,
      grouped: `use: postgres\ngroup: live\n${withOf(postgres.url, `select product_id, amount ${where}`)}`,
      unused: 'cache: { fresh: 5s }',
    };
    const told = async (views: Readonly<Record<string, string>>): Promise<string> => {
      const root = await writeProject({
        ...pipeline(
          [`x: ${Object.keys(views)[0] ?? ''}(product)`],
          "components:\n  - { use: score, with: { value: 'x:amount' } }",
        ),
        'x.sql': 'select 1',
        ...Object.fromEntries(
          Object.entries(views).map(([name, rest]) => [
            `schemas/features/${name}.yaml`,
            `view: ${name}\nof: [product]\n${rest}\nfeatures: { amount: int }\n`,
          ]),
        ),
      });
      const { stdout, stderr } = await millrace(['validate', '--project', root], { env });
      return (stdout + stderr).replaceAll(/\s+/g, ' ');
    };
    const shapes = await told(wrong);
    for (const line of [
      'must be at least as long as `fresh`',
      '`group` is not allowed for a view that a reader reads',
      '`cache` does nothing: the view has no `use`',
      'there is no reader `postgress`',
      'did you mean `postgres`?',
      '`kafka` is a sink for records, not a reader',
    ])
      expect(shapes).to.include(line);
    const values = await told(options);
    for (const line of [
      'there is a `query` already',
      'MILLRACE_MODEL_HOSTS',
      'the password must come from an environment variable',
    ])
      expect(values).to.include(line);
    expect(shapes + values).not.to.include('hunter2');
    const sound = await writeProject({
      ...pipeline(['s: stock(product)'], "components:\n  - { use: score, with: { value: 's:amount' } }"),
      ...view('stock', withOf(postgres.url, `select product_id, amount ${where}`), '{ amount: int }'),
      ...view('typed', withOf(postgres.url, `select product_id, sold as amount ${where}`), '{ amount: int }'),
      ...view('broken', withOf(postgres.url, `select product_id, amout ${where}`), '{ amount: int }'),
    });
    const { stdout } = await millrace(['validate', '--connect', '--project', sound], { env });
    for (const line of [
      'the statement returns product_id, amount',
      'the column `amount` has no values of the type int',
      'column "amout" does not exist',
    ])
      expect(stdout).to.include(line);
  });

  it('is never asked by tests of rankings, and takes no rows', async () => {
    const files = {
      ...pipeline(['s: stock(product)'], "components:\n  - { use: score, with: { value: 's:amount' } }"),
      ...view(
        'stock',
        withOf(
          'postgres://owner@127.0.0.1:1/x',
          'select product_id, amount from stock where product_id = any($1)',
        ),
        '{ amount: int }',
      ),
      'tests/shop.yaml':
        'test: shop\npipeline: shop\ngiven: { features: { stock: [{ product_id: p2, amount: 5 }, { product_id: p1, amount: 2 }] } }\nrequest: { candidates: [{ product_id: p1 }, { product_id: p2 }] }\nexpect: { order: [p2, p1], scores: { p2: 5 } }\n',
    };
    const root = await writeProject(files);
    const { stdout, code } = await millrace(['test', '--project', root], { env });
    expect(code, stdout).to.equal(0);
    const project = await serve(files);
    const { status, json } = await project.post('/api/v1/features/push', {
      view: 'stock',
      rows: [{ product_id: 'p1', amount: 1 }],
    });
    expect(status).to.be.within(400, 422);
    expect(JSON.stringify(json)).to.include('is read-only');
  });
});
