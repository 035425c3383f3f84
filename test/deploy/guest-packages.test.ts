import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { check, resolveConfig } from 'prettier';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { createApp } from '../../runtime/serve/app/app.js';
import { draws } from '../support/draws.js';
import { cellsOf, memoryLedger } from '../support/memory-ledger.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith } from '../support/needs.js';
import { startPostgres, type PrivatePostgres } from '../support/postgres-server.js';
import { repositoryPath } from '../support/repository.js';

const run = promisify(execFile);

const manifest = (name: string): string =>
  JSON.stringify({
    name,
    version: '1.0.0',
    type: 'module',
    files: ['index.js'],
    millrace: { api: '^1.0', plugins: './index.js' },
  });

/** Outside the repository: a package with a pool of connections. */
const POOL = `import { defineService, optionsSchema } from 'millrace/api';
import pg from 'pg';

export const services = {
  pool: defineService({
    summary: 'Connections to the database of the shop.',
    options: optionsSchema({ url: { description: 'The address.', type: 'string' } }),
    create({ url }) {
      const pool = new pg.Pool({ connectionString: url, max: 4, query_timeout: 1000 });
      pool.on('error', () => undefined);
      return pool;
    },
    close: (pool) => pool.end(),
    health: (pool) => pool.query('select 1'),
  }),
};
`;

/** Outside the repository: a reader that uses the pool, and a policy. */
const BANDIT = `import { columnsOfRows, definePolicy, defineReader, drawBeta, optionsSchema, winWeights } from 'millrace/api';

const count = (description) => ({ description, millrace: 'number' });

export const readers = [
  defineReader({
    name: 'shop_table',
    summary: 'Reads a table of the shop.',
    options: optionsSchema({ table: { description: 'Its name.', type: 'string', pattern: '^[a-z_]+$' } }),
    create: ({ table }, { service, ...view }) => ({
      async read(input) {
        const statement = \`select * from \${table} where \${view.keys[0]} = any($1)\`;
        const { rows } = await service('pool').query(statement, [input.keys.flat()]);
        return columnsOfRows(rows, input, view);
      },
    }),
  }),
];

export const plugins = [
  definePolicy({
    name: 'thompson',
    summary: 'Draws places by the probability that a candidate is the best.',
    options: optionsSchema({ clicks: count('Clicks.'), views: count('Views.') }),
    create: ({ clicks, views }) => ({
      top: 3,
      weigh(input) {
        const [seen, clicked] = [views, clicks].map((one) => input.column(one).values);
        return winWeights(input, 5, (row) => drawBeta(1 + clicked[row], 1 + seen[row] - clicked[row], input));
      },
    }),
  }),
];
`;

