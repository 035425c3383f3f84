import { expect } from 'chai';
import { Redis } from 'ioredis';
import { describeWith } from '../support/needs.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { serveFiles, type ServedProject } from '../support/served-project.js';

const scoring = (value: string): string =>
  `pipeline: ranked\nrank: item\nrequest: { candidates: {} }\ncomponents:\n  - use: score\n    with: { value: ${value} }\n`;
const FILES = {
  'schemas/entities/item.yaml': 'entity: item\nattributes: { price: float }\n',
  'pipelines/ranked.yaml': scoring('item.price'),
};

describeWith('redis-server', 'a Redis that comes back empty', function () {
  this.timeout(20_000);
  let redis: PrivateRedis;
  let client: Redis;
  const served: ServedProject[] = [];
  before(async () => {
    redis = await startRedisServer();
    client = new Redis(redis.url);
  });
  after(async () => {
    for (const one of served) await one.close();
    client.disconnect();
    await redis.remove();
  });

  const load = (by: ServedProject): Promise<unknown> =>
    by.post('/api/v1/entities/upload', { entity_type: 'item', entities: [{ item_id: 'a', price: 1 }] });
  const ready = async ({ url }: ServedProject): Promise<readonly [number, unknown, string]> => {
    const answer = await fetch(`${url}/readyz`);
    const { checks, warnings = [] } = (await answer.json()) as {
      readonly checks: { readonly store: { readonly code?: string } };
      readonly warnings?: readonly { readonly code: string }[];
    };
    return [answer.status, checks.store.code, warnings.map(({ code }) => code).join()];
  };
  let version = 1;
  /** A reload looks at the store as the timer does every 20 seconds. */
  const look = async (one: ServedProject): Promise<void> => {
    await one.edit('pipelines/ranked.yaml', scoring(`item.price * ${++version}`));
    expect((await one.app.reload()).outcome).to.equal('succeeded');
  };

  it('is a warning of /readyz, and 503 with MILLRACE_REQUIRE_DATA, until data is there again', async () => {
    const tolerant = await serveFiles(FILES, redis.url);
    const strict = await serveFiles(FILES, redis.url, { MILLRACE_REQUIRE_DATA: 'true' });
    served.push(tolerant, strict);
    expect(await ready(strict)).to.deep.equal([200, undefined, '']);
    await load(strict);
    for (const one of served) await look(one);
    for (const one of served) expect(await ready(one)).to.deep.equal([200, undefined, '']);
    await client.flushall();
    for (const one of served) await look(one);
    expect(await ready(tolerant)).to.deep.equal([200, undefined, 'store_emptied']);
    expect(await ready(strict)).to.deep.equal([503, 'store_unavailable', 'store_emptied']);
    await load(strict);
    for (const one of served) await look(one);
    for (const one of served) expect(await ready(one)).to.deep.equal([200, undefined, '']);
  });
});
