import { expect } from 'chai';
import type { Explanation, ExplainedValue } from '../../runtime/request/pipeline/explain/explanation.js';
import type { TableState } from '../../runtime/request/resident/resident-tables.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { SeparateInstance } from '../support/separate-instance.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

/** A rolling deployment: instances of an older and of a newer schema on one Redis, each reading what the other wrote. */

const project = (attributes: string, features: string, reads: readonly string[]): Record<string, string> => ({
  'schemas/entities/product.yaml': `entity: product\nextends: ProductEntity\nattributes: { rev: int, ${attributes} }\n`,
  'schemas/features/stats.yaml': `view: stats\nof: [product]\nfeatures: { ${features} }\n`,
  'pipelines/ranking.yaml': `pipeline: ranking
rank: product
features: [stats]
components:
  - use: score
    with: { value: 'product.rev + ${reads.map((name) => `if(known(${name}), 0, 0)`).join(' + ')}' }
`,
});

const OLD = project(
  'price: int, stock: float, colour: string, labels: list(string), gone: string, size: int, taste: vector(2), seller: { record: { name: string, since: int } }',
  'clicks: int, ctr: float, dropped: int',
  [
    ...['price', 'stock', 'colour', 'gone', 'size', 'taste', 'seller.name', 'seller.since'].map(
      (name) => `product.${name}`,
    ),
    ...['stats:clicks', 'stats:ctr', 'stats:dropped'],
    'count(product.labels)',
  ],
);
const NEW = project(
  'price: float, stock: int, colour: list(string), labels: string, size: string, taste: vector(3), seller: { record: { name: string, city: string } }, added: int, weight: float',
  'clicks: float, ctr: int, extra: { type: int, default: 3 }',
  [
    ...['price', 'stock', 'labels', 'size', 'taste', 'seller.name', 'seller.city', 'added', 'weight'].map(
      (name) => `product.${name}`,
    ),
    ...['stats:clicks', 'stats:ctr', 'stats:extra'],
    'count(product.colour)',
  ],
);

const OLD_PRODUCT = {
  price: 12,
  stock: 2.5,
  colour: 'red',
  labels: ['a', 'b'],
  gone: 'still here',
  size: 4,
  taste: [1, 2],
  seller: { name: 'S', since: 1999 },
  // Not declared yet, when this is written.
  weight: 2.5,
  added: 'no number',
};
const NEW_PRODUCT = {
  price: 12.5,
  stock: 3,
  colour: ['red', 'blue'],
  labels: 'a',
  size: 'XL',
  taste: [1, 2, 3],
  seller: { name: 'S', city: 'Bern' },
  added: 7,
  weight: null,
  // Not declared any more.
  gone: 'sent by a client that has not heard',
};
const EQUAL_PRODUCT = { price: 12, stock: 3, colour: [], labels: null, size: '4', seller: { name: null } };

type Seen = Record<string, string>;

const OLD_SEEN_BY_NEWER: Seen = {
  'product.product_id': '"o" present',
  'product.rev': '1 present',
  'product.price': '12 present',
  'product.stock': 'failed', // 2.5 is no int
  'product.colour': 'failed', // a text is no list
  'product.labels': 'failed',
  'product.size': 'failed',
  'product.taste': 'failed', // of two elements, where three are declared
  'product.seller.name': '"S" present',
  'product.seller.city': 'absent',
  'product.added': 'failed',
  'product.weight': '2.5 present',
  'stats:clicks': '3 present',
  'stats:ctr': 'failed',
  'stats:extra': '3 defaulted',
};
const NEW_SEEN_BY_OLDER: Seen = {
  'product.product_id': '"n" present',
  'product.rev': '1 present',
  'product.price': 'failed', // 12.5 is no int
  'product.stock': '3 present',
  'product.colour': 'failed',
  'product.labels': 'failed',
  'product.gone': '"sent by a client that has not heard" present',
  'product.size': 'failed',
  'product.taste': 'failed',
  'product.seller.name': '"S" present',
  'product.seller.since': 'absent',
  'stats:clicks': 'failed',
  'stats:ctr': '1 present',
  'stats:dropped': 'missing_feature',
};
const EQUAL_SEEN_BY_OLDER: Seen = {
  'product.product_id': '"e" present',
  'product.rev': '1 present',
  'product.price': '12 present',
  'product.stock': '3 present',
  'product.colour': 'failed',
  'product.labels': 'null',
  'product.gone': 'absent',
  'product.size': 'failed',
  'product.taste': 'absent',
  'product.seller.name': 'null',
  'product.seller.since': 'absent',
  'stats:clicks': '3 present',
  'stats:ctr': 'null',
  'stats:dropped': 'missing_feature',
};