describeWith('PostgreSQL', 'two packages outside the repository', () => {
  let postgres: PrivatePostgres;
  let folder = '';
  before(async function () {
    this.timeout(120_000);
    postgres = await startPostgres();
    await postgres.run(
      "create table arms (product_id text primary key, clicks int, views int); insert into arms values ('a', 3, 6), ('b', 2, 6), ('c', 1, 4)",
    );
    folder = await mkdtemp(join(tmpdir(), 'millrace-guests-'));
    for (const [name, text] of [
      ['guest-pool', POOL],
      ['guest-bandit', BANDIT],
    ] as const) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'package.json'), manifest(name));
      await writeFile(join(folder, name, 'index.js'), text);
      await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: join(folder, name) });
    }
    const shop = join(folder, 'shop');
    await mkdir(shop);
    await writeFile(join(shop, 'package.json'), '{ "name": "shop", "private": true }');
    const tarballs = ['guest-pool', 'guest-bandit'].map((name) => join(folder, `${name}-1.0.0.tgz`));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', ...tarballs], { cwd: shop });
    // In place of \`npm install pg\`.
    await symlink(repositoryPath('node_modules/pg'), join(shop, 'node_modules', 'pg'));
    const files = {
      'millrace.yaml': `project: shop\nplugins: [guest-pool, guest-bandit]\nservices: { pool: { url: '${postgres.url}' } }\n`,
      'schemas/features/arms.yaml':
        'view: arms\nof: [product]\nuse: shop_table\nwith: { table: arms }\ncache: { fresh: 1h }\nfeatures: { clicks: int, views: int }\n',
      'pipelines/shop.yaml':
        "pipeline: shop\nrank: product\nfeatures: [arms(product)]\ncomponents:\n  - { use: score, with: { value: 'arms:clicks / arms:views' } }\n  - { use: thompson, with: { clicks: arms:clicks, views: arms:views } }\nlog: { candidates: all }\n",
    };
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(shop, path)), { recursive: true });
      await writeFile(join(shop, path), text);
    }
  });
  after(async () => {
    await postgres.remove();
    await rm(folder, { recursive: true, force: true });
  });

  it('are at most 30 lines of formatted code each', async () => {
    const style = await resolveConfig(repositoryPath('package.json'));
    for (const text of [POOL, BANDIT]) {
      expect(text.split('\n').filter((line) => line.trim() !== '').length).to.be.at.most(30);
      expect(await check(text, { ...style, parser: 'babel' })).to.equal(true);
    }
  });

  it('share a pool, read a view and explore, and the logged propensities are those of the draws', async function () {
    this.timeout(500_000);
    const requests = draws(2_000);
    const { ledger, records } = memoryLedger();
    const settings = loadSettings(
      { LOG_LEVEL: 'silent', MILLRACE_EXPLORE_SALT: 'a secret of this test' },
      { project: join(folder, 'shop') },
    );
    const app = await createApp(settings, { store: new MemoryStore(), ledger, experiments: true });
    const body = { candidates: ['a', 'b', 'c'].map((product_id) => ({ product_id })) };
    const orders = new Map<string, string>();
    try {
      for (let n = 0; n < requests; n++) {
        const answer = await app.pipelines[0]?.run(body, { requestId: `r${n}` });
        orders.set(`r${n}`, (answer?.answer.ranked_candidates ?? []).map((one) => one.candidate_id).join(''));
      }
      const again = await app.pipelines[0]?.run(body, { requestId: 'r7' });
      expect((again?.answer.ranked_candidates ?? []).map((one) => one.candidate_id).join('')).to.equal(
        orders.get('r7'),
      );
    } finally {
      await app.close();
    }
    // By candidate and place: each request where it is there counts 1 / probability. That is the number of requests.
    const sums = { propensity: new Map<string, number[]>(), marginal: new Map<string, number[]>() };
    let counted = 0;
    for (const record of (await records()).slice(0, requests)) {
      counted++;
      const [place, ...probabilities] = ['place', 'propensity', 'marginal'].map(
        (name) => cellsOf(record, name) as number[],
      );
      for (const [at, of] of (['propensity', 'marginal'] as const).entries())
        for (const [row, own] of (probabilities[at] ?? []).entries()) {
          expect(own).to.be.within(1e-3, 1);
          const key = `${row} at ${place?.[row] ?? 0}`;
          const list = sums[of].get(key) ?? [];
          list.push(1 / own);
          sums[of].set(key, list);
        }
    }
    expect(counted).to.equal(requests);
    for (const [key, list] of sums.marginal) {
      const mean = list.reduce((sum, one) => sum + one, 0) / requests;
      const variance = list.reduce((sum, one) => sum + one * one, 0) / requests - mean * mean;
      expect(Math.abs(mean - 1), key).to.be.below(5 * Math.sqrt(variance / requests));
    }
    for (const [key, list] of sums.propensity)
      if (key.endsWith('at 1')) {
        const mean = list.reduce((sum, one) => sum + one, 0) / requests;
        const variance = list.reduce((sum, one) => sum + one * one, 0) / requests - mean * mean;
        expect(Math.abs(mean - 1), key).to.be.below(5 * Math.sqrt(variance / requests));
      }
    expect(new Set(orders.values()).size).to.equal(6);
  });
});
