import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import {
  accessOf,
  parseAddresses,
  parseRedisUrl,
  topologyOf,
  type RedisSettings,
} from '../../../../runtime/project/settings/redis-target.js';

const node = { host: 'a', port: 1 };

function refusal(settings: RedisSettings): string {
  try {
    topologyOf(settings);
    accessOf(settings);
  } catch (error) {
    if (error instanceof MillraceError && error.code === 'invalid_setting') return error.message;
    throw error;
  }
  throw new Error('expected the settings to be rejected');
}

describe('the address of Redis', () => {
  it('is this machine by default', () => {
    expect(topologyOf({})).to.deep.equal({ kind: 'single', node: { host: '127.0.0.1', port: 6379 } });
    expect(accessOf({})).to.deep.equal({
      username: undefined,
      password: undefined,
      database: 0,
      tls: undefined,
    });
  });

  it('takes user, password, database and TLS from a URL', () => {
    const url = 'rediss://app:p%40ss%2Fword@[::1]:6380/3';
    expect(topologyOf({ url })).to.deep.equal({ kind: 'single', node: { host: '::1', port: 6380 } });
    expect(accessOf({ url })).to.deep.equal({
      username: 'app',
      password: 'p@ss/word',
      database: 3,
      tls: { rejectUnauthorized: true },
    });
  });

  it('takes them from separate settings too', () => {
    const settings = {
      cluster: [node],
      username: 'app',
      password: 'secret',
      tls: { on: true, servername: 'redis' },
    };
    expect(topologyOf(settings)).to.deep.equal({ kind: 'cluster', nodes: [node] });
    expect(accessOf(settings)).to.deep.equal({
      username: 'app',
      password: 'secret',
      database: 0,
      tls: { servername: 'redis', rejectUnauthorized: true },
    });
  });

  it('skips the check of a certificate only on request', () => {
    expect(accessOf({ url: 'rediss://a', tls: { verify: false } }).tls).to.deep.equal({
      rejectUnauthorized: false,
    });
  });

  for (const [why, settings, said] of [
    ['two topologies', { cluster: [node], sentinels: [node] }, 'REDIS_CLUSTER and REDIS_SENTINELS'],
    ['Sentinels without a name', { sentinels: [node] }, 'REDIS_SENTINEL_MASTER'],
    ['a name without Sentinels', { sentinelMaster: 'main' }, 'REDIS_SENTINELS'],
    ['a Sentinel password without Sentinels', { sentinelPassword: 'x' }, 'REDIS_SENTINELS'],
    ['a database of a cluster', { cluster: [node], database: 1 }, 'REDIS_DATABASE'],
    ['two databases', { url: 'redis://a/1', database: 2 }, 'REDIS_DATABASE'],
    ['two passwords', { url: 'redis://:x@a', password: 'y' }, 'REDIS_PASSWORD'],
    ['a user without a password', { username: 'app' }, 'REDIS_PASSWORD'],
    ['a certificate without its key', { url: 'rediss://a', tls: { cert: 'c.pem' } }, 'REDIS_TLS_KEY'],
    ['a CA without TLS', { url: 'redis://a', tls: { ca: 'ca.pem' } }, 'rediss://'],
    ['unchecked certificates without TLS', { cluster: [node], tls: { verify: false } }, 'REDIS_TLS=true'],
    [
      'a file that does not exist',
      { url: 'rediss://a', tls: { ca: '/nowhere/ca.pem' } },
      'REDIS_TLS_CA: the file',
    ],
  ] as const)
    it(`refuses ${why}, and names the setting`, () => {
      expect(refusal(settings)).to.contain(said);
    });

  it('never shows a password', () => {
    expect(refusal({ url: 'redis://:hunter2@a', password: 'hunter3' })).not.to.match(/hunter/);
  });

  it('reads addresses', () => {
    expect(parseAddresses('a, b.c:7000,[::1]:7001', 6379)).to.deep.equal([
      { host: 'a', port: 6379 },
      { host: 'b.c', port: 7000 },
      { host: '::1', port: 7001 },
    ]);
    for (const text of ['a:', 'a:0', 'a:65536', 'redis://a', 'a b', 'a,,b', '::1:7000', 'a:1/2']) {
      expect(parseAddresses(text, 6379), text).to.equal(undefined);
    }
  });

  it('rejects URLs with parts that would be ignored', () => {
    for (const text of [
      'redis://a/x',
      'redis://a?db=1',
      'redis://a#1',
      'http://a',
      'redis:',
      'redis://%zz@a',
    ]) {
      expect(parseRedisUrl(text), text).to.equal(undefined);
    }
  });
});
