import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { millrace, type CommandResult } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { itWith, type Need } from '../../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { serveFiles, type ServedProject } from '../../support/served-project.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
attributes: { title: string, price: float, number_text: string, tags: list(string), size: { record: { width: float } } }
`,
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
  'schemas/features/stats.yaml': `view: stats
of: [product, brand]
ttl: 7d
features: { ctr: float, orders: { type: int, default: 0 } }
`,
  'schemas/counters/live.yaml':
    'counter: live\nof: [product]\nfeatures: { clicks: { event: click, window: 7d } }\n',
  'products.jsonl': [
    {
      product_id: 'p1',
      title: `A lamp ${'of glass '.repeat(20)}`,
      price: 9.5,
      number_text: '7',
      tags: ['a', 'b'],
    },
    { product_id: 'p2', size: { width: 2 } },
  ]
    .map((product) => JSON.stringify(product))
    .join('\n'),
};

interface Place {
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

const widest = (text: string): number => Math.max(...text.split('\n').map((line) => line.length));

describe('entities get and delete, features get', () => {
  let root = '';
  let redis: PrivateRedis | undefined;
  let service: ServedProject | undefined;
  beforeEach(async () => {
    root = await writeProject(FILES);
  });
  afterEach(async () => {
    await service?.close();
    await redis?.remove();
    service = redis = undefined;
    await rm(root, { recursive: true, force: true });
  });

  const places: Readonly<Record<string, () => Promise<Place>>> = {
    'the embedded store': () =>
      Promise.resolve({
        flags: [],
        env: { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') },
      }),
    Redis: async () => {
      redis = await startRedisServer();
      return { flags: ['--store', 'redis'], env: { REDIS_URL: redis.url } };
    },
    'a running service': async () => {
      service = await serveFiles(FILES);
      return { flags: ['--url', service.url], env: {} };
    },
  };

  for (const [name, place] of Object.entries(places)) {
    const needs: readonly Need[] = name === 'Redis' ? ['redis-server'] : [];
    itWith(needs, `work with ${name}`, async () => {
      const { flags, env } = await place();
      const run = (...args: string[]): Promise<CommandResult> =>
        millrace([...args, '--project', root, ...flags], { env });
      await run('entities', 'load', 'product', join(root, 'products.jsonl'));
      const rows = join(root, 'rows.csv');
      const now = new Date(Date.now() - 3_600_000).toISOString();
      await writeFile(
        rows,
        `product_id,brand_id,ctr,orders,event_time\np1,b1,0.25,3,${now}\np2,b1,,,${now}\np3,b1,0.5,1,2020-01-01T00:00:00Z\n`,
      );
      await run('features', 'load', 'stats', rows);

      const whole = await run('entities', 'get', 'product', 'p1', 'p2', '--json');
      expect([whole.code, whole.stderr]).to.deep.equal([0, '']);
      expect(JSON.parse(whole.stdout)).to.deep.equal({
        entity_type: 'product',
        entities: Object.fromEntries(
          FILES['products.jsonl'].split('\n').map((line) => {
            const product = JSON.parse(line) as { readonly product_id: string };
            return [product.product_id, product];
          }),
        ),
      });
      const shown = await run('entities', 'get', 'product', 'p1', 'p9', 'p1');
      expect(shown.code).to.equal(1);
      expect(shown.stdout).to.match(/^product p1\nattribute +value\n─+ +─+\n/);
      expect(shown.stdout)
        .to.match(/^price +9\.5$/m)
        .and.match(/^number_text +"7"$/m)
        .and.match(/^title .*…$/m);
      expect(shown.stdout).to.match(/^tags +\["a","b"\]$/m);
      expect(widest(shown.stdout)).to.be.at.most(80);
      expect(shown.stderr).to.equal(
        'not in the index: p9\nerror: 1 of 2 ids of product are not in the index\n',
      );

      const features = await run(
        ...['features', 'get', 'stats', '--json'],
        ...['p1', 'p2', 'p3', 'p4'].flatMap((id) => ['--key', `product_id=${id}`, '--key', 'brand_id=b1']),
      );
      expect(features.code).to.equal(1);
      expect(features.stderr).to.contain('not stored: product_id=p4 brand_id=b1\n');
      const cell = (value: unknown, status: string): object => ({ value, status });
      expect(JSON.parse(features.stdout)).to.deep.equal({
        view: 'stats',
        rows: [
          ['p1', now, cell(0.25, 'PRESENT'), cell(3, 'PRESENT')],
          ['p2', now, cell(null, 'NOT_FOUND'), cell(0, 'NOT_FOUND')],
          ['p3', '2020-01-01T00:00:00Z', cell(null, 'OUTSIDE_MAX_AGE'), cell(0, 'OUTSIDE_MAX_AGE')],
          ['p4', null, cell(null, 'NOT_FOUND'), cell(0, 'NOT_FOUND')],
        ].map(([id, time, ctr, orders]) => ({
          keys: { product_id: id, brand_id: 'b1' },
          event_time: time,
          features: { ctr, orders },
        })),
      });
      const row = await run('features', 'get', 'stats', '--key', 'product_id=p1', '--key', 'brand_id=b1');
      expect([row.code, row.stderr]).to.deep.equal([0, '']);
      expect(row.stdout).to.contain(`stats product_id=p1 brand_id=b1 at ${now}\n`);
      expect(row.stdout).to.match(/^ctr +PRESENT +0\.25$/m);
      expect(widest(row.stdout)).to.be.at.most(80);

      const deleted = await run('entities', 'delete', 'product', 'p1', 'p9');
      expect([deleted.code, deleted.stderr]).to.deep.equal([0, '']);
      expect(deleted.stdout).to.match(/^2 product ids deleted from /);
      const counted = await run('entities', 'delete', 'product', 'p1', '--json');
      expect(JSON.parse(counted.stdout)).to.deep.equal({ deleted: 1 });
      const left = await run('entities', 'get', 'product', 'p1', 'p2', '--json');
      expect(left.code).to.equal(1);
      expect(JSON.parse(left.stdout)).to.deep.nested.include({
        'entities.p1': null,
        'entities.p2.size': { width: 2 },
      });
    });
  }

  it('take more ids than one call, from a file', async () => {
    const ids = Array.from({ length: 2345 }, (_, i) => `p${i}`);
    await writeFile(join(root, 'ids.txt'), ids.join('\n'));
    await writeFile(join(root, 'many.jsonl'), ids.map((id) => JSON.stringify({ product_id: id })).join('\n'));
    const env = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
    const run = (...args: string[]): Promise<CommandResult> =>
      millrace([...args, '--project', root], { env });
    await run('entities', 'load', 'product', join(root, 'many.jsonl'));
    const got = await run('entities', 'get', 'product', '--file', join(root, 'ids.txt'), '--json');
    expect(Object.keys((JSON.parse(got.stdout) as { entities: object }).entities)).to.deep.equal(ids);
    const deleted = await run('entities', 'delete', 'product', '--file', join(root, 'ids.txt'));
    expect(deleted.stdout).to.match(/^2,345 product ids deleted/);
  });

  const mistakes: readonly (readonly [what: string, args: string[], code: number, message: string])[] = [
    ['an unknown type', ['entities', 'get', 'prodct', 'p1'], 1, 'did you mean "product"?'],
    ['an unknown type to delete', ['entities', 'delete', 'prodct', 'p1'], 1, 'did you mean "product"?'],
    ['no ids', ['entities', 'get', 'product'], 2, 'choose the entities with their ids, or with --file'],
    ['an id that is too long', ['entities', 'delete', 'product', 'x'.repeat(2000)], 2, 'at most 1024'],
    ['an unknown view', ['features', 'get', 'stat', '--key', 'product_id=p1'], 1, 'did you mean stats?'],
    ['a counter', ['features', 'get', 'live', '--key', 'product_id=p1'], 1, 'live is a counter'],
    [
      'no keys',
      ['features', 'get', 'stats'],
      2,
      'name each row with --key product_id=ID and --key brand_id=ID',
    ],
    ['a missing key', ['features', 'get', 'stats', '--key', 'product_id=p1'], 2, '--key brand_id=ID'],
    ['a misspelt key', ['features', 'get', 'stats', '--key', 'prodct_id=p1'], 2, 'did you mean product_id?'],
  ];
  for (const [what, args, code, message] of mistakes)
    it(`report ${what}`, async () => {
      const env = { MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'data') };
      const result = await millrace([...args, '--project', root], { env });
      expect(result.stdout).to.equal('');
      expect([result.code, result.stderr]).to.deep.equal([code, result.stderr]);
      expect(result.stderr).to.contain(message);
    });
});
