import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { misspeltSettings } from '../../../../runtime/project/settings/misspelt-settings.js';
import { redisSettings } from '../../../../runtime/project/settings/redis-settings.js';
import { loadSettings, SETTINGS, type SettingFlags } from '../../../../runtime/project/settings/settings.js';

type Env = Record<string, string>;

function failure(env: Env, flags: SettingFlags = {}): MillraceError {
  try {
    loadSettings(env, flags);
  } catch (error) {
    if (error instanceof MillraceError) return error;
    throw error;
  }
  throw new Error('expected the settings to be rejected');
}

describe('settings', () => {
  it('give all bodies together at least the memory of one', () => {
    const error = failure({ MILLRACE_BODY_MEMORY: '2000000', MILLRACE_MAX_UPLOAD_BYTES: '3000000' });
    expect(error.message).to.equal(
      'MILLRACE_BODY_MEMORY is 2000000; expected at least MILLRACE_MAX_RANKING_BYTES, which is 2097152',
    );
    expect(loadSettings({ MILLRACE_BODY_MEMORY: '12582912' }).bodyMemory).to.equal(12_582_912);
  });

  it('have a default for everything', () => {
    const settings = loadSettings({});
    expect(settings).to.include({ store: 'redis', port: 5001, host: '127.0.0.1', prefix: 'millrace' });
    expect(settings.redisUrl).to.equal('redis://127.0.0.1:6379');
  });

  it('report variables with a misspelt name', () => {
    const kubernetes = {
      MILLRACE_PORT: 'tcp://10.0.0.1:80',
      MILLRACE_SERVICE_HOST: 'h',
      REDIS_PORT: '1',
      REDIS_HOST: 'h',
    };
    const env = { ...kubernetes, MILLRACE_STOER: 'embedded', REDIS_ULR: 'x', MILLRACE_STORE: 'redis' };
    expect(misspeltSettings(env)).to.deep.equal([
      { name: 'MILLRACE_STOER', near: 'MILLRACE_STORE' },
      { name: 'REDIS_ULR', near: 'REDIS_URL' },
    ]);
    expect(misspeltSettings({ MILLRACE_PORT: '5001' })).to.deep.equal([
      { name: 'MILLRACE_PORT', near: 'PORT' },
    ]);
    const known = Object.values(SETTINGS).map((setting) => [setting.env, ''] as const);
    const ofCommands = ['MILLRACE_PYTHON', 'MILLRACE_KEY'].map((name) => [name, ''] as const);
    expect(misspeltSettings(Object.fromEntries([...known, ...ofCommands]))).to.deep.equal([]);
  });

  it('prefer a flag to the environment, and the environment to the default', () => {
    expect(loadSettings({ PORT: '6000' }, { port: '7000' }).port).to.equal(7000);
    expect(loadSettings({ PORT: '6000' }).port).to.equal(6000);
  });

  it('treat an empty variable as not set', () => {
    expect(loadSettings({ PORT: '', REDIS_URL: '' }).port).to.equal(5001);
  });

  it('list the entity types to cache, all or none', () => {
    expect(loadSettings({}).resident).to.equal('all');
    expect(loadSettings({ MILLRACE_RESIDENT: 'off' }).resident).to.deep.equal(new Set());
    expect(loadSettings({ MILLRACE_RESIDENT: 'product, brand' }).resident).to.deep.equal(
      new Set(['product', 'brand']),
    );
  });

  it('place the data folder in the project by default', () => {
    expect(loadSettings({}, { project: 'shop' }).dataDir).to.equal(join(resolve('shop'), '.millrace'));
    expect(loadSettings({ MILLRACE_DATA_DIR: 'data' }, { project: 'shop' }).dataDir).to.equal(
      resolve('data'),
    );
    expect(loadSettings({}, { dataDir: '/var/x' }).dataDir).to.equal(resolve('/var/x'));
  });

  for (const [variable, value] of [
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '50 01'],
    ['PORT', '0x10'],
    ['MILLRACE_STORE', 'Redis'],
    ['MILLRACE_TRACES', 'true'],
    ['OTEL_TRACES_SAMPLER', 'always'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'localhost:4318'],
    ['MILLRACE_PREFIX', 'a:b'],
    ['MILLRACE_SYNC', 'yes'],
    ['LOG_LEVEL', 'verbose'],
    ['REDIS_URL', 'http://localhost:6379'],
    ['REDIS_URL', 'localhost:6379'],
    ['REDIS_URL', 'redis://localhost:6379/orders'],
    ['REDIS_CLUSTER', 'redis://localhost:6379'],
    ['REDIS_SENTINELS', 'localhost:26379,'],
    ['REDIS_WAIT_REPLICAS', '-1'],
    ['REDIS_TLS_VERIFY', 'no'],
    ['REDIS_SOCKET_MS', '1s'],
    ['HOST', 'http://localhost'],
    ['MILLRACE_DRAIN_MS', '10s'],
    ['MILLRACE_RESIDENT', 'product,,brand'],
    ['MILLRACE_RESIDENT', 'Product'],
    ['MILLRACE_RESIDENT_BYTES', '256MB'],
    ['MILLRACE_RESIDENT_LEASE_MS', '1'],
  ] as const)
    it(`reject ${variable}=${value}, with the variable and what was expected`, () => {
      const error = failure({ [variable]: value });
      expect(error.code).to.equal('invalid_setting');
      const row = Object.values(SETTINGS).find(({ env }) => env === variable);
      expect(error.message).to.contain(variable).and.to.contain(row?.expected);
    });

  it('name the flag if the flag is wrong', () => {
    expect(failure({}, { port: 'http' }).message).to.contain('--port is "http"');
    expect(failure({}, { project: '' }).message).to.contain('--project');
  });

  it('never show an address that may contain a password', () => {
    expect(failure({ REDIS_URL: 'redi://user:hunter2@db:6379' }).message).not.to.contain('hunter2');
  });

  it('select a cluster or Sentinels', () => {
    const settings = loadSettings({ REDIS_CLUSTER: 'a, b:7000', REDIS_PASSWORD: 'x', REDIS_TLS: 'true' });
    expect(redisSettings(settings)).to.deep.include({
      cluster: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7000 },
      ],
      password: 'x',
    });
    const sentinels = loadSettings({ REDIS_SENTINELS: 's', REDIS_SENTINEL_MASTER: 'main' });
    expect(redisSettings(sentinels).sentinels).to.deep.equal([{ host: 's', port: 26_379 }]);
  });

  for (const [env, said] of [
    [{ REDIS_URL: 'redis://a', REDIS_CLUSTER: 'b' }, 'REDIS_URL and REDIS_CLUSTER'],
    [
      { REDIS_URL: 'redis://a', REDIS_SENTINELS: 'b', REDIS_SENTINEL_MASTER: 'm' },
      'REDIS_URL and REDIS_SENTINELS',
    ],
    [{ REDIS_CLUSTER: 'a', REDIS_SENTINELS: 'b' }, 'REDIS_CLUSTER and REDIS_SENTINELS'],
    [{ REDIS_SENTINELS: 'a' }, 'REDIS_SENTINEL_MASTER'],
    [{ REDIS_TLS_CA: 'ca.pem' }, 'REDIS_TLS'],
  ] as const)
    it(`reject ${Object.keys(env).join(' with ')} as a contradiction`, () => {
      const error = failure(env);
      expect(error.code).to.equal('invalid_setting');
      expect(error.message).to.contain(said);
      expect(() => loadSettings(env, { store: 'embedded' })).not.to.throw();
    });

  it('have each variable and flag once', () => {
    const rows = Object.values(SETTINGS);
    const names = [...rows.map((row) => row.env), ...rows.flatMap((row) => row.flag ?? [])];
    expect(new Set(names).size).to.equal(names.length);
  });
});
