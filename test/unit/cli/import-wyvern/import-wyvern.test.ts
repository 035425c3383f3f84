import { readdir, readFile, writeFile } from 'node:fs/promises';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { loadSchemas } from '../../../../runtime/project/config/project/load-project.js';
import { noCounts } from '../../../../runtime/state/wyvern/import-counts.js';
import { importEntities } from '../../../../runtime/cli/import-wyvern/import-entities.js';
import { ImportStateFile } from '../../../../runtime/state/wyvern/import-state.js';
import { OldRedis } from '../../../../runtime/state/wyvern/old-redis.js';
import type { DataTarget } from '../../../../runtime/cli/load/target.js';
import { millrace, type CommandResult } from '../../../support/command-line.js';
import { lz4 } from '../../../support/lz4-frame.js';
import { startRedisServer, type PrivateRedis } from '../../../support/redis-server.js';
import { repositoryPath } from '../../../support/repository.js';
import { withFiles } from '../../../support/temporary-files.js';
import { describeWith } from '../../../support/needs.js';
import { until } from '../../../support/until.js';

const PROJECT = {
  'schemas/entities/product.yaml':
    'entity: product\nextends: ProductEntity\nattributes: { title: string, price: float, brand: ref(brand) }\n',
  'schemas/entities/brand.yaml': 'entity: brand\nattributes: { name: string }\n',
};

