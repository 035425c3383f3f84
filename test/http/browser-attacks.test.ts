import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { Edge, type EdgeSettings } from '../../runtime/serve/http/edge/edge.js';
import { startBrowser } from '../support/browser.js';
import { describeWith } from '../support/needs.js';
import { call, start, type Running } from './harness.js';

const UPLOAD = '/api/v1/entities/upload';
const JSON_BODY = '{"entity_type":"product","entities":[]}';

const LOOPBACK: EdgeSettings = {
  host: '127.0.0.1',
  adminHost: '127.0.0.1',
  hosts: new Set(),
  corsOrigins: new Set(),
  ratePerAddress: 'off',
  trustedProxies: AddressRanges.none,
  workers: 1,
};

/** Neither hosts nor origins are checked, as before these checks existed. */
class UncheckedEdge extends Edge {
  override faultOf(): undefined {
    return undefined;
  }
}

/** A script of a page that sends a form, whose content type needs no preflight request. */
const SEND_FORM = `(async () => {
  document.body.innerHTML =
    '<iframe name="result"></iframe><form method="POST" enctype="text/plain" target="result"><input name="{}"></form>';
  const [frame, form] = document.body.children;
  form.action = URL;
  const loaded = new Promise((resolve) => (frame.onload = resolve));
  form.submit();
  await loaded;
})()`;

/** What a script in a page got: a status and a text, or why the browser gave it nothing. */
type Outcome = { readonly status: number; readonly text: string } | { readonly blocked: string };

/** Attacks of a page at http://evil.example, in a real browser, on a service that listens on loopback. */
describeWith('chromium', 'a web page of another origin', function () {
  this.timeout(60_000);
  let browser: Browser;
  let page: Page;
  let attacker: HttpServer;
  let app: Running;
  before(async function () {
    browser = await startBrowser(this, ['--host-resolver-rules=MAP evil.example 127.0.0.1']);
    attacker = createServer((_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/html', Connection: 'close' });
      res.end('<!doctype html><link rel="icon" href="data:,"><title>evil</title>');
    }).listen(0, '127.0.0.1');
    await once(attacker, 'listening');
  });
  after(async () => {
    await browser.close();
    attacker.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
  });
  afterEach(async () => {
    await page.close();
    await app.close();
  });

  const serve = async (edge: Edge): Promise<void> => {
    app = await start({ edge });
  };
  const requestIn = (url: string, init: RequestInit): Promise<Outcome> =>
    page.evaluate(
      ([target, options]) =>
        fetch(target, options).then(
          async (response) => ({ status: response.status, text: await response.text() }),
          (error: unknown) => ({ blocked: String(error) }),
        ),
      [url, init] as const,
    );
  const post = (
    body: string | undefined,
    type: string | undefined,
    mode: 'cors' | 'no-cors' = 'cors',
  ): RequestInit => ({
    method: 'POST',
    mode,
    ...(body === undefined ? {} : { body }),
    ...(type === undefined ? {} : { headers: { 'content-type': type } }),
  });

  describe('whose name resolves to 127.0.0.1 after it is loaded (DNS rebinding)', () => {
    let rebound: Rebound;
    beforeEach(async () => {
      rebound = await startRebound((attacker.address() as AddressInfo).port);
      await page.goto(`http://evil.example:${rebound.port}/`);
    });
    afterEach(() => void rebound.server.close());

    async function attack(): Promise<Outcome[]> {
      rebound.switchTo(app.port);
      const outcomes = [await requestIn(UPLOAD, post(JSON_BODY, 'application/json'))];
      for (const path of ['/openapi.json', '/redoc', '/metrics', '/healthz'])
        outcomes.push(await requestIn(path, {}));
      return outcomes;
    }

    it('can read and write a service that does not check the host', async () => {
      await serve(new UncheckedEdge(LOOPBACK));
      const outcomes = await attack();
      expect(outcomes.map((outcome) => 'status' in outcome && outcome.status)).to.deep.equal([
        200, 200, 200, 200, 200,
      ]);
      expect(app.calls.bodies).to.deep.equal([JSON.parse(JSON_BODY)]);
    });

    it('is refused by every route', async () => {
      await serve(new Edge(LOOPBACK));
      for (const outcome of await attack()) {
        expect(outcome).to.have.property('status', 421);
        expect(outcome).to.have.property('text').that.contains('unknown_host');
      }
      expect(app.calls.bodies).to.deep.equal([]);
    });
  });

  describe('that sends requests to the service (cross-site request forgery)', () => {
    let origin: string;
    beforeEach(async () => {
      origin = `http://evil.example:${(attacker.address() as AddressInfo).port}`;
      await page.goto(origin);
    });

    /** The requests by route and status, without those that read the metrics. */
    async function counted(): Promise<string[]> {
      const { text } = await call(`${app.url}/metrics`);
      const lines = text.matchAll(/^millrace_http_requests_total\{route="([^"]+)",status="(\d+)"\} (\d+)$/gm);
      return [...lines].map(([, route, status, count]) => `${route} ${status} ×${count}`);
    }

    /** Requests that a browser sends without asking the service first, and one that it asks for. */
    async function attack(): Promise<Outcome> {
      const url = app.url + UPLOAD;
      for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
        await requestIn(url, post(JSON_BODY, type, 'no-cors'));
      await requestIn(url, post(undefined, undefined, 'no-cors'));
      await page.evaluate(SEND_FORM.replace('URL', JSON.stringify(url)));
      return requestIn(url, post(JSON_BODY, 'application/json'));
    }

    it('reaches the routes of a service that does not check the origin', async () => {
      await serve(new UncheckedEdge(LOOPBACK));
      await attack();
      expect(await counted()).to.have.members([`${UPLOAD} 415 ×3`, `${UPLOAD} 400 ×1`, `${UPLOAD} 204 ×1`]);
    });

    it('is refused before any route', async () => {
      await serve(new Edge(LOOPBACK));
      const outcome = await attack();
      expect(outcome).to.have.property('blocked').that.contains('Failed to fetch');
      // Four attempts, and the preflight request of the fifth.
      expect(await counted()).to.deep.equal(['none 403 ×5']);
      expect(app.calls.bodies).to.deep.equal([]);
    });

    it('reads and writes if MILLRACE_CORS_ORIGINS has its origin', async () => {
      await serve(new Edge({ ...LOOPBACK, corsOrigins: new Set([origin]) }));
      const outcome = await requestIn(app.url + UPLOAD, post(JSON_BODY, 'application/json'));
      expect(outcome).to.have.property('status', 200);
      expect(app.calls.bodies).to.deep.equal([JSON.parse(JSON_BODY)]);
      const id = await page.evaluate(
        async (url) =>
          (await fetch(url, { method: 'POST', headers: { authorization: 'Bearer k' } })).headers.get(
            'x-request-id',
          ),
        app.url + UPLOAD,
      );
      expect(id).to.match(/^[0-9a-f-]{36}$/);
    });
  });
});

/** One port whose connections go first to the attacker's server and then elsewhere, like a name that is rebound. */
interface Rebound {
  readonly server: Server;
  readonly port: number;
  switchTo(port: number): void;
}

async function startRebound(first: number): Promise<Rebound> {
  let target = first;
  const server = createTcpServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    client.pipe(upstream).pipe(client);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const)
      one.on('error', () => undefined).once('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, switchTo: (port) => (target = port) };
}
