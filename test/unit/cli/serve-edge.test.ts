import { readFile, rm } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { expect } from 'chai';
import { makeCertificates } from '../../support/certificates.js';
import { millrace } from '../../support/command-line.js';
import { writeProject } from '../../support/project.js';
import { startRedisServer, type PrivateRedis } from '../../support/redis-server.js';
import { describeWith } from '../../support/needs.js';
import { startProcess, type ServiceProcess } from '../../support/service-process.js';

const PIPELINE = 'pipeline: plain\nrank: product\ncomponents:\n  - use: score\n    with: { value: 1 }\n';
const RANK = '/api/v1/plain';
const BODY = JSON.stringify({ candidates: [{ product_id: 'p' }] });

/** Paths that only the listener for operators answers, with the method. */
const OPERATORS = [
  ['GET', '/metrics'],
  ['GET', '/redoc'],
  ['GET', '/redoc/redoc.standalone.js'],
  ['GET', '/openapi.json'],
  ['POST', `${RANK}/explain`],
  ['POST', '/api/v1/entities/scan'],
] as const;

describeWith(['redis-server', 'openssl'], 'millrace serve with two listeners and TLS', function () {
  // A service is a process that loads the project; on a busy machine that takes seconds.
  this.timeout(120_000);
  let redis: PrivateRedis;
  let root = '';
  let service: ServiceProcess | undefined;
  before(async function () {
    redis = await startRedisServer();
    root = await writeProject({ 'pipelines/plain.yaml': PIPELINE });
    await makeCertificates((name) => join(root, name));
  });
  after(async () => {
    await redis.remove();
    await rm(root, { recursive: true });
  });
  afterEach(async () => {
    service?.child.kill('SIGKILL');
    await service?.ended;
    service = undefined;
  });

  const serve = async (
    env: Record<string, string>,
    ...flags: string[]
  ): Promise<{ url: string; admin: string }> => {
    service = await startProcess(['--project', root, '--port', '0', ...flags], {
      REDIS_URL: redis.url,
      MILLRACE_LAME_DUCK_MS: '500',
      MILLRACE_ADMIN_PORT: '0',
      ...env,
    });
    const line = service.lines.find(({ msg }) => msg === 'listening');
    return { url: service.url, admin: String(line?.admin_url) };
  };

  async function statusOf(url: string, method: string, path: string): Promise<number> {
    const ca = await readFile(join(root, 'ca.pem'));
    const options: RequestOptions = {
      method,
      agent: false,
      ca,
      headers: { 'content-type': 'application/json' },
    };
    const send = url.startsWith('https') ? request : plainRequest;
    return new Promise((resolve, reject) => {
      const sent = send(url + path, options, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0));
      });
      sent.once('error', reject);
      sent.end(
        method === 'POST'
          ? path === '/api/v1/entities/scan'
            ? '{"entity_type":"product"}'
            : BODY
          : undefined,
      );
    });
  }

  for (const [how, flags] of [
    ['in one process', []],
    ['with workers', ['--workers', '2']],
  ] as const) {
    it(`answers operators on their own listener only, ${how}`, async () => {
      const { url, admin } = await serve({}, ...flags);
      expect(admin)
        .to.match(/^http:\/\/127\.0\.0\.1:\d+$/)
        .and.not.to.equal(url);
      for (const [method, path] of OPERATORS) {
        expect(await statusOf(url, method, path), path).to.equal(404);
        expect(await statusOf(admin, method, path), path).to.equal(200);
      }
      for (const path of ['/healthz', '/healthcheck', '/readyz']) {
        expect(await statusOf(url, 'GET', path), path).to.equal(200);
        expect(await statusOf(admin, 'GET', path), path).to.equal(200);
      }
      expect(await statusOf(url, 'POST', RANK)).to.equal(200);
      expect(await statusOf(admin, 'POST', RANK)).to.equal(404);
      // Both listeners answer while the service shuts down, and then both close.
      service?.child.kill('SIGTERM');
      let ready = 200;
      while (ready === 200) ready = await statusOf(admin, 'GET', '/readyz');
      expect(ready).to.equal(503);
      expect(await service?.ended).to.equal(0);
      const refused = await statusOf(admin, 'GET', '/readyz').catch((error: unknown) => error);
      expect((refused as NodeJS.ErrnoException).code).to.equal('ECONNREFUSED');
    });

    it(`serves both listeners over TLS, ${how}`, async () => {
      const files = {
        MILLRACE_TLS_CERT: join(root, 'server.pem'),
        MILLRACE_TLS_KEY: join(root, 'server.key'),
      };
      const { url, admin } = await serve(files, ...flags);
      expect(url).to.match(/^https:/);
      expect(admin).to.match(/^https:/);
      for (let i = 0; i < 4; i++) expect(await statusOf(url, 'POST', RANK)).to.equal(200);
      expect(await statusOf(admin, 'GET', '/metrics')).to.equal(200);
      service?.child.kill('SIGTERM');
      expect(await service?.ended).to.equal(0);
    });
  }

  it('says at the start that a certificate file is missing, with workers too', async () => {
    for (const workers of ['1', '2']) {
      const env = { MILLRACE_TLS_CERT: join(root, 'none.pem'), MILLRACE_TLS_KEY: join(root, 'server.key') };
      const { code, stderr } = await millrace(['serve', '--project', root, '--workers', workers], {
        env: { REDIS_URL: redis.url, ...env },
      });
      expect(code).to.equal(2);
      expect(stderr).to.match(
        /error\[invalid_setting\]: MILLRACE_TLS_CERT is .*none\.pem; this file does not exist/,
      );
    }
  });

  it('says that both listeners have the same port, or which one is taken', async () => {
    const same = await millrace(['serve', '--project', root, '--port', '5999'], {
      env: { MILLRACE_ADMIN_PORT: '5999' },
    });
    expect(same.stderr).to.contain('MILLRACE_ADMIN_PORT and --port are both 5999');
    const { admin } = await serve({});
    const taken = await millrace(['serve', '--project', root, '--port', '0'], {
      env: { REDIS_URL: redis.url, MILLRACE_ADMIN_PORT: new URL(admin).port },
    });
    expect(taken.code).to.equal(2);
    expect(taken.stderr)
      .to.contain('is in use')
      .and.to.contain('choose another port with MILLRACE_ADMIN_PORT');
  });
});
