/** A route with a parameter, made as CONTRIBUTING.md says: a record, and a line in the list. */
import { pino } from 'pino';
import { expect } from 'chai';
import { createHttpApp } from '../../runtime/serve/http/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { describeApi } from '../../runtime/serve/http/openapi/document.js';
import { jsonAnswer } from '../../runtime/serve/http/openapi/types.js';
import { sendJson } from '../../runtime/serve/http/respond.js';
import type { GetRoute } from '../../runtime/serve/http/route.js';
import { parametersIn, reservedBy, RouteTable } from '../../runtime/serve/http/route-path.js';
import { routesOf } from '../../runtime/serve/http/routes.js';
import { HttpMetrics } from '../../runtime/serve/metrics/http-metrics.js';
import { fakeServices, type Calls } from './harness.js';

const stats = (path: string): GetRoute => ({
  path,
  scope: 'explain',
  method: 'GET',
  class: 'explain',
  handler:
    () =>
    ({ res, params }) =>
      sendJson(res, 200, { route: path, ...params }),
  operation: () => ({
    operationId: `stats_${path.length}`,
    tags: ['Service'],
    summary: 'Counts of a pipeline',
    responses: { 200: jsonAnswer('The counts.', { type: 'object' }) },
  }),
});

const STATS = '/api/v1/examples/:name/stats';
const ALL = '/api/v1/examples/all/stats';
const PART = '/api/v1/examples/:name/parts/:part';

describe('a route with parameters', () => {
  let url = '';
  let close: () => Promise<void>;
  const metrics = new HttpMetrics();
  const added = [stats(STATS), stats(ALL), stats(PART)];
  const calls: Calls = { bodies: [], contexts: [] };
  const services = fakeServices(calls, pino({ level: 'silent' }), { metrics });
  const routes = [...added, ...routesOf(services.pipelines)];
  before(async () => {
    const server = await listen(createHttpApp(services, undefined, routes), { host: '127.0.0.1', port: 0 });
    url = `http://127.0.0.1:${server.port}`;
    close = () => server.close(0);
  });
  after(() => close());

  const get = async (
    path: string,
    method = 'GET',
  ): Promise<{ status: number; json: unknown; allow: string | null }> => {
    const answer = await fetch(url + path, { method });
    const text = await answer.text();
    return {
      status: answer.status,
      json: text === '' ? undefined : (JSON.parse(text) as unknown),
      allow: answer.headers.get('allow'),
    };
  };

  it('answers with the parameters, decoded; a literal path wins, in any order of the list', async () => {
    expect(await get('/api/v1/examples/search/stats')).to.deep.include({
      status: 200,
      json: { route: STATS, name: 'search' },
    });
    expect((await get('/api/v1/examples/a%2Fb%20c/stats/')).json).to.deep.equal({
      route: STATS,
      name: 'a/b c',
    });
    expect((await get('/api/v1/examples/all/stats')).json).to.deep.equal({ route: ALL });
    expect((await get('/api/v1/examples/x/parts/y?z=1')).json).to.deep.equal({
      route: PART,
      name: 'x',
      part: 'y',
    });
  });

  it('refuses other methods, empty and undecodable parameters, and suggests the path', async () => {
    const other = await get('/api/v1/examples/search/stats', 'POST');
    expect([other.status, other.allow]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    expect((await get('/api/v1/examples//stats')).status).to.equal(404);
    expect((await get('/api/v1/examples/%E0%A4%A/stats')).status).to.equal(404);
    const { status, json } = await get('/api/v1/examples/search/stast');
    expect(status).to.equal(404);
    expect((json as { detail: string }).detail).to.contain('did you mean /api/v1/examples/search/stats?');
  });

  it('has one label for all values of its parameters', async () => {
    for (const name of ['a', 'b', 'c']) await get(`/api/v1/examples/${name}/stats`);
    const text = await metrics.registry.metrics();
    expect(text).to.contain(`route="${STATS}"`).and.not.contain('route="/api/v1/examples/a/stats"');
  });

  it('needs a key as every route does', async () => {
    const keys = { find: () => undefined, size: 1 } as never;
    const server = await listen(
      createHttpApp(fakeServices(calls, pino({ level: 'silent' }), { keys }), undefined, routes),
      { host: '127.0.0.1', port: 0 },
    );
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v1/examples/search/stats`);
    await answer.text();
    await server.close(0);
    expect(answer.status).to.equal(401);
  });

  it('is in the OpenAPI document with its parameters', () => {
    const { paths } = describeApi(routes, services) as unknown as {
      readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: unknown } }>>;
    };
    const parameter = (name: string): object => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    });
    expect(paths['/api/v1/examples/{name}/stats']?.get?.parameters).to.deep.equal([parameter('name')]);
    expect(paths['/api/v1/examples/{name}/parts/{part}']?.get?.parameters).to.deep.equal([
      parameter('name'),
      parameter('part'),
    ]);
    expect(Object.keys(paths).filter((path) => path.includes(':'))).to.deep.equal([]);
  });

  it('reserves the folder of its first parameter, and cannot match what another matches', () => {
    expect(reservedBy(STATS)).to.equal('/api/v1/examples/');
    expect(reservedBy(ALL)).to.equal(ALL);
    expect(parametersIn(PART)).to.deep.equal(['name', 'part']);
    const table = new RouteTable<string>();
    table.add(STATS, 'stats');
    table.add(ALL, 'all');
    expect(() => table.add('/api/v1/examples/:id/stats', 'other')).to.throw('match the same requests');
    expect(() => table.add('/api/v1/:kind/all/stats', 'other')).to.throw('match the same requests');
    expect([table.find('/api/v1/examples/all/stats'), table.find('/api/v1/examples/x/stats')]).to.deep.equal([
      'all',
      'stats',
    ]);
  });
});
