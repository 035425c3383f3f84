import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { expect } from 'chai';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { hasScope, SCOPE_NAMES, type Scope } from '../../runtime/serve/access/scopes.js';
import { explainPath } from '../../runtime/serve/http/explain-path.js';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { call, post, start, VIEWS, type Answer, type Fakes, type Running } from './harness.js';
import { TestKeys } from './test-keys.js';

const HOUR = 3_600_000;

/** The path, the method and the scope of every route, as they are served; the scope of paths without a route. */
const SEARCH = '/api/v1/ranking';
const ROUTES = [
  { path: SEARCH, method: 'POST', scope: 'rank' },
  { path: explainPath(SEARCH), method: 'POST', scope: 'explain' },
  ...SERVICE_ROUTES.map(({ path, method, scope }) => ({ path, method, scope })),
  { path: '/nowhere', method: 'GET', scope: 'any' },
] as const;

function send(
  app: Running,
  { path, method }: (typeof ROUTES)[number],
  authorization?: string,
): Promise<Answer> {
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  return method === 'GET' ? call(app.url + path, { headers }) : post(app.url + path, {}, headers);
}

const bearer = (key: string): string => `Bearer ${key}`;

describe('the scope matrix', () => {
  const keys = new TestKeys();
  const ofScope = new Map(SCOPE_NAMES.map((scope) => [scope, keys.add(scope, [scope])]));
  const unfit = {
    'no key': { header: undefined, code: 'key_required' },
    'another scheme': { header: `Basic ${Buffer.from('a:b').toString('base64')}`, code: 'key_required' },
    'a wrong key': { header: bearer(createKey().text), code: 'key_invalid' },
    'a key with one wrong character': {
      header: bearer(keys.add('changed', SCOPE_NAMES).replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))),
      code: 'key_invalid',
    },
    'a text that is no key': { header: 'Bearer x', code: 'key_invalid' },
    'an expired key': {
      header: bearer(keys.add('expired', SCOPE_NAMES, { expires: Date.now() - HOUR })),
      code: 'key_expired',
    },
    'a revoked key': {
      header: bearer(keys.add('revoked', SCOPE_NAMES, { revoked: Date.now() - HOUR })),
      code: 'key_revoked',
    },
  };
  let app: Running;
  before(async () => (app = await start({ keys })));
  after(() => app.close());

  for (const route of ROUTES) {
    const named = `${route.method} ${route.path}`;
    for (const [scope, key] of ofScope) {
      const may = route.scope === 'none' || route.scope === 'any' || hasScope([scope], route.scope);
      it(`${named} ${may ? 'accepts' : 'refuses'} the scope ${scope}`, async () => {
        const { status, json, headers } = await send(app, route, bearer(key));
        if (may) {
          expect(status).not.to.be.oneOf([401, 403]);
          return;
        }
        expect([status, json?.code, json?.scope]).to.deep.equal([403, 'scope_missing', route.scope]);
        expect(json?.detail).to.contain(route.scope);
        expect(headers.get('www-authenticate')).to.equal(
          `Bearer realm="millrace", error="insufficient_scope", scope="${route.scope}"`,
        );
      });
    }
    for (const [what, { header, code }] of Object.entries(unfit)) {
      const isOpen = route.scope === 'none';
      it(`${named} ${isOpen ? 'accepts' : 'refuses'} ${what}`, async () => {
        const { status, json, headers } = await send(app, route, header);
        if (isOpen) {
          expect(status).not.to.be.oneOf([401, 403]);
          return;
        }
        expect([status, json?.code]).to.deep.equal([401, code]);
        expect(headers.get('content-type')).to.equal('application/problem+json');
        expect(headers.get('x-request-id')).to.equal(json?.request_id);
        expect(headers.get('www-authenticate')).to.equal(
          code === 'key_required'
            ? 'Bearer realm="millrace"'
            : 'Bearer realm="millrace", error="invalid_token"',
        );
      });
    }
  }

  it('never answers with what a client sent as its key', async () => {
    const key = createKey().text;
    for (const route of ROUTES) {
      const { text, headers } = await send(app, route, bearer(key));
      expect(text + JSON.stringify([...headers])).not.to.contain(key.slice(3, 11));
    }
    expect(app.log()).not.to.contain(key.slice(3, 11));
  });

  it('asks for no key if the service has none', async () => {
    const open = await start();
    try {
      for (const route of ROUTES)
        expect((await send(open, route)).status, route.path).not.to.be.oneOf([401, 403]);
    } finally {
      await open.close();
    }
  });
});

