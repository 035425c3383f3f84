import { expect } from 'chai';
import type { KeyService } from '../../runtime/serve/http/services.js';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { call, start, type Running } from './harness.js';

/** What Firefox and Chromium send when a person opens an address. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
/** Headers of clients that do not ask for HTML, or rather have JSON. */
const OTHERS: readonly Readonly<Record<string, string>>[] = [
  {},
  { accept: '*/*' },
  { accept: 'application/json' },
  { accept: 'application/problem+json, */*;q=0.1' },
  { accept: 'application/json, text/html;q=0.9' },
  { accept: 'text/html;q=0.5, application/json' },
  { accept: 'text/html;q=0, */*' },
];
/** No key is known. */
const KEYS: KeyService = { find: () => undefined, byId: () => undefined, warnings: () => [] };

const linksIn = (html: string): string[] =>
  [...html.matchAll(/href="(\/[^"]*)"/g)].map(([, path = '']) => path);

describe('a browser', () => {
  let app: Running;
  before(async () => (app = await start()));
  after(() => app.close());

  it('finds the pages of the service at /', async () => {
    const { status, text, headers } = await call(`${app.url}/`, { headers: BROWSER });
    expect([status, headers.get('content-type')]).to.deep.equal([200, 'text/html; charset=utf-8']);
    expect(headers.get('content-security-policy')).to.contain("default-src 'none'");
    expect(linksIn(text)).to.have.members(
      SERVICE_ROUTES.filter(({ title }) => title !== undefined).map(({ path }) => path),
    );
    expect(linksIn(text)).to.include.members(['/redoc', '/workbench']);
    for (const path of linksIn(text)) expect((await call(app.url + path)).status, path).to.equal(200);
  });

  it('gets a page where nothing answers, with the nearest path and the id of the request', async () => {
    const { status, text, headers } = await call(`${app.url}/redok`, { headers: BROWSER });
    expect(status).to.equal(404);
    expect(text).to.match(/^<!doctype html>\n<html lang="en">/);
    expect(text).to.contain('did you mean /redoc?').and.contain(headers.get('x-request-id'));
  });

  it('gets a page for every other refusal of a GET', async () => {
    const { status, text } = await call(`${app.url}/api/v1/entities/upload`, { headers: BROWSER });
    expect(status).to.equal(405);
    expect(text).to.contain('<h1>').and.contain('expected POST, OPTIONS');
  });

  it('runs nothing that an address contains', async () => {
    const { text } = await call(`${app.url}/api/v1/<script>alert(1)</script>'"&`, { headers: BROWSER });
    expect(text).not.to.contain('<script').and.not.to.contain('%3Cscript%3E</');
  });

  it('gets the head of the page for HEAD, and a problem document for POST', async () => {
    const head = await call(`${app.url}/`, { method: 'HEAD', headers: BROWSER });
    expect([head.status, head.text]).to.deep.equal([200, '']);
    const posted = await call(`${app.url}/`, { method: 'POST', headers: BROWSER });
    expect(posted.headers.get('content-type')).to.equal('application/problem+json');
  });

  it('finds at / of a service with keys what is open without one; another unknown path says nothing', async () => {
    const keyed = await start({ keys: KEYS });
    try {
      const home = await call(`${keyed.url}/`, { headers: BROWSER });
      expect(home.status).to.equal(200);
      expect(linksIn(home.text)).to.have.members(['/session', '/workbench', '/readyz']);
      for (const path of ['/other', '/redoc'])
        expect((await call(keyed.url + path, { headers: BROWSER })).status, path).to.equal(401);
      for (const headers of OTHERS.slice(0, 4))
        expect((await call(`${keyed.url}/`, { headers })).json?.code).to.equal('key_required');
    } finally {
      await keyed.close();
    }
  });
});

describe('a client that does not prefer HTML', () => {
  for (const headers of OTHERS)
    it(`gets the problem document: ${JSON.stringify(headers)}`, async () => {
      const app = await start();
      try {
        for (const [path, help] of [
          ['/', '; see GET /redoc, or GET /openapi.json'],
          ['/redok', '; did you mean /redoc?'],
        ] as const) {
          const answer = await call(app.url + path, { headers: { ...headers, 'x-request-id': 'r1' } });
          expect(answer.headers.get('content-type')).to.equal('application/problem+json');
          expect(answer.text).to.equal(
            `{"type":"urn:millrace:problem:unknown_route","title":"No such route","status":404,"detail":"nothing answers GET at this path${help}","code":"unknown_route","request_id":"r1"}`,
          );
        }
      } finally {
        await app.close();
      }
    });
});
