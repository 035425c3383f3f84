import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { call, post, start, type Running } from './harness.js';

describe('health', () => {
  it('is alive whatever the store does', async () => {
    const app = await start({ store: { ping: () => Promise.reject(new Error('gone')) } });
    try {
      for (const path of ['/healthz', '/healthcheck']) {
        const answer = await call(app.url + path);
        expect([answer.status, answer.json]).to.deep.equal([200, { status: 'OK' }]);
      }
    } finally {
      await app.close();
    }
  });

  it('is ready while the store answers and pipelines are loaded', async () => {
    const app = await start();
    try {
      const answer = await call(`${app.url}/readyz`);
      expect([answer.status, answer.json]).to.deep.equal([
        200,
        { status: 'OK', checks: { store: { status: 'OK' }, pipelines: { status: 'OK' } } },
      ]);
    } finally {
      await app.close();
    }
  });

  it('is ready without a pipeline: the project may serve features and entities alone', async () => {
    const app = await start({ pipelines: [] });
    try {
      expect((await call(`${app.url}/readyz`)).status).to.equal(200);
    } finally {
      await app.close();
    }
  });

  it('is not ready while the store fails, says why, and is ready again after', async () => {
    let error: Error | undefined = new MillraceError(
      'store_unavailable',
      'Redis at 127.0.0.1:6379 refuses connections',
    );
    const app = await start({
      store: { ping: () => (error === undefined ? Promise.resolve() : Promise.reject(error)) },
    });
    try {
      const down = await call(`${app.url}/readyz`);
      expect(down.status).to.equal(503);
      expect(down.headers.get('retry-after')).to.equal('1');
      expect(down.json?.checks).to.deep.include({
        store: {
          status: 'FAILED',
          code: 'store_unavailable',
          reason: 'Redis at 127.0.0.1:6379 refuses connections',
        },
      });
      error = new Error('WRONGPASS user secret');
      const unknown = await call(`${app.url}/readyz`);
      expect(unknown.status).to.equal(503);
      expect(unknown.text).not.to.contain('secret');
      error = undefined;
      expect((await call(`${app.url}/readyz`)).status).to.equal(200);
    } finally {
      await app.close();
    }
  });

  it('is ready with warnings, which it lists', async () => {
    const warnings = [{ code: 'store_evicts', detail: 'maxmemory-policy is allkeys-lru' }];
    const app = await start({ store: { ping: () => Promise.resolve(), warnings: () => warnings } });
    try {
      const answer = await call(`${app.url}/readyz`);
      expect([answer.status, answer.json?.['warnings']]).to.deep.equal([200, warnings]);
    } finally {
      await app.close();
    }
  });

  it('logs a store that fails once, and once that it is back', async () => {
    let isDown = true;
    const error = new MillraceError('store_out_of_memory', 'Redis at a:1 refused the command: OOM');
    const app = await start({ store: { ping: () => (isDown ? Promise.reject(error) : Promise.resolve()) } });
    try {
      for (let i = 0; i < 5; i++) await call(`${app.url}/readyz`);
      isDown = false;
      for (let i = 0; i < 5; i++) await call(`${app.url}/readyz`);
      const lines = app
        .log()
        .split('\n')
        .filter((line) => line.includes('readiness check'));
      expect(lines.map((line) => (JSON.parse(line) as { code?: string }).code)).to.deep.equal([
        'store_out_of_memory',
        undefined,
      ]);
    } finally {
      await app.close();
    }
  });

  it('does not wait for a store that hangs, nor pile pings up on it', async () => {
    let pings = 0;
    const app = await start({
      store: {
        ping: () => {
          pings++;
          return new Promise(() => undefined);
        },
      },
    });
    try {
      const answers = await Promise.all([1, 2, 3, 4].map(() => call(`${app.url}/readyz`)));
      for (const { status } of answers) expect(status).to.equal(503);
      expect(pings).to.be.below(4);
    } finally {
      await app.close();
    }
  });
});

describe('metrics', () => {
  let app: Running;
  beforeEach(async () => (app = await start()));
  afterEach(() => app.close());

  const scrape = async (): Promise<string> => (await call(`${app.url}/metrics`)).text;

  it("are in Prometheus' format, with those of the process", async () => {
    const answer = await call(`${app.url}/metrics`);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(answer.text).to.contain('process_cpu_seconds_total');
  });

  it('count requests by route and status, never by a path that a client made up', async () => {
    await post(`${app.url}/api/v1/ranking`, {});
    await post(`${app.url}/api/v1/ranking`, {});
    await post(`${app.url}/api/v1/ranking`, '{');
    await call(`${app.url}/made-up-path?secret=1`);
    await call(`${app.url}/api/v1/ranking/?secret=2`, { method: 'DELETE' });
    const text = await scrape();
    expect(text).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="200"} 2');
    expect(text).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="400"} 1');
    expect(text).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="405"} 1');
    expect(text).to.contain('millrace_http_requests_total{route="none",status="404"} 1');
    expect(text).to.contain(
      'millrace_http_request_duration_seconds_count{route="/api/v1/ranking",status="200"} 2',
    );
    expect(text).not.to.match(/made-up|secret/);
  });

  it("tell a ranking's stages, candidates, round trips, skipped steps and unknown fields", async () => {
    await post(`${app.url}/api/v1/ranking`, {});
    await post(`${app.url}/api/v1/ranking`, {});
    const text = await scrape();
    for (const stage of ['read', 'hydrate', 'features', 'components', 'page']) {
      const name = 'millrace_pipeline_stage_duration_seconds_count';
      expect(text).to.contain(`${name}{pipeline="ranking",stage="${stage}"} 2`);
    }
    expect(text).to.contain(
      'millrace_pipeline_stage_duration_seconds_sum{pipeline="ranking",stage="hydrate"} 0.004',
    );
    expect(text).to.contain('millrace_pipeline_candidates_sum{pipeline="ranking"} 48');
    expect(text).to.contain('millrace_pipeline_store_round_trips_total{pipeline="ranking"} 4');
    expect(text).to.contain('millrace_pipeline_store_keys_read_total{pipeline="ranking"} 96');
    expect(text).to.contain('millrace_pipeline_skipped_steps_total{pipeline="ranking",step="deep"} 2');
    expect(text).to.contain('millrace_pipeline_degraded_total{pipeline="ranking",cause="unscored"} 2');
    expect(text).to.contain('millrace_pipeline_degraded_total{pipeline="ranking",cause="skipped"} 2');
    expect(text).to.contain('millrace_pipeline_unscored_candidates_total{pipeline="ranking"} 6');
    expect(text).to.contain('millrace_pipeline_duplicate_candidates_total{pipeline="ranking"} 4');
    expect(text).to.contain('millrace_pipeline_unknown_fields_total{pipeline="ranking"} 50');
    expect(text).not.to.contain('colour');
  });

  it('are of one app alone', async () => {
    const other = await start();
    try {
      await post(`${other.url}/api/v1/ranking`, {});
      expect(await scrape()).to.contain('millrace_pipeline_candidates_sum{pipeline="ranking"} 0\n');
    } finally {
      await other.close();
    }
  });
});
