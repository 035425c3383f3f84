import { Redis } from 'ioredis';
import { expect } from 'chai';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { serveFiles, until, type ServedProject } from '../support/served-project.js';

const scoring = (value: string): string =>
  `pipeline: ranked\nrank: item\nrequest: { candidates: {} }\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;

const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float, weight: float }\n',
  'pipelines/ranked.yaml': scoring('item.price'),
};

describeWith('redis-server', 'reloading a project that is served from redis', function () {
  this.timeout(20_000);
  let server: PrivateRedis;
  let client: Redis;
  let served: ServedProject;
  let other: ServedProject;

  before(async function () {
    server = await startRedisServer();
    client = new Redis(server.url);
    served = await serveFiles(FILES, server.url);
    other = await serveFiles(FILES, server.url);
  });
  after(async () => {
    await served.close();
    await other.close();
    client.disconnect();
    await server.remove();
  });

  const upload = (by: ServedProject, price: number, weight: number): Promise<unknown> =>
    by.post('/api/v1/entities/upload', {
      entity_type: 'item',
      entities: [{ item_id: 'a', price, weight }],
    });
  const score = async (): Promise<unknown> => {
    const { json } = await served.post('/api/v1/ranked', { candidates: [{ item_id: 'a' }] });
    return (json.ranked_candidates as { ranked_score: number }[])[0]?.ranked_score;
  };
  const connections = async (): Promise<number> =>
    String(await client.client('LIST'))
      .trim()
      .split('\n').length;

  it('begins new tables that are told of all writes, and gives the connections of old ones back', async () => {
    await until(() => served.app.resident.isCurrent() && other.app.resident.isCurrent());
    const before = await connections();
    await upload(served, 10, 1);
    expect(await score()).to.equal(10);
    for (const [turn, value] of ['item.weight', 'item.price + item.weight', 'item.weight * 2'].entries()) {
      const { resident } = served.app;
      const readsMore = turn < 2;
      await served.edit('pipelines/ranked.yaml', scoring(value));
      expect((await served.app.reload()).outcome).to.equal('succeeded');
      expect(served.app.resident !== resident).to.equal(readsMore);
      await until(() => served.app.resident.isCurrent());
      const [price, weight] = [20 + turn, 2 + turn];
      await upload(served, price, weight);
      const expected = [weight, price + weight, 2 * weight][turn];
      expect(await score()).to.equal(expected);
      expect(await score()).to.equal(expected);
      // Written by another process: told through Redis.
      await upload(other, price, weight + 1);
      const told = [weight + 1, price + weight + 1, 2 * (weight + 1)][turn];
      await until(async () => (await score()) === told);
    }
    await until(async () => (await connections()) === before);
  });
});
