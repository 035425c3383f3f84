import { connectRedisStore } from '../../runtime/state/store/redis/redis-store.js';
import { startRedisSentinels, type PrivateSentinels } from '../support/redis-sentinel.js';
import { storeContract } from './store.js';

let sentinels: PrivateSentinels | undefined;

storeContract('redis with sentinels', {
  needs: 'redis-server',
  async start(context) {
    context.timeout(30_000);
    sentinels = await startRedisSentinels({ replicas: 1, downAfter: 5000, password: 'watch' });
  },
  open: () =>
    connectRedisStore({
      sentinels: sentinels?.sentinels ?? [],
      sentinelMaster: sentinels?.master ?? '',
      sentinelPassword: 'watch',
      waitReplicas: 1,
    }),
  stop: async () => sentinels?.remove(),
});
