import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { connectRedisStore, type RedisStore } from '../../runtime/state/store/redis/redis-store.js';
import type { RedisSettings, TlsSettings } from '../../runtime/project/settings/redis-target.js';
import { RedisTracking } from '../../runtime/state/store/redis/tracking.js';
import { makeCertificates, tlsArguments } from '../support/certificates.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedisSentinels } from '../support/redis-sentinel.js';
import { freePort, startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { describeWith } from '../support/needs.js';
import { until } from '../support/until.js';

const QUICK = { openWithin: 600, connectTimeout: 500, longestPause: 50 };

describeWith(['redis-server', 'openssl'], 'the redis store over TLS', () => {
  let folder: string;
  let server: PrivateRedis;
  let url: string;
  const file = (name: string): string => join(folder, name);

  before(async function () {
    this.timeout(20_000);
    folder = await mkdtemp(join(tmpdir(), 'millrace-tls-'));
    await makeCertificates(file);
    const port = await freePort();
    const pem = ['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')];
    const args = ['--tls-port', String(port), ...pem, '--tls-ca-cert-file', file('ca.pem')];
    server = await startRedisServer([...args, '--requirepass', 'sesame']);
    url = `rediss://:sesame@127.0.0.1:${port}`;
  });
  after(async () => {
    await (server as PrivateRedis | undefined)?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (tls: TlsSettings): Promise<RedisStore> => connectRedisStore({ url, tls, limits: QUICK });
  const refusal = async (tls: TlsSettings): Promise<string> => {
    const error: unknown = await open(tls).catch((reason: unknown) => reason);
    if (error instanceof MillraceError && error.code === 'store_unavailable') return error.message;
    throw new Error(`expected a refusal, got ${String(error)}`);
  };
  const client = (): TlsSettings => ({
    ca: file('ca.pem'),
    cert: file('client.pem'),
    key: file('client.key'),
  });

  it('works with the CA and a client certificate', async () => {
    const store = await open(client());
    await store.write([{ key: 'k', value: Buffer.from('v') }]);
    expect(await store.read(['k'])).to.deep.equal([Buffer.from('v')]);
    const [address] = store.masters.current();
    const extra = store.masters.connect(address ?? { host: '', port: 0 }, 'track');
    await extra.connect();
    expect(await extra.ping()).to.equal('PONG');
    extra.disconnect();
    await store.close();
  });

  it('refuses a server whose certificate no known CA signed, unless told to take any', async () => {
    const { cert, key } = client();
    const unknown = { cert: cert ?? '', key: key ?? '' };
    const message = await refusal(unknown);
    expect(message)
      .to.match(/certificate|self.signed/)
      .and.to.contain('REDIS_TLS_CA');
    expect(message).not.to.contain('sesame');
    await (await open({ ...unknown, verify: false })).close();
  });

  it('refuses a certificate of another name, unless that is the expected one', async () => {
    expect(await refusal({ ...client(), servername: 'redis.example' })).to.match(/altnames|Hostname/);
    await (await open({ ...client(), servername: 'localhost' })).close();
  });

  it('says so where the server wants a client certificate', async () => {
    expect(await refusal({ ca: file('ca.pem') })).to.contain('cannot be used');
  });

  /** Reads, writes, and is told of writes, each over TLS and with the password. */
  const check = async (settings: RedisSettings): Promise<void> => {
    const store = await connectRedisStore(settings);
    const tracking = new RedisTracking(store.masters, { prefixes: ['p:entity:a:'], leaseMs: 100 });
    const told = new Set<string>();
    try {
      tracking.start({
        invalidate: (keys) => {
          for (const key of keys) told.add(key);
        },
        flush: () => undefined,
      });
      await until('a tracked store', () => tracking.isCurrent());
      const keys = Array.from({ length: 30 }, (_, i) => `p:entity:a:${i}`);
      await store.write(keys.map((key) => ({ key, value: Buffer.from(key) })));
      expect(await store.read(keys)).to.deep.equal(keys.map((key) => Buffer.from(key)));
      await until('every key to be told', () => keys.every((key) => told.has(key)));
    } finally {
      tracking.close();
      await store.close();
    }
  };
  /** Neither with another CA nor with another password, and neither is shown. */
  const checkRefusals = async (settings: RedisSettings): Promise<void> => {
    const { cert, key } = client();
    const wrong = [
      { ...settings, tls: { on: true, cert: cert ?? '', key: key ?? '' } },
      { ...settings, password: 'pepper' },
    ];
    const told: string[] = [];
    for (const attempt of wrong) {
      const store = await connectRedisStore({ ...attempt, limits: QUICK }).catch((error: unknown) => error);
      if (!(store instanceof MillraceError)) throw new Error('expected a refusal');
      told.push(store.message);
    }
    expect(told[0])
      .to.match(/certificate|self.signed|none of the Sentinels/)
      .and.to.contain('REDIS_TLS_CA');
    expect(told[1])
      .to.match(/WRONGPASS|invalid/)
      .and.not.to.contain('pepper');
  };

  it('works over a cluster with a password', async function () {
    this.timeout(30_000);
    const secure = { tls: tlsArguments(file), password: 'sesame' };
    const cluster = await startRedisCluster({ masters: 3, replicas: false, secure });
    try {
      const tls = { on: true, ...client() };
      const settings = { cluster: cluster.addresses.slice(0, 1), password: 'sesame', tls };
      await check(settings);
      await checkRefusals(settings);
    } finally {
      await cluster.remove();
    }
  });

  it('works over Sentinels with a password', async function () {
    this.timeout(30_000);
    const secure = { tls: tlsArguments(file), password: 'sesame' };
    const redis = await startRedisSentinels({ replicas: 1, downAfter: 5000, password: 'watch', secure });
    try {
      const settings = {
        sentinels: redis.sentinels,
        sentinelMaster: redis.master,
        sentinelPassword: 'watch',
        password: 'sesame',
        tls: { on: true, ...client() },
      };
      await check({ ...settings, waitReplicas: 1 });
      await checkRefusals(settings);
    } finally {
      await redis.remove();
    }
  });
});
