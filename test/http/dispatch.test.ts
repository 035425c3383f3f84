/** The table of paths, walked with each form in which a path can be sent: none gets around a guard. */
import { Agent, request } from 'node:http';
import { pino } from 'pino';
import { expect } from 'chai';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { SCOPE_NAMES } from '../../runtime/serve/access/scopes.js';
import { createHttpApp } from '../../runtime/serve/http/app.js';
import { Edge } from '../../runtime/serve/http/edge/edge.js';
import { listen, type HttpServer } from '../../runtime/serve/http/listen.js';
import { sendJson } from '../../runtime/serve/http/respond.js';
import type { GetRoute, Route } from '../../runtime/serve/http/route.js';
import { routesOf } from '../../runtime/serve/http/routes.js';
import { fakeServices, type Calls } from './harness.js';
import { TestKeys } from './test-keys.js';

/** What a form of a path is: the path itself, one that no route has, or no target of HTTP. */
type Meaning = 'same' | 'unknown' | 'malformed';

const FORMS: Readonly<Record<string, readonly [of: (path: string, host: string) => string, Meaning]>> = {
  'a slash at the end': [(path) => `${path}/`, 'same'],
  'two slashes at the end': [(path) => `${path}//`, 'unknown'],
  'two slashes at the start': [(path) => `/${path}`, 'unknown'],
  'a query': [(path) => `${path}?a=/b&c`, 'same'],
  'an empty query after a slash': [(path) => `${path}/?`, 'same'],
  capitals: [(path) => path.toUpperCase(), 'unknown'],
  'an escaped letter': [(path) => path.replace(/[a-z]/, escaped), 'unknown'],
  'an escaped slash at the start': [(path) => `/%2f${path.slice(1)}`, 'unknown'],
  'an escaped slash at the end': [(path) => `${path}%2F`, 'unknown'],
  'an escape that is none': [(path) => `${path}%`, 'unknown'],
  'an escaped end of text': [(path) => `${path}%00`, 'unknown'],
  'a dot segment at the start': [(path) => `/.${path}`, 'unknown'],
  'dot segments at the end': [(path) => `${path}/x/..`, 'unknown'],
  backslashes: [(path) => `/${path.slice(1).replaceAll('/', '\\')}\\`, 'unknown'],
  'a path parameter': [(path) => `${path};a=b`, 'unknown'],
  'a folder below': [(path) => `${path}/no-such-route`, 'unknown'],
  'an http address': [(path, host) => `HTTP://${host}${path}?x`, 'same'],
  'an address of another scheme': [(path, host) => `ftp://${host}${path}`, 'malformed'],
  'a fragment': [(path) => `${path}#x`, 'malformed'],
  'a fragment after a query': [(path) => `${path}?x#/y`, 'malformed'],
};

