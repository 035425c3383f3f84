import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { Edge } from '../../runtime/serve/http/edge/edge.js';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { withFiles } from '../support/temporary-files.js';
import { startService } from '../../runtime/serve/app/serve.js';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { itWith } from '../support/needs.js';
import { openAudit } from '../../runtime/serve/app/process/open-log.js';
import { call, post, start, type Fakes, type Running } from './harness.js';

const UPLOAD = '/api/v1/entities/upload';
const SECRET = 'canary-4711';

describe('audit lines', () => {
  let app: Running;
  afterEach(() => app.close());

  const serve = async (over: Fakes = {}): Promise<void> => {
    app = await start(over);
  };

  /** The audit lines up to now, once so many are written. */
  async function audits(count: number): Promise<Record<string, unknown>[]> {
    for (;;) {
      const lines = app
        .log()
        .split('\n')
        .filter((line) => line.includes('"audit":true'));
      if (lines.length >= count) return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  it('are written for each write, with who, where, what and how much, and no value', async () => {
    const duplicates = { entity_type: 'product', entity_ids: [SECRET, 'p2'], duplicates: 1 };
    await serve({
      entities: {
        upload: () => Promise.resolve(duplicates),
        update: () =>
          Promise.resolve({
            entity_type: 'product',
            entity_ids: [SECRET],
            updated: 1,
            created: 0,
            unknown_ids: ['p3'],
          }),
        get: () => Promise.resolve({}),
        remove: () => Promise.resolve({ entity_type: 'product', entity_ids: [SECRET] }),
      },
      features: {
        push: () => Promise.resolve({ view: 'product_stats', stored: 2, older: 1, expired: 0 }),
        remove: () => Promise.resolve({ view: 'product_stats', deleted: 1, older: 0 }),
      },
      feedback: {
        record: () =>
          Promise.resolve({
            answer: { request_id: SECRET, stored: 1, duplicates: 0, too_old: 0, unused: 2, uncounted: 0 },
            counts: [],
          }),
      },
    });
    const body = { entity_type: 'product', entities: [{ product_id: SECRET }] };
    await post(app.url + UPLOAD, body, { 'x-request-id': 'r1' });
    const [first] = await audits(1);
    expect(first).to.include({
      level: 30,
      audit: true,
      msg: 'write',
      request_id: 'r1',
      key: '-',
      address: '127.0.0.1',
      route: UPLOAD,
      entity_type: 'product',
      status: 200,
    });
    expect(first?.counts).to.deep.equal({ entity_ids: 2, duplicates: 1 });
    const routes = SERVICE_ROUTES.filter((route) => 'writes' in route).map(({ path }) => path);
    for (const path of routes.filter((one) => one !== UPLOAD)) await post(app.url + path, body);
    const lines = await audits(routes.length);
    expect(lines.map(({ route }) => route)).to.have.members(routes);
    const of = (path: string): unknown => lines.find(({ route }) => route === path)?.counts;
    expect(of('/api/v1/entities/update')).to.deep.equal({
      entity_ids: 1,
      updated: 1,
      created: 0,
      unknown_ids: 1,
    });
    expect(of('/api/v1/features/push')).to.deep.equal({ stored: 2, older: 1, expired: 0 });
    expect(of('/api/v1/features/delete')).to.deep.equal({ deleted: 1, older: 0 });
    expect(of('/api/v1/feedback')).to.deep.equal({
      stored: 1,
      duplicates: 0,
      too_old: 0,
      unused: 2,
      uncounted: 0,
    });
    expect(JSON.stringify(lines)).not.to.contain(SECRET);
    expect(routes).to.have.length(32);
  });

  it('are written for failed writes too, with the code and what was stored', async () => {
    const failure = new MillraceError('store_partial_write', 'midway', {
      extensions: { stored_ids: [SECRET] },
    });
    await serve({
      entities: {
        upload: () => Promise.reject(failure),
        update: () => Promise.resolve({}),
        get: () => Promise.resolve({}),
        remove: () => Promise.resolve({}),
      },
    });
    await post(app.url + UPLOAD, { entity_type: SECRET });
    await post(app.url + UPLOAD, `{"entity_type": "${SECRET}`);
    await post(`${app.url}${UPLOAD}`, '{}', { origin: 'http://evil.example' });
    const lines = await audits(3);
    expect(lines.map(({ status, code, counts }) => ({ status, code, counts }))).to.deep.equal([
      { status: 503, code: 'store_partial_write', counts: { stored_ids: 1 } },
      { status: 400, code: 'malformed_json', counts: {} },
      { status: 403, code: 'foreign_origin', counts: {} },
    ]);
    expect(JSON.stringify(lines)).not.to.contain(SECRET);
  });

  it('are not written for reads', async () => {
    await serve();
    await post(`${app.url}/api/v1/entities/get`, {});
    await post(`${app.url}/api/v1/ranking`, {});
    await call(app.url + UPLOAD);
    await post(app.url + UPLOAD, {});
    expect((await audits(1)).map(({ route }) => route)).to.deep.equal([UPLOAD]);
  });

  it('name the client behind a trusted proxy', async () => {
    const edge = new Edge({
      host: '127.0.0.1',
      adminHost: '127.0.0.1',
      hosts: new Set(),
      corsOrigins: new Set(),
      ratePerAddress: 'off',
      trustedProxies: AddressRanges.parse('127.0.0.1') as AddressRanges,
      workers: 1,
    });
    await serve({ edge });
    await post(app.url + UPLOAD, {}, { 'x-forwarded-for': '203.0.113.9' });
    expect((await audits(1))[0]).to.include({ address: '203.0.113.9' });
  });
});

describe('the setting MILLRACE_AUDIT', () => {
  /** What one upload leaves in the log at a level, and in the file. */
  async function uploadWith(
    env: Readonly<Record<string, string>>,
  ): Promise<{ readonly log: number; readonly file: string | undefined }> {
    const files = { 'pipelines/none.yaml': 'pipeline: none\nrank: product\ncomponents: []\n' };
    return withFiles(files, async (root) => {
      const path = join(root, 'logs', 'audit.log');
      const all = { PORT: '0', ...env, ...(env.MILLRACE_AUDIT === 'FILE' ? { MILLRACE_AUDIT: path } : {}) };
      const settings = loadSettings(all, { project: root });
      const lines: string[] = [];
      const logger = pino({ level: settings.logLevel }, { write: (line: string) => void lines.push(line) });
      const service = await startService(settings, { store: new MemoryStore(), logger });
      try {
        await post(service.url + UPLOAD, { entity_type: 'product', entities: [{ product_id: 'p1' }] });
      } finally {
        await service.close();
      }
      const file = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
      return { log: lines.filter((line) => line.includes('"audit":true')).length, file };
    });
  }

  it('follows LOG_LEVEL by default', async () => {
    expect((await uploadWith({})).log).to.equal(1);
    expect((await uploadWith({ LOG_LEVEL: 'error' })).log).to.equal(0);
  });

  it('writes to the log at every level but silent with `log`, and nowhere with `off`', async () => {
    expect((await uploadWith({ LOG_LEVEL: 'error', MILLRACE_AUDIT: 'log' })).log).to.equal(1);
    expect((await uploadWith({ LOG_LEVEL: 'silent', MILLRACE_AUDIT: 'log' })).log).to.equal(0);
    expect((await uploadWith({ MILLRACE_AUDIT: 'off' })).log).to.equal(0);
  });

  it('writes to a file, at every level, and not to the log', async () => {
    const { log, file } = await uploadWith({ LOG_LEVEL: 'silent', MILLRACE_AUDIT: 'FILE' });
    expect(log).to.equal(0);
    expect(JSON.parse(file ?? '')).to.include({ audit: true, route: UPLOAD, status: 200 });
  });

  itWith('Linux', 'keeps lines that a full disk refuses, up to a limit, and says so', () => {
    const errors: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) });
    const log = openAudit({ audit: '/dev/full' }, logger);
    log?.info({ padding: 'x'.repeat(900_000) }, 'write');
    expect(errors.join('')).to.contain('they wait').and.contain('ENOSPC').and.not.contain('lost');
    log?.info({ padding: 'x'.repeat(200_000) }, 'write');
    expect(errors.join('')).to.contain('an audit line was lost');
  });

  it('is an error if the file cannot be opened', async () => {
    const failed = await uploadWith({ MILLRACE_AUDIT: '/dev/null/audit.log' }).catch(
      (error: unknown) => error,
    );
    expect(failed).to.include({ code: 'invalid_setting' });
    expect((failed as Error).message).to.contain('MILLRACE_AUDIT is /dev/null/audit.log: ');
  });
});
