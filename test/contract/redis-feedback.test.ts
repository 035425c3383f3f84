import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createApp } from '../../runtime/serve/app/app.js';
import type { App } from '../../runtime/serve/app/running-app.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { scoresOf, writeProject } from '../support/project.js';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';

const PIPELINE = `pipeline: ranking
rank: product
request: { candidates: {}, user: user }
components:
  - use: interaction
    with:
      of: user
      with: product.brand
      outputs: { clicks: { event: click, window: 7d } }
  - use: score
    with: { value: interaction:clicks }
`;
const PRODUCT = 'entity: product\nextends: ProductEntity\nattributes: { brand: ref(brand) }\n';

describeWith('redis-server', 'feedback to two instances on one Redis', () => {
  let server: PrivateRedis;
  let root = '';
  let apps: App[] = [];

  before(async function () {
    server = await startRedisServer();
    root = await writeProject({
      'pipelines/ranking.yaml': PIPELINE,
      'schemas/entities/product.yaml': PRODUCT,
      'schemas/entities/brand.yaml': 'entity: brand\n',
    });
    const settings = loadSettings(
      { LOG_LEVEL: 'silent', REDIS_URL: server.url },
      { project: root, store: 'redis' },
    );
    apps = await Promise.all([createApp(settings), createApp(settings)]);
    await apps[0]?.entities.upload({
      entity_type: 'product',
      entities: [{ product_id: 'p', brand: 'b' }],
    });
  });
  after(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await (server as PrivateRedis | undefined)?.remove();
    await rm(root, { recursive: true, force: true });
  });

  const send = async (app: App | undefined, user_id: string, request_id: string): Promise<void> => {
    const events = [{ type: 'click', product: { product_id: 'p' } }];
    await app?.feedback.record({ request_id, user: { user_id }, events });
  };
  const clicks = async (app: App | undefined, user_id: string): Promise<number | undefined> => {
    const body = { user: { user_id }, candidates: [{ product_id: 'p' }] };
    const run = await app?.pipelines[0]?.run(body, { requestId: 'ranking' });
    return scoresOf(run?.answer.ranked_candidates ?? [])['p'];
  };

  it('loses none and counts none twice, whoever takes it', async () => {
    const sends = Array.from({ length: 80 }, (_, i) =>
      // Every third is sent again by a client that has not waited, to the other instance.
      i % 3 === 0
        ? [send(apps[0], 'busy', `r${i}`), send(apps[1], 'busy', `r${i}`)]
        : [send(apps[i % 2], 'busy', `r${i}`)],
    );
    await Promise.all(sends.flat());
    expect(await Promise.all(apps.map((app) => clicks(app, 'busy')))).to.deep.equal([80, 80]);
  });

  it('is seen by the next ranking of either once it is acknowledged', async () => {
    for (let i = 0; i < 10; i++) {
      await send(apps[i % 2], 'own', `r${i}`);
      expect(await Promise.all(apps.map((app) => clicks(app, 'own')))).to.deep.equal([i + 1, i + 1]);
    }
  });

  it('is forgotten by Redis once no window reaches back to it', async () => {
    await send(apps[0], 'gone', 'r');
    const redis = new Redis(server.url);
    try {
      const left = await redis.pttl('millrace:interactions:user:gone');
      expect(left).to.be.within(7 * 86_400_000 - 60_000, 7 * 86_400_000);
    } finally {
      redis.disconnect();
    }
  });
});