const escaped = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`;

const withParameter: GetRoute = {
  path: '/api/v1/examples/:name/stats',
  scope: 'explain',
  method: 'GET',
  class: 'explain',
  handler:
    () =>
    ({ res, params }) =>
      sendJson(res, 200, { ...params }),
};

interface Answer {
  readonly status: number;
  /** All headers but the date, in their order. */
  readonly head: string;
  readonly body: string;
}

describe('each route, in each form of its path', () => {
  const keys = new TestKeys();
  const ofScope = new Map(SCOPE_NAMES.map((scope) => [scope, keys.add(scope, [scope])]));
  const edge = new Edge({
    host: '127.0.0.1',
    adminHost: '127.0.0.1',
    hosts: new Set(),
    corsOrigins: new Set(['https://shop.example']),
    ratePerAddress: 'off',
    trustedProxies: AddressRanges.none,
    workers: 1,
  });
  const calls: Calls = { bodies: [], contexts: [] };
  const services = fakeServices(calls, pino({ level: 'silent' }), { keys, edge });
  // A preview is a request to the route of a pipeline, with parameters.
  const routes: readonly Route[] = [withParameter, ...routesOf(services.pipelines)].filter(
    ({ path }) => !path.includes('?'),
  );
  const agent = new Agent({ keepAlive: true });
  let server: HttpServer;
  before(async () => {
    server = await listen(createHttpApp(services, undefined, routes), { host: '127.0.0.1', port: 0 });
  });
  after(async () => {
    agent.destroy();
    await server.close(0);
  });

  const send = (method: string, path: string, headers: Readonly<Record<string, string>>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const json = method === 'POST' ? { 'content-type': 'application/json' } : {};
      const sent = request(
        {
          port: server.port,
          host: '127.0.0.1',
          path,
          method,
          agent,
          headers: { host: 'localhost', 'x-request-id': 'fixed', ...json, ...headers },
        },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
          response.on('end', () => {
            const head = { ...response.headers, date: '' };
            // The value of each metric counts the requests of this test.
            if (head['content-type']?.includes('version=') === true)
              [body, head['content-length']] = ['', '0'];
            // When the list was made.
            body = body.replace(/^{"at":"[^"]*"/, '{"at":""');
            resolve({ status: response.statusCode ?? 0, head: JSON.stringify(head), body });
          });
        },
      );
      sent.once('error', reject);
      sent.end(method === 'POST' ? '{}' : undefined);
    });

  /** The headers of clients by what they may do. */
  const clientsOf = ({ scope }: Route): readonly Readonly<Record<string, string>>[] => {
    const own = SCOPE_NAMES.find((name) => name === scope) ?? 'rank';
    const other = SCOPE_NAMES.find((name) => name !== own) ?? 'rank';
    const bearer = (name: typeof own): Record<string, string> => ({
      authorization: `Bearer ${ofScope.get(name)}`,
    });
    return [
      {},
      bearer(other),
      bearer(own),
      { ...bearer(own), host: 'evil.example' },
      { ...bearer(own), origin: 'https://evil.example' },
      { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    ];
  };

  for (const route of routes) {
    const path = route.path.replace(':name', 'search');

    it(`answers ${path} the same in a form that means it, and as an unknown path otherwise`, async () => {
      for (const headers of clientsOf(route))
        for (const method of [route.method, 'OPTIONS']) {
          const answer = await send(method, path, headers);
          const unknown = await send(method, '/no/such/route', headers);
          for (const [form, [of, meaning]] of Object.entries(FORMS)) {
            const target = of(path, headers['host'] ?? 'localhost');
            const about = `${method} ${target}, ${form}, ${Object.keys(headers).join()}`;
            const found = await send(method, target, headers);
            if (meaning === 'same') expect(found, about).to.deep.equal(answer);
            else expect(found.status, about).to.equal(meaning === 'malformed' ? 400 : unknown.status);
          }
        }
    });

    it(`calls no service for ${path} if a guard refuses, or with another method`, async () => {
      calls.bodies.length = 0;
      const guests: Readonly<Record<string, string>>[] = [
        ...(route.scope === 'none' ? [] : [{}]),
        { host: 'evil.example' },
        { origin: 'https://evil.example' },
      ];
      const forms = [(same: string) => same, ...Object.values(FORMS).map(([of]) => of)];
      for (const headers of guests)
        for (const of of forms) {
          const target = of(path, headers['host'] ?? 'localhost');
          expect((await send('POST', target, headers)).status, target).to.be.oneOf([400, 401, 403, 421]);
        }
      const [, , own = {}] = clientsOf(route);
      const other = await send(route.method === 'GET' ? 'POST' : 'GET', path, own);
      const allowed = route.method === 'GET' ? ['GET', 'HEAD'] : ['POST'];
      expect(other.status).to.equal(405);
      expect(other.head).to.contain(`"allow":"${[...allowed, 'OPTIONS'].join(', ')}"`);
      expect(calls.bodies).to.deep.equal([]);
    });
  }
});