describeWith('redis-server', 'entities import-wyvern', () => {
  let server: PrivateRedis;
  let redis: Redis;
  before(async function () {
    server = await startRedisServer();
    redis = new Redis(server.url);
  });
  beforeEach(() => redis.flushall());
  after(async () => {
    redis.disconnect();
    await server.remove();
  });

  const put = (key: string, entity: unknown): Promise<unknown> => redis.set(key, lz4(JSON.stringify(entity)));

  const run = (root: string, ...more: string[]): Promise<CommandResult> =>
    millrace(
      ['entities', 'import-wyvern', '--redis', server.url, '--project', root, '--store', 'embedded', ...more],
      { env: { MILLRACE_DATA_DIR: join(root, 'data') } },
    );

  const stored = async (root: string, type: string): Promise<unknown[]> => {
    const argv = ['entities', 'export', type, '--project', root, '--store', 'embedded'];
    const { stdout } = await millrace(argv, { env: { MILLRACE_DATA_DIR: join(root, 'data') } });
    return stdout
      .trim()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  };

  /** What the old index may contain, good and bad. */
  async function fill(): Promise<void> {
    await put('shop:product:1', { product_id: '1', title: 'Road Runner', price: 12.5, brand_id: '1' });
    await put('shop:brand:1', { brand_id: '1', name: 'Lumen' });
    await put('shop:product:a:b', { product_id: 'a:b', big: 2 ** 63 });
    await put('shop:brand:acme', { sku: 'acme', name: 'Acme' });
    await put('shop:product:9', { product_id: '9', title: 'Vase', price: 'free' });
    await put('shop:product:10', { product_id: '10', title: 10, price: ' 12.50', brand_id: '1' });
    await put('shop:product:11', { product_id: '11', brand: '1', brand_id: '2' });
    await put('shop:product:8', { product_id: '7' });
    await put('shop:seller:3', { seller_id: '3' });
    await put('shop:list', [1, 2]);
    await redis.set('shop:product:cut', lz4('{"product_id":"cut"}').subarray(0, 20));
    await redis.set('shop:session', 'plain text');
    await redis.hset('shop:features', 'a', '1');
    await put('shop:seller:1', { seller_id: '1', brand_id: '1' });
    await put('other:product:2', { product_id: '2' });
  }

  const golden = (name: string, { code, stdout, stderr }: CommandResult): void => {
    const told = `exit ${code}\n${stdout}${stderr}`
      .replaceAll(server.url, 'redis://old:6379')
      .replace(/127\.0\.0\.1:\d+/g, 'old:6379')
      .replaceAll(/\/\S*\/data/g, '.millrace');
    const path = repositoryPath(`test/unit/cli/import-wyvern/${name}.expected.txt`);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(path, told);
    expect(told).to.equal(readFileSync(path, 'utf8'));
  };

  it('imports entities with the ids and the digits of the old index, and lists the rest', () =>
    withFiles(PROJECT, async (root) => {
      await fill();
      const before = await redis.dbsize();
      golden('mixed', await run(root, '--prefix', 'shop:'));
      expect(await stored(root, 'brand')).to.have.deep.members([
        { brand_id: '1', name: 'Lumen' },
        { sku: 'acme', name: 'Acme', brand_id: 'acme' },
      ]);
      expect(await stored(root, 'product')).to.deep.include({
        product_id: '1',
        title: 'Road Runner',
        price: 12.5,
        brand_id: '1',
      });
      // As the old service did, a text is a number where the attribute is one.
      expect(await stored(root, 'product')).to.deep.include({
        product_id: '10',
        title: '10',
        price: 12.5,
        brand_id: '1',
      });
      expect(await stored(root, 'product')).to.deep.include({ product_id: '9', title: 'Vase' });
      expect((await stored(root, 'product')).length).to.equal(4);
      expect(await redis.dbsize()).to.equal(before);
      expect(await readdir(join(root, 'data', 'loads')).catch(() => [])).to.deep.equal([]);
    }));

  it('promises with --dry-run what it then does', () =>
    withFiles(PROJECT, async (root) => {
      await fill();
      const outcomes = [await run(root, '--dry-run', '--json'), await run(root, '--json')];
      const [promised, done] = outcomes.map(({ code, stdout }) => [code, JSON.parse(stdout) as unknown]);
      expect(promised).to.deep.equal(done);
    }));

  it('counts without storing anything', () =>
    withFiles(PROJECT, async (root) => {
      await fill();
      golden('dry-run', await run(root, '--dry-run', '--type', 'brand', 'product'));
      expect(await stored(root, 'product')).to.deep.equal([]);
      const { stdout } = await run(root, '--dry-run', '--json', '--type', 'brand');
      expect(JSON.parse(stdout)).to.deep.include({ keys: 15, imported: { brand: 2 }, complete: true });
    }));

  it('takes keys that do not name the type, if the command line does', () =>
    withFiles(PROJECT, async (root) => {
      await put('1', { product_id: '1' });
      await put('shop:product:2', { product_id: '2' });
      const { stdout } = await run(root, '--dry-run', '--type', 'product', '--json');
      expect(JSON.parse(stdout)).to.deep.include({ imported: { product: 2 }, skipped: {} });
      const all = await run(root, '--dry-run', '--json');
      expect(JSON.parse(all.stdout)).to.deep.include({ imported: { product: 1 } });
    }));

  it('needs an account that may only read', () =>
    withFiles(PROJECT, async (root) => {
      await put('product:1', { product_id: '1' });
      await redis.call('ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '+scan', '+mget', '+dbsize');
      const url = server.url.replace('redis://', 'redis://reader:secret@');
      const argv = ['entities', 'import-wyvern', '--redis', url, '--project', root, '--store', 'embedded'];
      const { code, stdout } = await millrace(argv, { env: { MILLRACE_DATA_DIR: join(root, 'data') } });
      expect([code, stdout.includes('1  product imported')]).to.deep.equal([0, true]);
      const wrong = await millrace(argv.with(3, url.replace('secret', 'sesame')), {});
      expect(wrong.code).to.equal(1);
      expect(wrong.stderr)
        .to.contain('write user and password into the address')
        .and.not.to.contain('sesame');
    }));

  it('closes its connections where the old Redis refuses it', () =>
    withFiles(PROJECT, async (root) => {
      const url = server.url.replace('redis://', 'redis://reader:sesame@');
      const argv = ['entities', 'import-wyvern', '--redis', url, '--project', root];
      const { code } = await millrace(argv, { env: { REDIS_URL: server.url } });
      expect(code).to.equal(1);
      await until('closed connections', async () => {
        const clients = (await redis.client('LIST')) as string;
        return clients.trim().split('\n').length === 1;
      });
    }));

  it('resumes after the last page that was stored', () =>
    withFiles(PROJECT, async (root) => {
      for (let i = 0; i < 3000; i++) await put(`product:${i}`, { product_id: String(i) });
      const { entities } = (await loadSchemas(root)).config ?? {};
      const counts = noCounts();
      const old = new OldRedis(server.url);
      await old.open();
      const imported = new Set<string>();
      const target = {
        upload: (_type: string, _key: string | undefined, rows: readonly { value: object }[]) => {
          for (const { value } of rows) imported.add((value as { product_id: string }).product_id);
          return Promise.resolve({ entity_ids: [], duplicates: 0 });
        },
      } as unknown as DataTarget;
      let pages = 0;
      let cursor = '0';
      const parts = {
        old: {
          page: (at: string, prefix: string) => {
            if (++pages === 3) throw new Error('the connection is lost');
            return old.page(at, prefix);
          },
        },
        prefix: '',
        types: { known: [...(entities?.values() ?? [])], wanted: new Set(entities?.keys()) },
        target,
        counts,
        progress: { update: () => undefined, stop: () => undefined },
        reached: (at: string) => {
          cursor = at;
          return Promise.resolve();
        },
      };
      const lost: unknown = await importEntities(parts, cursor).catch((error: unknown) => error);
      expect(String(lost)).to.contain('the connection is lost');
      expect(imported.size).to.be.within(500, 2999);
      const before = pages;
      await importEntities(parts, cursor);
      old.close();
      expect(imported.size).to.equal(3000);
      expect(counts.imported).to.deep.equal({ product: 3000 });
      expect(pages - before).to.be.below(6);
    }));

  it('keeps its progress when the target fails, and refuses it after a restart of the old Redis', () =>
    withFiles(PROJECT, async (root) => {
      await put('product:1', { product_id: '1' });
      const failed = await run(root, '--url', 'http://127.0.0.1:9');
      expect(failed.code).to.equal(1);
      expect(failed.stderr).to.contain('the import is not complete; --resume continues from here');
      const file = new ImportStateFile(join(root, 'data'), ['one']);
      await file.write({ cursor: '17', run: 'a', counts: noCounts() });
      expect((await file.read('a'))?.cursor).to.equal('17');
      const refused: unknown = await file.read('b').catch((error: unknown) => error);
      expect(String(refused)).to.contain('the old Redis has restarted since');
      expect((await run(root, '--resume')).stderr).to.contain('there is no interrupted import');
    }));

  it('says what is wrong with the command line, and with the address', () =>
    withFiles(PROJECT, async (root) => {
      const outcomes = [
        await millrace(['entities', 'import-wyvern']),
        await millrace(['entities', 'import-wyvern', '--redis', 'localhost:6379']),
        await run(root, '--type', 'prodct'),
        await millrace([
          'entities',
          'import-wyvern',
          '--redis',
          'redis://x:pw@127.0.0.1:1',
          '--project',
          root,
        ]),
      ];
      const text = outcomes.map(({ code, stderr }) => `exit ${code}\n${stderr}`).join('');
      const path = repositoryPath('test/unit/cli/import-wyvern/mistakes.expected.txt');
      if (process.env['UPDATE_GOLDEN'] === '1') await writeFile(path, text);
      expect(text).to.equal(await readFile(path, 'utf8'));
    }));
});