/** What one instance knows of a product, by name: `value status`, or the status alone. */
async function seenBy(instance: SeparateInstance, product_id: string): Promise<Seen> {
  const told = await instance.call<Explanation>('explain', { candidates: [{ product_id }] });
  const values = told.page[0]?.values ?? {};
  const text = ({ value, status }: ExplainedValue): string =>
    value === null ? status : `${JSON.stringify(value)} ${status}`;
  const read = Object.entries(values).filter(([name]) => !name.startsWith('score:'));
  return Object.fromEntries(read.map(([name, value]) => [name, text(value)]));
}

for (const resident of ['all', 'off']) {
  describeWith('redis-server', `two schemas on one Redis, resident tables ${resident}`, function () {
    this.timeout(60_000);
    let server: PrivateRedis;
    let older: SeparateInstance;
    let newer: SeparateInstance;

    before(async function () {
      server = await startRedisServer();
      const env = { MILLRACE_STORE: 'redis', REDIS_URL: server.url, MILLRACE_RESIDENT: resident };
      older = await SeparateInstance.start(OLD, env);
      newer = await SeparateInstance.start(NEW, env);
    });
    after(async () => {
      await (older as SeparateInstance | undefined)?.close();
      await (newer as SeparateInstance | undefined)?.close();
      await (server as PrivateRedis | undefined)?.remove();
    });

    const upload = (by: SeparateInstance, product_id: string, product: object): Promise<unknown> =>
      by.call('upload', { entity_type: 'product', entities: [{ product_id, ...product }] });
    const get = async (by: SeparateInstance, id: string): Promise<unknown> => {
      const body = { entity_type: 'product', entity_ids: [id] };
      return (await by.call<{ entities: Record<string, unknown> }>('get', body)).entities[id];
    };
    const shows = (by: SeparateInstance, id: string, rev: number): Promise<number> =>
      until('the last version', async () => (await seenBy(by, id))['product.rev'] === `${rev} present`);

    it('the newer reads what the older wrote', async () => {
      await upload(older, 'o', { rev: 1, ...OLD_PRODUCT });
      await older.call('push', {
        view: 'stats',
        rows: [{ product_id: 'o', clicks: 3, ctr: 0.5, dropped: 1 }],
      });
      await shows(newer, 'o', 1);
      for (const look of ['first', 'again'])
        expect(await seenBy(newer, 'o'), look).to.deep.equal(OLD_SEEN_BY_NEWER);
      expect(await get(newer, 'o')).to.deep.equal({ product_id: 'o', rev: 1, ...OLD_PRODUCT });
    });

    it('the older reads what the newer wrote', async () => {
      await upload(newer, 'n', { rev: 1, ...NEW_PRODUCT });
      await newer.call('push', { view: 'stats', rows: [{ product_id: 'n', clicks: 3.5, ctr: 1 }] });
      await shows(older, 'n', 1);
      for (const look of ['first', 'again'])
        expect(await seenBy(older, 'n'), look).to.deep.equal(NEW_SEEN_BY_OLDER);
      expect(await get(older, 'n')).to.deep.equal({ product_id: 'n', rev: 1, ...NEW_PRODUCT });
    });

    it('values that both types hold are read as what they are', async () => {
      await upload(newer, 'e', { rev: 1, ...EQUAL_PRODUCT });
      await newer.call('push', {
        view: 'stats',
        rows: [{ product_id: 'e', clicks: 3, ctr: null, extra: 4 }],
      });
      await shows(older, 'e', 1);
      expect(await seenBy(older, 'e')).to.deep.equal(EQUAL_SEEN_BY_OLDER);
    });

    it('each sees what the other has written over its own', async () => {
      for (let rev = 2; rev < 8; rev++) {
        const [by, other] = rev % 2 === 0 ? [newer, older] : [older, newer];
        await upload(by, 'o', { rev, ...(rev % 2 === 0 ? NEW_PRODUCT : OLD_PRODUCT) });
        expect((await seenBy(by, 'o'))['product.rev']).to.equal(`${rev} present`);
        await shows(other, 'o', rev);
        expect((await seenBy(other, 'o'))['product.colour']).to.equal('failed');
      }
    });

    it('the tables were asked, or there are none', async () => {
      for (const instance of [older, newer]) {
        const states = await instance.call<TableState[]>('resident');
        const hits = states.reduce((sum, state) => sum + state.hits, 0);
        expect(hits > 0).to.equal(resident === 'all');
      }
    });
  });
}
