import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { Invitations } from '../../runtime/serve/access/invitations.js';
import { ROLES } from '../../runtime/serve/access/scopes.js';
import { Sessions } from '../../runtime/serve/access/sessions.js';
import { Edge, type EdgeSettings } from '../../runtime/serve/http/edge/edge.js';
import { startBrowser } from '../support/browser.js';
import { MemoryStore } from '../support/memory-store.js';
import { describeWith } from '../support/needs.js';
import { call, post, start, type Running } from './harness.js';
import { TestKeys } from './test-keys.js';

const WRITE = '/api/v1/curation/put';
const LOOPBACK: EdgeSettings = {
  ...{ host: '127.0.0.1', adminHost: '127.0.0.1', hosts: new Set<string>(), corsOrigins: new Set<string>() },
  ...{ ratePerAddress: 'off' as const, trustedProxies: AddressRanges.none, workers: 1 },
};

/** Neither hosts nor origins are checked, so that only what is left can refuse. */
class UncheckedEdge extends Edge {
  override faultOf(): undefined {
    return undefined;
  }
}

async function serve(edge: Edge): Promise<{ readonly app: Running; readonly invite: () => string }> {
  const keys = new TestKeys();
  const parts = { store: new MemoryStore(), prefix: 'm', now: Date.now };
  const invitations = new Invitations({ ...parts, keys });
  const app = await start({ keys, edge, invitations, sessions: new Sessions({ ...parts, invitations }) });
  const expires = Date.now() + 60_000;
  return { app, invite: () => keys.add('anna', ROLES.merchandiser, { invites: true, expires }) };
}

describe('a request with the cookie and the token of a session', () => {
  let app: Running;
  let headers: Readonly<Record<string, string>>;
  beforeEach(async () => {
    const served = await serve(new Edge(LOOPBACK));
    ({ app } = served);
    const opened = await post(`${app.url}/api/v1/session/open`, { invitation: served.invite() });
    const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
    const { json } = await call(`${app.url}/api/v1/session`, { headers: { cookie } });
    headers = { cookie, 'x-millrace-csrf': String(json?.csrf) };
  });
  afterEach(() => app.close());

  it('is answered where it comes from the page of the service', async () => {
    const its = { ...headers, origin: app.url, 'sec-fetch-site': 'same-origin' };
    expect((await post(app.url + WRITE, {}, its)).status).to.equal(200);
  });

  for (const foreign of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ] as Readonly<Record<string, string>>[])
    it(`is refused from another page: ${JSON.stringify(foreign)}`, async () => {
      const { status, json } = await post(app.url + WRITE, {}, { ...headers, ...foreign });
      expect([status, json?.code]).to.deep.equal([403, 'foreign_origin']);
    });

  it('is refused under another name of the host (DNS rebinding)', async () => {
    const socket = connect(app.port, '127.0.0.1');
    const its = Object.entries({ ...headers, host: 'evil.example', connection: 'close' });
    const head = its.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    socket.write(
      `POST ${WRITE} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: 2\r\n${head}\r\n{}`,
    );
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text)
      .to.match(/^HTTP\/1\.1 421 /)
      .and.contain('unknown_host');
  });
});

describeWith('chromium', 'a link of an invitation in a browser', function () {
  this.timeout(60_000);
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let attacker: Server;
  let app: Running;
  let invite: () => string;
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
  const begin = async (edge: Edge): Promise<void> => {
    ({ app, invite } = await serve(edge));
    context = await browser.newContext({ locale: 'en-GB' });
    page = await context.newPage();
  };
  afterEach(async () => {
    await context.close();
    await app.close();
  });

  async function signIn(invitation: string): Promise<void> {
    await page.goto(`${app.url}/session#${invitation}`);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${app.url}/workbench`);
  }

  it('signs in once: the cookie is for no script, and a reload is still signed in', async () => {
    await begin(new Edge(LOOPBACK));
    const invitation = invite();
    await signIn(invitation);
    const [cookie, ...more] = await context.cookies();
    expect(more).to.deep.equal([]);
    expect(cookie).to.include({ name: 'millrace_session', httpOnly: true, sameSite: 'Strict', path: '/' });
    expect((cookie?.expires ?? 0) - Date.now() / 1000).to.be.closeTo(12 * 3600, 120);
    await page.goto(`${app.url}/session`);
    await page.locator('#said', { hasText: 'anna' }).waitFor();
    await page.reload();
    await page.locator('#said', { hasText: 'anna' }).waitFor();
    expect(await page.evaluate('document.cookie')).to.equal('');
    const other = await browser.newContext({ locale: 'en-GB' });
    const thief = await other.newPage();
    await thief.goto(`${app.url}/session#${invitation}`);
    await thief.getByRole('button', { name: 'Sign in' }).click();
    await thief.locator('#said', { hasText: 'This invitation was used already' }).waitFor();
    expect(await other.cookies()).to.deep.equal([]);
    await other.close();
  });

  it('is used by a click alone, and is in no address, header, log line or history', async () => {
    await begin(new Edge(LOOPBACK));
    const invitation = invite();
    const sent: string[] = [];
    page.on('request', (request) => {
      sent.push(request.url().split('#')[0] ?? '', JSON.stringify(request.headers()));
    });
    await page.goto(`${app.url}/session#${invitation}`);
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await context.cookies()).to.deep.equal([]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${app.url}/workbench`);
    await page.goBack();
    expect(page.url()).to.equal(`${app.url}/session`);
    expect(sent.some((text) => text.includes('/api/v1/session/open'))).to.equal(true);
    for (const text of sent)
      expect(text).not.to.contain(invitation.slice(12)).and.not.to.contain('"referer":"h');
    expect(app.log()).not.to.contain(invitation.slice(12));
  });

  it('leads from the page of a session to no other page with a Referer', async () => {
    await begin(new Edge(LOOPBACK));
    const { headers, text } = await call(`${app.url}/session`);
    expect(headers.get('referrer-policy')).to.equal('no-referrer');
    expect(text).to.contain('<meta name="referrer" content="no-referrer"');
    expect(headers.get('content-security-policy'))
      .to.contain("default-src 'none'")
      .and.contain("form-action 'none'");
    expect(headers.get('x-frame-options')).to.equal('DENY');
  });

  it('gives no session to pages of other sites, also if nothing checks their origin', async () => {
    await begin(new UncheckedEdge(LOOPBACK));
    await signIn(invite());
    const url = JSON.stringify(`${app.url}${WRITE}`);
    await page.goto(`${app.url}/session`);
    await page.locator('#said', { hasText: 'anna' }).waitFor();
    await page.goto(`http://evil.example:${(attacker.address() as AddressInfo).port}/`);
    app.calls.bodies.length = 0;
    // With the cookie, each of these would be refused for its token alone: 403.
    const sent = `fetch(${url}, { method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}', headers: { 'content-type': 'text/plain' } })`;
    await page.evaluate(`${sent}.catch(() => undefined)`);
    const answered = page.waitForResponse((response) => response.url().endsWith('/api/v1/session'));
    await page.evaluate(`location.assign(${JSON.stringify(`${app.url}/api/v1/session`)})`);
    expect((await answered).status(), 'a link from another site').to.equal(401);
    expect(app.calls.bodies).to.deep.equal([]);
    const { text } = await call(`${app.url}/metrics`);
    expect(text).not.to.match(
      /millrace_http_requests_total\{route="\/api\/v1\/curation\/put",status="403"\}/,
    );
  });
});
