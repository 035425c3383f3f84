import { connectRedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { startRedisCluster, type PrivateCluster } from '../support/redis-cluster.js';
import { storeContract } from './store.js';

let cluster: PrivateCluster | undefined;

storeContract('redis cluster', {
  needs: 'redis-server',
  async start(context) {
    context.timeout(30_000);
    cluster = await startRedisCluster({ masters: 3, replicas: false });
  },
  open: () => connectRedisStore({ cluster: cluster?.addresses.slice(0, 1) ?? [] }),
  stop: async () => cluster?.remove(),
});
