import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { Edge, type EdgeSettings } from '../../runtime/serve/http/edge/edge.js';
import { ONCE } from '../../runtime/serve/http/request-target.js';
import { EdgeMetrics } from '../../runtime/serve/metrics/edge-metrics.js';
import { HttpMetrics } from '../../runtime/serve/metrics/http-metrics.js';
import { rawClient } from '../support/raw-client.js';
import { repositoryPath } from '../support/repository.js';
import { call, start, type Running } from './harness.js';

const RANKING = '/api/v1/ranking';
const UPLOAD = '/api/v1/entities/upload';
const DOMAIN = 'https://shop.example.com';

/** Settings of a service on loopback with no others set. */
const LOOPBACK: EdgeSettings = {
  host: '127.0.0.1',
  adminHost: '127.0.0.1',
  hosts: new Set(),
  corsOrigins: new Set(),
  ratePerAddress: 'off',
  trustedProxies: AddressRanges.none,
  workers: 1,
};

describe('the edge', () => {
  let app: Running | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function serve(settings: Partial<EdgeSettings> = {}): Promise<Running> {
    const metrics = new HttpMetrics();
    const edge = new Edge({ ...LOOPBACK, ...settings }, new EdgeMetrics(metrics.registry));
    return (app = await start({ metrics, edge }));
  }

  interface Sent {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }

  interface Got {
    readonly status: number;
    readonly code: unknown;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    readonly json: Readonly<Record<string, unknown>>;
  }

  /** Sends exactly these headers; fetch would set Host and Origin itself. */
  function send(
    to: Running,
    { method = 'POST', path = RANKING, headers = {}, body = '{}' }: Sent,
  ): Promise<Got> {
    const isRead = method === 'GET' || method === 'OPTIONS';
    return new Promise((resolve, reject) => {
      const sent = request({ port: to.port, host: '127.0.0.1', agent: false, method, path }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
          resolve({ status: response.statusCode ?? 0, code: json.code, headers: response.headers, json });
        });
      });
      sent.once('error', reject);
      if (!isRead) sent.setHeader('content-type', 'application/json');
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value);
      sent.end(isRead ? undefined : body);
    });
  }

  const statusOf = async (to: Running, headers: Record<string, string>, more: Sent = {}): Promise<number> =>
    (await send(to, { headers, ...more })).status;

  describe('host names', () => {
    it('are the local ones on loopback, with any port, and every route refuses others', async () => {
      const local = await serve();
      for (const host of ['localhost', 'LOCALHOST:80', 'localhost.', '127.0.0.1:5001', '[::1]', '[0:0::1]:9'])
        expect(await statusOf(local, { host }), host).to.equal(200);
      for (const host of [
        'evil.example',
        'evil.example:5001',
        'localhost.evil.example',
        '10.0.0.1',
        '127.0.0.2',
      ])
        expect((await send(local, { headers: { host } })).code, host).to.equal('unknown_host');
      for (const path of [
        '/redoc',
        '/openapi.json',
        '/metrics',
        '/healthz',
        '/readyz',
        '/nowhere',
        '/redoc/',
      ])
        expect(await statusOf(local, { host: 'evil.example' }, { method: 'GET', path }), path).to.equal(421);
      const { json, headers } = await send(local, {
        headers: { host: 'evil.example', 'x-request-id': 'r1' },
      });
      expect(json.detail).to.contain('evil.example').and.to.contain('MILLRACE_HOSTS');
      expect([json.request_id, headers['x-request-id']]).to.deep.equal(['r1', 'r1']);
      expect(local.calls.bodies).to.have.length(6);
      const { text } = await call(`${local.url}/metrics`);
      expect(text).to.contain('millrace_requests_refused_total{cause="host"} 13');
      expect(text).to.contain('millrace_http_requests_total{route="none",status="421"} 13');
    });

    it('of MILLRACE_HOSTS are answered too', async () => {
      const local = await serve({ hosts: new Set(['ranking.example.com']) });
      expect(await statusOf(local, { host: 'Ranking.Example.com:443' })).to.equal(200);
      expect(await statusOf(local, { host: 'localhost' })).to.equal(200);
      expect(await statusOf(local, { host: 'evil.example' })).to.equal(421);
    });

    it('are not checked on other addresses, unless MILLRACE_HOSTS is set', async () => {
      expect(await statusOf(await serve({ host: '0.0.0.0' }), { host: 'any.example' })).to.equal(200);
      await app?.close();
      const named = await serve({ host: '0.0.0.0', hosts: new Set(['ranking.example.com']) });
      expect(await statusOf(named, { host: 'ranking.example.com' })).to.equal(200);
      expect(await statusOf(named, { host: 'evil.example' })).to.equal(421);
      expect(await statusOf(named, { host: '10.1.2.3:5001' })).to.equal(421);
    });

    it('let a probe call an instance by its address, and HTTP/1.0 omit the header', async () => {
      const named = await serve({ host: '0.0.0.0', hosts: new Set(['ranking.example.com']) });
      for (const path of ['/healthz', '/readyz', '/metrics'])
        expect(await statusOf(named, { host: '10.1.2.3:5001' }, { method: 'GET', path }), path).to.equal(200);
      expect(await statusOf(named, { host: 'evil.example' }, { method: 'GET', path: '/readyz' })).to.equal(
        421,
      );
      const client = rawClient(named.port);
      client.socket.write('GET /healthz HTTP/1.0\r\n\r\n');
      expect(await client.until(/OK"\}$/)).to.match(/^HTTP\/1\.1 200 /);
      client.socket.destroy();
    });

    it('are 400 where two are sent, or one is malformed, on any address', async () => {
      const open = await serve({ host: '0.0.0.0' });
      for (const [hosts, detail] of [
        ['Host: localhost\r\nhost: localhost\r\n', 'one host header'],
        ['Host: localhost\r\nHOST: evil.example\r\n', 'one host header'],
        ['Host: \r\n', 'malformed'],
        ['Host: a b\r\n', 'malformed'],
        ['Host: localhost/x\r\n', 'malformed'],
        ['Host: user@localhost\r\n', 'malformed'],
        ['Host: localhost:80:80\r\n', 'malformed'],
        ['Host: localhost:port\r\n', 'malformed'],
        ['Host: [::1\r\n', 'malformed'],
        ['Host: [::g]\r\n', 'malformed'],
        ['Host: [1.2]\r\n', 'malformed'],
        ['', 'there is none'],
      ] as const) {
        const client = rawClient(open.port);
        client.socket.write(`GET /healthz HTTP/1.1\r\n${hosts}\r\n`);
        const text = await client.until(/"request_id":"[^"]+"\}$/);
        expect(text, hosts).to.match(/^HTTP\/1\.1 400 /);
        expect(text, hosts).to.contain('"code":"malformed_request"').and.to.contain(detail);
        client.socket.destroy();
      }
    });

    it('are taken from the target in its absolute form, which every part of the service sees as a path', async () => {
      const local = await serve();
      expect(
        await statusOf(local, { host: 'localhost' }, { path: `http://evil.example${RANKING}` }),
      ).to.equal(421);
      expect(
        await statusOf(local, { host: 'evil.example' }, { path: `http://localhost${RANKING}` }),
      ).to.equal(200);
      expect(await statusOf(local, {}, { method: 'GET', path: 'HTTP://localhost/healthz' })).to.equal(200);
      expect(await statusOf(local, {}, { method: 'GET', path: 'http://localhost?x' })).to.equal(404);
      const { text } = await call(`${local.url}/metrics`);
      expect(text).to.contain('millrace_http_requests_total{route="/healthz",status="200"} 1');
    });
  });

  describe('headers that are sent twice', () => {
    const sentTwice = (name: string, values = ['a', 'b']): string =>
      values.map((value) => `${name}: ${value}\r\n`).join('');
    const answerTo = async (to: Running, headers: string, host = 'Host: localhost\r\n'): Promise<string> => {
      const client = rawClient(to.port);
      client.socket.write(`POST ${RANKING} HTTP/1.1\r\n${host}${headers}Connection: close\r\n\r\n`);
      await client.closed;
      return client.text();
    };

    it('are 400 where the service takes one value', async () => {
      const open = await serve({ host: '0.0.0.0' });
      for (const name of ONCE)
        for (const spelling of [name, name.toUpperCase()]) {
          const text = await answerTo(open, sentTwice(spelling), name === 'host' ? '' : undefined);
          expect(text, name).to.match(/^HTTP\/1\.1 400 /);
          expect(text, name).to.contain(`expected one ${name} header`);
        }
      expect(open.calls.bodies).to.deep.equal([]);
    });

    it('are 400 as lengths, and 415 as content codings', async () => {
      const open = await serve({ host: '0.0.0.0' });
      for (const values of [
        ['0', '2'],
        ['2', '2'],
      ])
        expect(await answerTo(open, sentTwice('Content-Length', values))).to.match(/^HTTP\/1\.1 400 /);
      const type = 'Content-Type: application/json\r\nContent-Length: 2\r\n';
      const gzip = sentTwice('Content-Encoding', ['gzip', 'identity']);
      expect(await answerTo(open, type + gzip)).to.match(/^HTTP\/1\.1 415 /);
    });

    it('are foreign as origins', async () => {
      const own = 'https://shop.example.com';
      const open = await serve({ corsOrigins: new Set([own]) });
      for (const values of [
        [own, 'https://evil.example'],
        ['https://evil.example', own],
        [own, own],
      ])
        expect(await answerTo(open, sentTwice('Origin', values)), values.join()).to.match(/^HTTP\/1\.1 403 /);
      expect(await answerTo(open, sentTwice('Sec-Fetch-Site', ['same-origin', 'cross-site']))).to.match(
        /^HTTP\/1\.1 403 /,
      );
    });

    it('are never read as the first of two', async () => {
      const sources = readdirSync(repositoryPath('runtime'), { recursive: true, encoding: 'utf8' })
        .filter((file) => /^(?:serve\/(?:http|access)|project\/tracing)\/.*\.ts$/.test(file))
        .map((file) => readFileSync(repositoryPath('runtime', file), 'utf8'));
      const found = sources.flatMap((text) => [
        ...text.matchAll(/\bheaders(?:\.(\w+)\b(?!\()|\['([\w-]+)'\])/g),
      ]);
      const read = new Set(found.map(([, dotted = '', quoted = dotted]) => quoted));
      expect([...read]).to.include.members(['host', 'authorization', 'content-type', 'x-forwarded-for']);
      // The parser decides about these itself: see above.
      for (const name of ['content-length', 'transfer-encoding', 'expect']) read.delete(name);
      const ofNode = ONCE.filter((name) => name !== 'transfer-encoding');
      const server = createServer((req, res) => res.end(JSON.stringify(req.headers))).listen(0, '127.0.0.1');
      await once(server, 'listening');
      try {
        const client = rawClient((server.address() as AddressInfo).port);
        const all = [...read].map((name) => sentTwice(name)).join('');
        client.socket.write(`GET / HTTP/1.1\r\n${all}Connection: close\r\n\r\n`);
        await client.closed;
        const seen = JSON.parse(client.text().replace(/^[^]*?\r\n\r\n/, '')) as Record<string, string>;
        expect([...read].filter((name) => seen[name] === 'a').sort()).to.deep.equal([...ofNode].sort());
      } finally {
        server.close();
      }
    });
  });

  describe('origins', () => {
    it('of other pages are refused on every route and with every method', async () => {
      const local = await serve();
      const host = `localhost:${local.port}`;
      for (const origin of [
        'http://evil.example',
        `https://evil.example:${local.port}`,
        'null',
        'http://localhost',
      ])
        for (const [method, path] of [
          ['POST', RANKING],
          ['POST', UPLOAD],
          ['GET', '/openapi.json'],
          ['OPTIONS', RANKING],
        ])
          expect(
            await statusOf(local, { host, origin }, { method, path } as Sent),
            `${origin} ${path}`,
          ).to.equal(403);
      expect(local.calls.bodies).to.deep.equal([]);
      const answer = await send(local, { headers: { host, origin: 'http://evil.example' } });
      expect(answer.code).to.equal('foreign_origin');
      expect(answer.json.detail).to.contain('http://evil.example').and.to.contain('MILLRACE_CORS_ORIGINS');
      expect(answer.headers).not.to.have.property('access-control-allow-origin');
      const { text } = await call(`${local.url}/metrics`);
      expect(text).to.contain('millrace_requests_refused_total{cause="origin"} 17');
    });

    it('of the own pages are answered, also behind a proxy that ends TLS or changes the host', async () => {
      const local = await serve({ hosts: new Set(['ranking.example.com']) });
      const host = `localhost:${local.port}`;
      expect(await statusOf(local, { host, origin: `http://${host}` })).to.equal(200);
      const name = 'ranking.example.com';
      expect(await statusOf(local, { host: name, origin: `https://${name}` })).to.equal(200);
      expect(
        await statusOf(local, { host, origin: `https://${name}`, 'sec-fetch-site': 'same-origin' }),
      ).to.equal(200);
    });

    it('are known by Sec-Fetch-Site where a browser sends no Origin', async () => {
      const local = await serve();
      for (const site of ['cross-site', 'same-site'])
        expect((await send(local, { headers: { 'sec-fetch-site': site } })).code, site).to.equal(
          'foreign_origin',
        );
      for (const site of ['same-origin', 'none'])
        expect(await statusOf(local, { 'sec-fetch-site': site }), site).to.equal(200);
      // A link from another page to the reference.
      const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
      expect(await statusOf(local, link, { method: 'GET', path: '/redoc' })).to.equal(200);
      // An image in another page, whose address is that of a search.
      const image = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };
      expect((await send(local, { method: 'GET', path: '/redoc', headers: image })).code).to.equal(
        'foreign_origin',
      );
    });
  });

  describe('CORS', () => {
    it('is off by default', async () => {
      const local = await serve();
      const preflight = { origin: DOMAIN, 'access-control-request-method': 'POST' };
      const { status, headers } = await send(local, { method: 'OPTIONS', headers: preflight });
      expect(status).to.equal(403);
      expect(Object.keys(headers).filter((name) => /^(access-control|vary)/.test(name))).to.deep.equal([]);
    });

    it('answers the preflight request of an allowed origin', async () => {
      const local = await serve({ corsOrigins: new Set([DOMAIN]) });
      const { status, headers } = await send(local, {
        method: 'OPTIONS',
        headers: {
          origin: DOMAIN,
          'sec-fetch-site': 'cross-site',
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization,content-type',
        },
      });
      expect(status).to.equal(204);
      expect(headers).to.include({
        'access-control-allow-origin': DOMAIN,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-max-age': '600',
        vary: 'Origin',
      });
      expect(headers['access-control-allow-headers']).to.match(/^Authorization, Content-Type, X-Request-Id/);
      expect(headers).not.to.have.property('access-control-allow-credentials');
    });

    it('lets an allowed page read answers and errors, with their ids', async () => {
      const local = await serve({ corsOrigins: new Set([DOMAIN]) });
      for (const [path, status] of [
        [RANKING, 200],
        ['/nowhere', 404],
      ] as const) {
        const answer = await send(local, {
          path,
          headers: { origin: DOMAIN, 'sec-fetch-site': 'cross-site' },
        });
        expect(answer.status).to.equal(status);
        expect(answer.headers).to.include({ 'access-control-allow-origin': DOMAIN, vary: 'Origin' });
        expect(answer.headers['access-control-expose-headers']).to.contain('X-Request-Id');
      }
    });

    it('allows only exact origins, and says in every answer that it depends on the origin', async () => {
      const local = await serve({ corsOrigins: new Set([DOMAIN]) });
      for (const origin of ['http://shop.example.com', `${DOMAIN}:8443`, `${DOMAIN}.evil.example`, 'null']) {
        const answer = await send(local, { headers: { origin } });
        expect(answer.status, origin).to.equal(403);
        expect(answer.headers.vary).to.equal('Origin');
        expect(answer.headers).not.to.have.property('access-control-allow-origin');
      }
      expect((await send(local, {})).headers.vary).to.equal('Origin');
    });

    it('does not open the host names', async () => {
      const local = await serve({ corsOrigins: new Set([DOMAIN]) });
      expect(await statusOf(local, { host: 'evil.example', origin: DOMAIN })).to.equal(421);
    });
  });

  describe('rates', () => {
    const TWO = { requests: 2, seconds: 60 };

    it('limit the requests of an address, from the head, and never health', async () => {
      const local = await serve({ ratePerAddress: TWO });
      const first = await send(local, {});
      expect(first.status).to.equal(200);
      expect(first.headers['ratelimit-policy']).to.equal('"address";q=2;w=60');
      expect(first.headers.ratelimit).to.equal('"address";r=1;t=60');
      expect((await send(local, { path: '/nowhere' })).status).to.equal(404);
      const client = rawClient(local.port);
      // The body is never sent.
      client.socket.write(
        `POST ${UPLOAD} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 5000000\r\n\r\n`,
      );
      const text = await client.until(/"request_id":"[^"]+"\}$/);
      expect(text).to.match(/^HTTP\/1\.1 429 Too Many Requests/);
      expect(text).to.match(/^Retry-After: (?:60|59)\r$/m);
      expect(text).to.match(/^RateLimit: "address";r=0;t=(?:60|59)\r$/m);
      expect(text).to.match(/^Connection: close\r$/m);
      expect(text).to.contain('"code":"rate_limited"');
      client.socket.destroy();
      for (let i = 0; i < 5; i++) expect((await call(`${local.url}/healthz`)).status).to.equal(200);
      const metrics = await call(`${local.url}/metrics`);
      expect(metrics.text).to.contain('millrace_requests_refused_total{cause="rate_address"} 1');
      expect(metrics.headers.get('ratelimit')).to.equal(null);
    });

    it('read X-Forwarded-For of trusted proxies only', async () => {
      const behind = await serve({
        ratePerAddress: { requests: 1, seconds: 60 },
        trustedProxies: AddressRanges.parse('127.0.0.0/8') as AddressRanges,
      });
      expect(await statusOf(behind, { 'x-forwarded-for': '203.0.113.1' })).to.equal(200);
      expect(await statusOf(behind, { 'x-forwarded-for': '203.0.113.2' })).to.equal(200);
      // What the client itself wrote stands before the address that the proxy saw.
      expect(await statusOf(behind, { 'x-forwarded-for': '198.51.100.7, 203.0.113.1' })).to.equal(429);
      await app?.close();
      const direct = await serve({ ratePerAddress: { requests: 1, seconds: 60 } });
      expect(await statusOf(direct, { 'x-forwarded-for': '203.0.113.1' })).to.equal(200);
      expect(await statusOf(direct, { 'x-forwarded-for': '203.0.113.2' })).to.equal(429);
    });
  });
});
