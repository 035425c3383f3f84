import { rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../support/service-process.js';
import { describeWith } from '../support/needs.js';
import { until as untilWithin } from '../support/until.js';

const PATIENCE_MS = 90_000;
const until = (what: string, holds: () => Promise<boolean> | boolean): Promise<number> =>
  untilWithin(what, holds, PATIENCE_MS);

const pipeline = (factor: number): string => `pipeline: clicks
rank: product
request: { user: user }
components:
  - use: interaction
    as: history
    with: { of: user, with: product, outputs: { clicks: { event: click, window: 7d } } }
  - use: score
    with: { value: '${factor} * history:clicks' }
`;

describeWith('redis-server', 'sources of a service with several workers', function () {
  this.timeout(2 * PATIENCE_MS);
  let redis: PrivateRedis;
  let client: Redis;
  let root = '';
  let service: ServiceProcess;
  let added = 0;

  before(async function () {
    redis = await startRedisServer();
    client = new Redis(redis.url);
    const source = `source: web\nuse: redis_stream\ninto: feedback\nmap: segment\nwith: { url: "${redis.url}", stream: web }\n`;
    const products = `source: products\nuse: redis_stream\ninto: { entities: product }\nwith: { url: "${redis.url}", stream: products }\n`;
    root = await writeProject({
      'pipelines/clicks.yaml': pipeline(1),
      'schemas/entities/product.yaml':
        'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
      ...{ 'sources/web.yaml': source, 'sources/products.yaml': products },
    });
    service = await startProcess(['--project', root, '--port', '0', '--workers', '2'], {
      REDIS_URL: redis.url,
      MILLRACE_LAME_DUCK_MS: '0',
    });
  });
  after(async () => {
    service.child.kill('SIGKILL');
    await service.ended;
    client.disconnect();
    await redis.remove();
    await rm(root, { recursive: true, force: true });
  });

  async function add(count: number): Promise<void> {
    const pipe = client.pipeline();
    for (let i = 0; i < count; i++, added++)
      pipe.xadd(
        'web',
        '*',
        'data',
        JSON.stringify({
          ...{ type: 'track', messageId: `m${added}`, event: 'Product Clicked', userId: `u${added % 3}` },
          ...{ timestamp: new Date().toISOString(), properties: { product_id: 'a' } },
        }),
      );
    await pipe.exec();
  }

  /** The clicks of all users. */
  async function clicks(): Promise<number> {
    let sum = 0;
    for (const user of ['u0', 'u1', 'u2']) {
      const answer = await fetch(`${service.url}/api/v1/clicks`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', connection: 'close' },
        body: JSON.stringify({ user: { user_id: user }, candidates: [{ product_id: 'a' }] }),
      });
      const { ranked_candidates: ranked } = (await answer.json()) as {
        ranked_candidates: { ranked_score: number }[];
      };
      sum += ranked[0]?.ranked_score ?? NaN;
    }
    return sum;
  }

  const consumers = async (stream = 'web'): Promise<string[]> => {
    const found = (await client.xinfo('CONSUMERS', stream, `millrace-${stream}`)) as (string | number)[][];
    return found.map((one) => String(one[one.indexOf('name') + 1])).sort();
  };
  const workers = [1, 2].map((number) => `${hostname()}-${number}`);

  it('share a group, and count each message once', async () => {
    await add(300);
    await until('300 clicks', async () => (await clicks()) === 300);
    await until('both workers in the group', async () => (await consumers()).length === 2);
    expect(await consumers()).to.deep.equal(workers);
    await until('300 rows in the metrics', async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text();
      return metrics.includes('\nmillrace_source_rows_total{source="web",outcome="stored"} 300\n');
    });
  });

  it('leave entities to one worker, so that the last version stays', async () => {
    const pipe = client.pipeline();
    for (let price = 1; price <= 3000; price++)
      pipe.xadd('products', '*', 'data', JSON.stringify({ product_id: 'a', price }));
    await pipe.exec();
    await until('all versions', async () => {
      const [group] = (await client.xinfo('GROUPS', 'products')) as (string | number)[][];
      return group?.[group.indexOf('pending') + 1] === 0 && group[group.indexOf('lag') + 1] === 0;
    });
    const answer = await fetch(`${service.url}/api/v1/entities/get`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ entity_type: 'product', entity_ids: ['a'] }),
    });
    expect(await answer.text()).to.include('"price":3000');
    expect(await consumers('products')).to.deep.equal([workers[0]]);
  });

  it('go on if a worker is killed; the new one finishes what it held under the same name', async () => {
    const started = service.lines.length;
    await add(500);
    const pid = service.lines.find(({ worker }) => worker === 1)?.pid ?? expect.fail('no worker 1');
    process.kill(pid, 'SIGKILL');
    await until('its end', () => service.lines.slice(started).some(({ end }) => end === 'SIGKILL'));
    await add(200);
    await until('all clicks', async () => (await clicks()) === added);
    expect(await consumers()).to.deep.equal(workers);
    // A message is settled after its click counts.
    await until('all messages settled', async () => {
      const [group] = (await client.xinfo('GROUPS', 'web')) as (string | number)[][];
      return group?.[group.indexOf('pending') + 1] === 0;
    });
  });

  it('go on through a rolling reload', async () => {
    const reloaded = (): number =>
      service.lines.filter(({ msg }) => msg === 'the project was reloaded').length;
    const before = reloaded();
    await add(200);
    await writeFile(join(root, 'pipelines/clicks.yaml'), pipeline(2));
    service.child.kill('SIGHUP');
    await add(200);
    await until('the reload', () => reloaded() > before);
    await until('all clicks, which count double', async () => (await clicks()) === 2 * added);
    expect(await consumers()).to.deep.equal(workers);
  });
});
