import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';
import { connectRedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { personalDataContract } from './personal-data.js';

let folder = '';
personalDataContract('embedded', {
  async start() {
    folder = await mkdtemp(join(tmpdir(), 'millrace-privacy-'));
  },
  open: () => openEmbeddedStore({ dataDir: folder }),
  stop: () => rm(folder, { recursive: true, force: true }),
});

let server: PrivateRedis | undefined;
personalDataContract('redis', {
  needs: 'redis-server',
  async start() {
    server = await startRedisServer();
  },
  open: () => connectRedisStore({ url: server?.url ?? '' }),
  stop: async () => server?.remove(),
});

let cluster: PrivateCluster | undefined;
personalDataContract('redis cluster', {
  needs: 'redis-server',
  async start(context) {
    context.timeout(30_000);
    cluster = await startRedisCluster({ masters: 3, replicas: false });
  },
  open: () => connectRedisStore({ cluster: cluster?.addresses.slice(0, 1) ?? [] }),
  stop: async () => cluster?.remove(),
});
