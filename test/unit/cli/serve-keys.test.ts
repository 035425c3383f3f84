import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { createKey } from '../../../runtime/serve/access/key-text.js';
import { millrace } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { startRedisServer } from '../../support/redis-server.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';
import { itWith } from '../../support/needs.js';
import { until as untilWithin } from '../../support/until.js';

const PIPELINE = 'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n';
const PATIENCE_MS = 60_000;
const until = (what: string, holds: () => Promise<boolean>): Promise<number> =>
  untilWithin(what, holds, PATIENCE_MS);

describe('millrace serve with keys', function () {
  this.timeout(2 * PATIENCE_MS);
  let root = '';
  let file = '';
  let service: ServiceProcess | undefined;
  beforeEach(async () => {
    root = await writeProject({
      'pipelines/plain.yaml': PIPELINE,
      'request.json': '{"candidates":[{"product_id":"p"}]}',
    });
    file = join(root, 'keys.json');
  });
  afterEach(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    service = undefined;
    await rm(root, { recursive: true });
  });

  const serve = async (env: Record<string, string>, ...flags: string[]): Promise<ServiceProcess> => {
    const store = env.REDIS_URL === undefined ? ['--store', 'embedded'] : [];
    service = await startProcess(['--project', root, '--port', '0', ...store, ...flags], {
      MILLRACE_LAME_DUCK_MS: '0',
      ...env,
    });
    return service;
  };
  /** Runs a service that must not start in this process, and returns what it says. */
  const refused = async (env: Record<string, string>, ...flags: string[]): Promise<string> => {
    const store = env.REDIS_URL === undefined ? ['--store', 'embedded'] : [];
    const argv = ['serve', '--project', root, '--port', '0', ...store, ...flags];
    const { code, stderr } = await millrace(argv, { env, stop: AbortSignal.timeout(PATIENCE_MS) });
    expect(code, 'the service started').to.be.greaterThan(0);
    return stderr;
  };
  const create = async (...argv: string[]): Promise<string> =>
    (await millrace(['keys', 'create', ...argv, '--keys-file', file])).stdout.trimEnd();
  const rankWith = async (url: string, key?: string): Promise<number> => {
    const response = await fetch(`${url}/api/v1/plain`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: '{"candidates":[{"product_id":"p"}]}',
    });
    await response.arrayBuffer();
    return response.status;
  };

  it('listens on other addresses only with keys or with MILLRACE_AUTH=none', async () => {
    const text = await refused({ HOST: '0.0.0.0' });
    expect(text).to.contain('error[invalid_setting]: HOST is 0.0.0.0, which other machines may reach');
    expect(text).to.contain('MILLRACE_KEYS').and.contain('MILLRACE_AUTH=none');
    const { lines, url } = await serve({ HOST: '0.0.0.0', MILLRACE_AUTH: 'none' });
    expect(await rankWith(url)).to.equal(200);
    expect(lines.map(({ msg }) => msg)).to.include('MILLRACE_AUTH is none: requests need no key');
    service?.child.kill('SIGKILL');
    await service?.ended;
    const key = await create('web', '--scope', 'rank');
    const guarded = await serve({ HOST: '0.0.0.0', MILLRACE_KEYS: file });
    expect([await rankWith(guarded.url), await rankWith(guarded.url, key)]).to.deep.equal([401, 200]);
  });

  it('does not start with several workers on an address that others reach', async () => {
    const text = await refused({ HOST: '0.0.0.0', REDIS_URL: 'redis://127.0.0.1:1' }, '--workers', '2');
    expect(text).to.contain('HOST is 0.0.0.0, which other machines may reach');
  });

  it('does not start if the keys file is missing or damaged', async () => {
    expect(await refused({ MILLRACE_KEYS: file })).to.contain('error[keys_missing]');
    expect(await refused({ MILLRACE_AUTH: 'keys' })).to.contain('MILLRACE_KEYS is not set');
    await writeFile(file, '{"version":1,"keys":[');
    expect(await refused({}, '--keys-file', file)).to.contain('error[keys_damaged]');
  });

  it('rotates a key without a restart', async () => {
    const old = await create('web', '--scope', 'rank');
    const { url } = await serve({ MILLRACE_KEYS: file, MILLRACE_RELOAD_POLL_MS: '20' });
    expect(await rankWith(url, old)).to.equal(200);
    const next = await create('web', '--scope', 'rank');
    await until('the new key works', async () => (await rankWith(url, next)) === 200);
    expect(await rankWith(url, old)).to.equal(200);
    await millrace(['keys', 'revoke', old.slice(3, 11), '--keys-file', file]);
    await until('the old key fails', async () => (await rankWith(url, old)) === 401);
    expect(await rankWith(url, next)).to.equal(200);
  });

  it('reads the keys at SIGHUP, and says at /readyz that the file is damaged', async () => {
    const old = await create('web', '--scope', 'rank');
    const { url, child } = await serve({ MILLRACE_KEYS: file, MILLRACE_RELOAD_POLL_MS: '3600000' });
    const next = await create('web', '--scope', 'rank');
    expect(await rankWith(url, next)).to.equal(401);
    child.kill('SIGHUP');
    await until('the new key works', async () => (await rankWith(url, next)) === 200);
    await writeFile(file, '{');
    const warnings = async (): Promise<string> => (await fetch(`${url}/readyz`)).text();
    await until('/readyz warns', async () => {
      child.kill('SIGHUP');
      return (await warnings()).includes('"code":"keys_damaged"');
    });
    expect(JSON.parse(await warnings())).to.include({ status: 'OK' });
    expect([await rankWith(url, old), await rankWith(url, next)]).to.deep.equal([200, 200]);
  });

  itWith(
    'redis-server',
    'gives all workers the same keys, and counts their uses together',
    async function () {
      const redis = await startRedisServer();
      try {
        const old = await create('web', '--scope', 'rank');
        const metrics = await create('prometheus', '--scope', 'metrics', '--expires', '2100-01-01');
        const env = { REDIS_URL: redis.url, MILLRACE_KEYS: file, MILLRACE_RELOAD_POLL_MS: '20' };
        const { url } = await serve(env, '--workers', '2');
        for (let i = 0; i < 6; i++) expect(await rankWith(url, old)).to.equal(200);
        const text = await (
          await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${metrics}` } })
        ).text();
        const counted = text.match(/^millrace_key_requests_total\{key="web",.*status="200"\} (\d+)$/m)?.[1];
        expect(counted).to.equal('6');
        expect(text).to.match(/^millrace_keys_file_damaged 0$/m);
        expect(text).to.match(
          /^millrace_key_expires_timestamp_seconds\{key="prometheus",key_id="\w{8}"\} 4102444800$/m,
        );
        await millrace(['keys', 'revoke', 'web', '--keys-file', file]);
        await until('both workers refuse', async () => {
          const statuses: number[] = [];
          for (let i = 0; i < 8; i++) statuses.push(await rankWith(url, old));
          return statuses.every((status) => status === 401);
        });
      } finally {
        service?.child.kill('SIGKILL');
        await service?.ended;
        await redis.remove();
      }
    },
  );

  it('is used by commands with the key of MILLRACE_KEY', async () => {
    const key = await create('ops', '--scope', 'rank');
    const { url } = await serve({ MILLRACE_KEYS: file });
    const rank = (env: Record<string, string>): ReturnType<typeof millrace> =>
      millrace(['rank', 'plain', join(root, 'request.json'), '--url', url], { env });
    const without = await rank({});
    expect([without.code, without.stderr]).to.satisfy(
      ([code, text]: [number, string]) =>
        code === 1 && text.includes('error[key_required]') && text.includes('MILLRACE_KEY'),
    );
    const used = await rank({ MILLRACE_KEY: key });
    expect([used.code, used.stderr]).to.deep.equal([0, '']);
    expect((await rank({ MILLRACE_KEY: createKey().text })).stderr).to.contain('error[key_invalid]');
    const mistyped = await rank({ MILLRACE_KEY: key.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) });
    expect([
      mistyped.code,
      mistyped.stderr.includes('MILLRACE_KEY is not a whole key: its checksum is wrong'),
    ]).to.deep.equal([2, true]);
    expect(mistyped.stderr).not.to.contain(key.slice(12, 50));
  });
});
