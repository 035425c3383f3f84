import type { RedisMasters } from './masters.js';

/** The product and the version of the first server, e.g. `Redis 7.0.15`; `Redis` if this user may not read it. */
export async function serverVersion(masters: RedisMasters): Promise<string> {
  const [address] = masters.current();
  if (address === undefined) return 'Redis';
  const redis = masters.connect(address, 'version');
  redis.on('error', () => undefined); // the rejected command says why
  try {
    await redis.connect();
    const info = await redis.info('server').catch(() => '');
    const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
    if (valkey !== undefined) return `Valkey ${valkey}`;
    const version = /^redis_version:(\S+)/m.exec(info)?.[1];
    return version === undefined ? 'Redis' : `Redis ${version}`;
  } finally {
    redis.disconnect();
  }
}
