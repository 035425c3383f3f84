import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect } from 'chai';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { repositoryPath } from '../support/repository.js';
import { ANSWER, call, post, REPORT, start, type Running } from './harness.js';

const POSTS = [
  '/api/v1/ranking',
  '/api/v1/entities/upload',
  '/api/v1/entities/update',
  '/api/v1/entities/get',
  '/api/v1/entities/delete',
  '/api/entity/v1/entities/delete',
  '/api/v1/features/push',
  '/api/v1/features/delete',
  '/api/v1/entities/scan',
  '/api/v1/features/scan',
];
const GETS = ['/healthz', '/healthcheck', '/readyz', '/metrics', '/openapi.json', '/redoc'];

describe('the list of routes', () => {
  it('names each file of runtime/serve/http/routes', () => {
    const list = readFileSync(repositoryPath('runtime/serve/http/routes.ts'), 'utf8');
    for (const file of readdirSync(repositoryPath('runtime/serve/http/routes')))
      expect(list).to.contain(`from './routes/${file.replace(/\.ts$/, '.js')}'`);
  });

  it('holds each path once, in lower case, below the folder that it reserves', () => {
    const paths = SERVICE_ROUTES.map(({ path }) => path);
    expect(new Set(paths).size).to.equal(paths.length);
    for (const { path, folder } of SERVICE_ROUTES) {
      expect(path).to.equal(path.toLowerCase());
      if (folder !== undefined)
        expect(`${path}/`.startsWith(folder) && folder.endsWith('/'), path).to.equal(true);
    }
  });
});

describe('routes', () => {
  let app: Running;
  beforeEach(async () => (app = await start()));
  afterEach(() => app.close());

  it('answers a ranking with exactly what the pipeline gives', async () => {
    const answer = await post(`${app.url}/api/v1/ranking`, { candidates: [] });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.equal('application/json');
    expect(answer.headers.get('content-length')).to.equal(String(Buffer.byteLength(answer.text)));
    expect(answer.json).to.deep.equal(ANSWER);
  });

  it('writes texts beyond ASCII whole', async () => {
    const answered = { ranked_candidates: [{ candidate_id: 'žluťoučký 🐴 "kůň"', ranked_score: 1 }] };
    const report = { ...REPORT, skippedSteps: [], degraded: [] };
    const other = await start({ pipelines: [{ run: () => Promise.resolve({ answer: answered, report }) }] });
    try {
      expect((await post(`${other.url}/api/v1/ranking`, {})).json).to.deep.equal(answered);
    } finally {
      await other.close();
    }
  });

  it('serves each pipeline at its route, also one with pattern signs in it', async () => {
    const routes = ['/api/v1/search', '/x/y:z', '/a(b)+', '/w/*all', '/{z}'];
    const names = routes.map((route, i) => ({ name: `p${i}`, route }));
    const several = await start({ pipelines: names });
    try {
      for (const route of routes) {
        expect((await raw(several.port, `POST ${route} HTTP/1.1`, '{}')).status, route).to.equal(200);
      }
      for (const other of ['/x/yz', '/a', '/ab', '/w/anything', '/z']) {
        expect((await post(several.url + other, {})).status, other).to.equal(404);
      }
    } finally {
      await several.close();
    }
  });

  it('sends each entity endpoint to its own service, delete from both paths', async () => {
    const called: string[] = [];
    const as = (name: string) => (body: unknown) => {
      called.push(`${name} ${JSON.stringify(body)}`);
      return Promise.resolve({ from: name });
    };
    const several = await start({
      entities: { upload: as('upload'), update: as('update'), get: as('get'), remove: as('remove') },
      features: { push: as('push'), remove: as('remove rows') },
    });
    try {
      for (const path of POSTS.slice(1)) {
        expect((await post(several.url + path, { path })).status).to.equal(200);
      }
      const [upload, update, get, remove, removeToo, push, removeRows] = POSTS.slice(1).map((path) =>
        JSON.stringify({ path }),
      );
      expect(called).to.deep.equal([
        `upload ${upload}`,
        `update ${update}`,
        `get ${get}`,
        `remove ${remove}`,
        `remove ${removeToo}`,
        `push ${push}`,
        `remove rows ${removeRows}`,
      ]);
    } finally {
      await several.close();
    }
  });

  for (const path of [
    '/',
    '/api',
    '/api/v1/ranking/x',
    '/API/V1/RANKING',
    '/api/v1/entities/upload/..',
    '/redoc/x.js',
  ]) {
    it(`knows no ${path}`, async () => {
      const answer = await post(app.url + path, {});
      expect([answer.status, answer.json?.code]).to.deep.equal([404, 'unknown_route']);
      expect((await call(app.url + path)).status).to.equal(404);
    });
  }

  it('tells the route that was most likely meant', async () => {
    const detail = async (path: string): Promise<unknown> => (await post(app.url + path, {})).json?.detail;
    expect(await detail('/API/v1/Rankng')).to.equal(
      'nothing answers POST at this path; did you mean /api/v1/ranking?',
    );
    expect(await detail('/')).to.equal(
      'nothing answers POST at this path; see GET /redoc, or GET /openapi.json',
    );
  });

  for (const path of [
    '/%E0%A4%A',
    '//',
    '/%2e%2e/%2e%2e/etc/passwd',
    '/redoc/../../package.json',
    '/%00',
    '*',
  ]) {
    it(`answers 404 to the strange path ${path}`, async () => {
      expect((await raw(app.port, `GET ${path} HTTP/1.1`)).status).to.equal(404);
    });
  }

  for (const path of POSTS) {
    it(`takes POST alone at ${path}`, async () => {
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
        const answer = await call(app.url + path, { method });
        expect(answer.status, method).to.equal(405);
        expect(answer.headers.get('allow'), method).to.equal('POST, OPTIONS');
        if (method !== 'HEAD') expect(answer.json?.code, method).to.equal('method_not_allowed');
      }
      const options = await call(app.url + path, { method: 'OPTIONS' });
      expect([options.status, options.headers.get('allow')]).to.deep.equal([204, 'POST, OPTIONS']);
    });
  }

  for (const path of GETS) {
    it(`answers GET and HEAD alone at ${path}`, async () => {
      const [get, head] = [await call(app.url + path), await call(app.url + path, { method: 'HEAD' })];
      expect(get.status).to.equal(200);
      expect(head.status).to.equal(200);
      expect(head.text).to.equal('');
      const refused = await post(app.url + path, {});
      expect([refused.status, refused.headers.get('allow')]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    });
  }

  it('does not say what it is made of', async () => {
    for (const path of ['/healthz', '/nowhere', '/redoc']) {
      const { headers } = await call(app.url + path);
      expect(headers.has('x-powered-by'), path).to.equal(false);
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('cache-control'), path).to.equal('no-store');
    }
  });
});

/** Sends a request line as it stands; clients would tidy the path. */
function raw(port: number, line: string, body = ''): Promise<{ status: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8');
    socket.on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject);
    socket.once('end', () => {
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]) });
    });
    const head = `${line}\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json`;
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
}