describe('keys', () => {
  let keys: TestKeys;
  let app: Running;
  async function serve(over: Fakes = {}): Promise<void> {
    app = await start({ keys, ...over });
  }
  beforeEach(() => (keys = new TestKeys()));
  afterEach(() => app.close());

  it('answers a wrong key the same, whatever is wrong with it', async () => {
    await serve();
    const right = keys.add('web', ['rank']);
    const answers = [
      createKey().text,
      `${right}x`,
      right.slice(0, -1),
      'mr_',
      `${right.slice(0, 12)}${'0'.repeat(49)}`,
    ];
    const seen = new Set<string>();
    for (const key of answers) {
      const { json, headers } = await post(
        app.url + SEARCH,
        {},
        { authorization: bearer(key), 'x-request-id': 'r' },
      );
      seen.add(JSON.stringify([json, headers.get('www-authenticate')]));
    }
    expect(seen.size).to.equal(1);
  });

  it('reads the scheme in any case, and spaces around the key', async () => {
    await serve();
    const key = keys.add('web', ['rank']);
    for (const header of [`bearer ${key}`, `BEARER  ${key}`, `Bearer ${key} `])
      expect((await post(app.url + SEARCH, {}, { authorization: header })).status, header).to.equal(200);
  });

  it('cannot be evaded by another spelling of the path', async () => {
    await serve();
    const key = keys.add('web', ['rank']);
    const { port } = app;
    const targets = [
      `http://127.0.0.1:${port}/metrics`,
      `HTTP://127.0.0.1:${port}/metrics/`,
      '/metrics#x',
      '/metrics?a#x',
      '\\metrics#',
      '//metrics',
      '/metrics//',
      '/./metrics',
      '/%6detrics',
      '/METRICS',
    ];
    for (const target of targets) {
      const head = `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bearer(key)}\r\n`;
      const answer = await raw(port, `${head}Connection: close\r\n\r\n`);
      expect(answer, target).not.to.contain('process_cpu');
      expect(answer, target).to.match(/^HTTP\/1\.1 (?:400|403|404) /);
      const open = await raw(port, `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      expect(open, target).to.match(/^HTTP\/1\.1 40[01] /);
    }
  });

  it('finds the route of a request for a whole address', async () => {
    await serve();
    const key = keys.add('prometheus', ['metrics']);
    const head = `GET http://localhost:${app.port}/metrics?x HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${bearer(key)}\r\n`;
    expect(await raw(app.port, `${head}Connection: close\r\n\r\n`)).to.contain('process_cpu');
  });

  it('are checked before a body is read, and a client that sends one gets the answer', async () => {
    await serve();
    const size = 5_000_000;
    const head =
      `POST /api/v1/entities/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${size}\r\n\r\n`;
    expect(await raw(app.port, head)).to.match(/^HTTP\/1\.1 401 /);
    const answer = await raw(app.port, head + ' '.repeat(size));
    expect(answer)
      .to.match(/^HTTP\/1\.1 401 /)
      .and.contain('Connection: close');
    expect(app.calls.bodies).to.deep.equal([]);
  });

  it('refuse a body that waits for 100-continue', async () => {
    await serve();
    const head =
      'POST /api/v1/entities/upload HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
    const answer = await raw(app.port, `${head}Content-Length: 100\r\nExpect: 100-continue\r\n\r\n`);
    expect(answer)
      .to.match(/^HTTP\/1\.1 401 /)
      .and.not.contain('100 Continue');
  });

  it('may use only their pipelines', async () => {
    await serve({ pipelines: [{}, { name: 'orders', route: '/api/v2/orders' }] });
    const authorization = bearer(keys.add('web', ['rank', 'explain'], { pipelines: ['orders'] }));
    for (const path of ['/api/v2/orders', '/api/v2/orders/explain'])
      expect((await post(app.url + path, {}, { authorization })).status, path).to.equal(200);
    for (const path of [SEARCH, explainPath(SEARCH)]) {
      const { status, json } = await post(app.url + path, {}, { authorization });
      expect([status, json?.code, json?.detail]).to.deep.equal([
        403,
        'key_not_allowed',
        'the key may not use the pipeline ranking',
      ]);
    }
  });

  const FILLER = 'x'.repeat(100_000);
  const VIEW = [...VIEWS.values()][0];
  const BODIES: readonly [path: string, allowed: object, refused: object][] = [
    ...['upload', 'get', 'delete', 'scan'].map((verb): [string, object, object] => [
      `/api/v1/entities/${verb}`,
      { entity_type: 'product' },
      { entity_type: 'brand' },
    ]),
    ['/api/entity/v1/entities/delete', { entity_type: 'product' }, { entity_type: 'no_such_type' }],
    ...['push', 'delete', 'scan'].map((verb): [string, object, object] => [
      `/api/v1/features/${verb}`,
      { view: 'product_stats' },
      { view: 'product_brand' },
    ]),
    [
      '/feature/get-online-features',
      { features: ['product_stats:ctr_7d'] },
      { features: ['product_stats:ctr_7d', 'product_brand:ctr_7d'] },
    ],
    [
      '/api/v1/feedback',
      { product: null, events: [{ type: 'click', product: {} }] },
      { product: null, events: [{ type: 'click', brand: {} }] },
    ],
    ['/api/v1/feedback', { events: [] }, { brand: {}, events: [] }],
  ];
  for (const [path, allowed, refused] of BODIES)
    for (const [size, more] of [
      ['small', {}],
      ['large', { filler: FILLER }],
    ] as const)
      it(`may use only their entity types at ${path}, in a ${size} body of ${Object.keys(refused).join(' and ')}`, async () => {
        const views = new Map(VIEWS);
        if (VIEW !== undefined)
          views.set('product_brand', { ...VIEW, name: 'product_brand', of: ['product', 'brand'] });
        await serve({ views });
        const scopes: Scope[] = ['entities:read', 'entities:write', 'features', 'feedback'];
        const some = bearer(keys.add('some', scopes, { entityTypes: ['product'] }));
        const all = bearer(keys.add('all', scopes));
        const of = async (body: object, authorization: string): Promise<readonly unknown[]> => {
          const { status, json } = await post(app.url + path, { ...body, ...more }, { authorization });
          return status === 200 ? [200] : [status, json?.code];
        };
        expect(await of(allowed, some)).to.deep.equal([200]);
        const before = app.calls.bodies.length;
        expect(await of(refused, some)).to.deep.equal([403, 'key_not_allowed']);
        expect(app.calls.bodies).to.have.length(before);
        expect(await of(refused, all)).to.deep.equal([200]);
      });

  it('leave bodies that do not fit to the check of their route', async () => {
    await serve();
    const scopes: Scope[] = ['entities:write', 'features', 'feedback'];
    const authorization = bearer(keys.add('some', scopes, { entityTypes: ['product'] }));
    for (const path of [
      '/api/v1/entities/upload',
      '/api/v1/features/push',
      '/api/v1/feedback',
      '/feature/get-online-features',
    ])
      for (const body of [
        '[]',
        'null',
        '7',
        '{"entity_type":7,"view":null,"features":[7],"events":[7,null]}',
      ])
        expect((await post(app.url + path, body, { authorization })).status, `${path} ${body}`).to.equal(200);
  });

  it('count their requests under their names, also refused ones, and no wrong keys', async () => {
    await serve();
    const web = keys.add('web', ['rank']);
    const old = keys.add('web', ['rank'], { revoked: Date.now() });
    const metrics = keys.add('prometheus', ['metrics']);
    for (const key of [web, web, old, createKey().text])
      await post(app.url + SEARCH, {}, { authorization: bearer(key) });
    await post(`${app.url}/api/v1/feedback`, {}, { authorization: bearer(web) });
    const { text } = await call(`${app.url}/metrics`, { headers: { authorization: bearer(metrics) } });
    const line = (key: string, requestClass: string, status: number): string =>
      `millrace_key_requests_total{key="web",key_id="${key.slice(3, 11)}",class="${requestClass}",status="${status}"}`;
    expect(text).to.contain(`${line(web, 'ranking', 200)} 2`);
    expect(text).to.contain(`${line(old, 'ranking', 401)} 1`);
    expect(text).to.contain(`${line(web, 'feedback', 403)} 1`);
    expect(text.match(/^millrace_key_requests_total\{/gm)).to.have.length(3);
    expect(text).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="401"} 2');
  });

  it('are in the description of the API: the scheme, the scopes of each operation and the refusals', async () => {
    await serve();
    const authorization = bearer(keys.add('web', ['rank']));
    const { json } = await call(`${app.url}/openapi.json`, { headers: { authorization } });
    const { paths, components } = json as unknown as {
      paths: Record<
        string,
        Record<
          string,
          {
            security: unknown;
            description: string;
            responses: Record<string, { description: string }>;
          }
        >
      >;
      components: { securitySchemes: unknown };
    };
    expect(components.securitySchemes).to.have.nested.property('key.scheme', 'bearer');
    for (const { path, method, scope } of ROUTES) {
      const operation = paths[path]?.[method.toLowerCase()];
      if (operation === undefined) continue;
      expect(operation.security, path).to.deep.equal(scope === 'none' ? [] : [{ key: [] }]);
      if (scope !== 'none' && scope !== 'any')
        expect(operation.description, path).to.contain(`A key needs the scope \`${scope}\`.`);
      const { responses } = operation;
      expect(responses['401'] === undefined, path).to.equal(scope === 'none');
      expect(responses['403']?.description ?? '', path).to.contain(
        scope === 'none' || scope === 'any' ? '' : 'scope_missing',
      );
    }
  });

  it('are optional in the description of a service without keys', async () => {
    app = await start();
    const { text, json } = await call(`${app.url}/openapi.json`);
    expect(json)
      .to.have.nested.property('paths./api/v1/ranking.post.security')
      .that.deep.equals([{}, { key: [] }]);
    expect(text).not.to.contain('key_required');
  });
});

describe('the hash of a key', () => {
  it('is SHA-256 of its text', () => {
    const { text } = createKey();
    expect(hashOfKey(text)).to.deep.equal(createHash('sha256').update(text).digest());
  });
});

/** Sends bytes and returns the answer, once the service closes the connection or has answered a request without a body. */
function raw(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => (answer += text));
    socket.once('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
    socket.once('close', () => resolve(answer));
    socket.write(request, 'latin1');
  });
}
