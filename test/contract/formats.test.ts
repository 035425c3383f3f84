import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { readFixture, type Fixture } from '../formats/fixture.js';
import { answersOf, send, SHOP_FILES, SHOP_IDS, SHOP_WRITES } from '../formats/shop.js';
import { writeProject } from '../support/project.js';
import { itWith } from '../support/needs.js';
import { startRedisServer } from '../support/redis-server.js';

/** The versions that this one must be able to follow. */
const VERSIONS = ['0.1.0', '0.2.0'];

for (const version of VERSIONS) {
  describe(`data that version ${version} wrote`, () => {
    let fixture: Fixture;
    let root = '';
    before(async () => {
      fixture = await readFixture(version);
    });
    beforeEach(async () => {
      root = await writeProject(SHOP_FILES);
    });
    afterEach(() => rm(root, { recursive: true, force: true }));

    /** Serves the project at the time of the fixture, so that no event of it is too old to count. */
    async function serve<T>(
      env: Readonly<Record<string, string>>,
      use: (url: string) => Promise<T>,
    ): Promise<T> {
      const settings = loadSettings({ LOG_LEVEL: 'silent', ...env }, { project: root });
      const app = await createApp(settings, { clock: () => fixture.now + 60_000 });
      try {
        const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
        try {
          return await use(`http://127.0.0.1:${server.port}`);
        } finally {
          await server.close(0);
        }
      } finally {
        await app.close();
      }
    }

    async function answersAlike(env: Readonly<Record<string, string>>): Promise<void> {
      expect(await serve(env, answersOf)).to.deep.equal(fixture.answers);
      await serve(env, async (url) => {
        // The same entities and rows again, then one that is new: all written in the form of this version.
        for (const call of SHOP_WRITES) if (!call[0].endsWith('/feedback')) await send(url, call);
        const body = { entity_type: 'product', entities: [{ product_id: 'new', price: 1 }] };
        await send(url, ['/api/v1/entities/upload', body]);
      });
      await serve(env, async (url) => {
        const [entities, ...others] = await answersOf(url);
        const [first, ...rest] = fixture.answers;
        expect(entities).to.deep.equal(first);
        expect(others.slice(0, 3)).to.deep.equal(rest.slice(0, 3));
        const body = { entity_type: 'product', entity_ids: [SHOP_IDS[0], 'new'] };
        const answer = (await send(url, ['/api/v1/entities/get', body])) as {
          entities: Record<string, unknown>;
        };
        expect(answer.entities['new']).to.deep.equal({ product_id: 'new', price: 1 });
      });
    }

    it('is read from its data folder, which can then be written to', async function () {
      this.timeout(30_000);
      const dataDir = join(root, 'data');
      for (const [path, content] of Object.entries(fixture.folder)) {
        await mkdir(dirname(join(dataDir, path)), { recursive: true });
        await writeFile(join(dataDir, path), Buffer.from(content, 'base64'));
      }
      await answersAlike({ MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: dataDir });
    });

    itWith('redis-server', 'is read from its Redis, which can then be written to', async function () {
      this.timeout(30_000);
      const server = await startRedisServer();
      const redis = new Redis(server.url);
      try {
        await redis.mset(fixture.redis.flatMap(([key, value]) => [key, Buffer.from(value, 'base64')]));
        await answersAlike({ REDIS_URL: server.url });
      } finally {
        redis.disconnect();
        await server.remove();
      }
    });
  });
}
