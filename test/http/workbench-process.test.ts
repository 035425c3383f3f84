import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { once } from 'node:events';
import { expect } from 'chai';
import { chromium } from 'playwright-core';
import { compares } from '../../runtime/cli/compare/compares.js';
import { createKey, hashOfKey } from '../../runtime/serve/access/key-text.js';
import { keysText } from '../../runtime/serve/access/keys-file.js';
import { SCOPE_NAMES } from '../../runtime/serve/access/scopes.js';
import { startWorkbench } from '../../runtime/serve/app/serve-workbench.js';
import { startService, type RunningService } from '../../runtime/serve/app/serve.js';
import { isOfWorkbench, SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { millrace } from '../support/command-line.js';
import { describeWith, findChromium } from '../support/needs.js';
import { writeProject } from '../support/project.js';
import { startRedisServer, type PrivateRedis } from '../support/redis-server.js';
import { startProcess, type ServiceFailed } from '../support/service-process.js';
import { until } from '../support/until.js';
import { call, post, type Answer } from './harness.js';

const FILES = {
  'schemas/entities/product.yaml': 'entity: product\nextends: ProductEntity\nattributes: { price: float }\n',
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, category: optional(string) }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: campaigns } }
`,
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
};
const ROUTE = '/api/v1/search';
const BODY = { candidates: ['a', 'b', 'c'].map((product_id, at) => ({ product_id, found: 3 - at })) };
const PINNED = { on: { category: ['tv'] }, pin: { '1': 'c' } };
const QUIET = { LOG_LEVEL: 'silent', PORT: '0', MILLRACE_WARM_UP_MS: '0', MILLRACE_QUEUE_MS: '30000' };

/** Paths that end as an explanation does, and that some servers take as another path. */
const DOTTED = ['/x/../../explain', '/x/%2E%2e/search/explain', '/..%5csearch/explain', '//x/../explain'];

const SEARCH_WITH_ARMS = `pipeline: search
rank: product
params: { sign: 1 }
request: { candidates: { found: float }, user: optional(user), category: optional(string) }
components:
  - { use: score, with: { value: sign * product.found } }
  - { use: curation, with: { list: campaigns } }
`;
const TURNED = `experiment: turned
pipeline: search
unit: user
arms: { control: { weight: 1 }, turned: { weight: 1, params: { sign: -1 } } }
`;

type Env = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

const newProject = (): Promise<string> => writeProject(FILES);

/** Writes a keys file with one key that may do everything. @returns its text, and the setting */
async function writeKeys(root: string): Promise<{ readonly key: string; readonly env: Env }> {
  const { id, text } = createKey();
  const file = join(root, 'keys.json');
  const key = { id, name: 'boss', hash: hashOfKey(text), scopes: SCOPE_NAMES, created: Date.now() };
  await writeFile(file, keysText([key]));
  return { key: text, env: { MILLRACE_KEYS: file } };
}

const serve = (root: string, env: Env = {}): Promise<RunningService> =>
  startService(loadSettings({ ...QUIET, MILLRACE_STORE: 'embedded', ...env }, { project: root }));

const bearer = (key: string): Headers => ({ authorization: `Bearer ${key}` });
const codeOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.code];

/** Invites a person at a service, and signs in at a workbench. @returns the headers of the session's requests */
async function signIn(
  at: string,
  workbench: string,
  key: string,
  name: string,
): Promise<{ readonly cookie: string; readonly 'x-millrace-csrf': string }> {
  const invited = await post(`${at}/api/v1/invitations/create`, { name, role: 'merchandiser' }, bearer(key));
  expect(invited.status, invited.text).to.equal(200);
  const { invitation } = invited.json as { invitation: string };
  const opened = await post(`${workbench}/api/v1/session/open`, { invitation }, { origin: workbench });
  expect(opened.status, opened.text).to.equal(200);
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const who = await call(`${workbench}/api/v1/session`, { headers: { cookie } });
  expect(who.json).to.include({ name });
  return { cookie, 'x-millrace-csrf': String(who.json?.csrf) };
}

/** Publishes a campaign, and returns who the history says did it. */
async function publish(workbench: string, headers: Headers, draft: string): Promise<unknown> {
  const list = { list: 'campaigns' };
  const ask = async (verb: string, body: object): Promise<Answer> => {
    const answer = await post(`${workbench}/api/v1/curation/${verb}`, { ...list, ...body }, headers);
    expect(answer.status, answer.text).to.equal(200);
    return answer;
  };
  await ask('draft/put', { draft, campaigns: { [draft]: PINNED } });
  const preview = await post(`${workbench}${ROUTE}?draft=${draft}`, { ...BODY, category: 'tv' }, headers);
  expect(firstOf(preview), preview.text).to.equal('c');
  await ask('publish', { draft });
  const { json } = await ask('history', {});
  return (json?.publishes as { author: unknown }[])[0]?.author;
}

const firstIn = (text: string): unknown => firstOf({ json: JSON.parse(text) as Answer['json'] } as Answer);

const firstOf = ({ json }: Answer): unknown =>
  (json?.ranked_candidates as { candidate_id: string }[] | undefined)?.[0]?.candidate_id;

describe('the setting workbench', function () {
  this.timeout(60_000);
  let root = '';
  let service: RunningService | undefined;
  beforeEach(async () => (root = await newProject()));
  afterEach(async () => {
    await service?.close();
    service = undefined;
    await rm(root, { recursive: true });
  });

  /** Whether a request reaches a route. The key lacks every scope, so that none does anything. */
  async function has(path: string, method: string, key: string): Promise<boolean> {
    const init = { method, headers: { ...bearer(key), 'content-type': 'application/json' } };
    const answer = await call(`${service?.url}${path}`, method === 'POST' ? { ...init, body: '{}' } : init);
    return answer.json?.code !== 'unknown_route';
  }

  for (const [what, isThere] of [
    ['on', () => true],
    ['off', (route) => !isOfWorkbench(route)],
    ['only', ({ audience, usesLedger }) => audience !== undefined && usesLedger !== true],
  ] as readonly (readonly [string, (route: (typeof SERVICE_ROUTES)[number]) => boolean])[])
    it(`${what}: each route of the service is there, or is not`, async () => {
      const { key, env } = await writeKeys(root);
      service = await serve(root, { ...env, MILLRACE_WORKBENCH: what });
      for (const route of SERVICE_ROUTES)
        expect(await has(route.path, route.method, key), `${route.method} ${route.path}`).to.equal(
          isThere(route),
        );
      expect(await has(ROUTE, 'POST', key)).to.equal(what !== 'only');
      expect(await has(`${ROUTE}/explain`, 'POST', key)).to.equal(true);
      expect(await has(`${ROUTE}?at=2026-11-28T20:00Z`, 'POST', key)).to.equal(true);
    });

  it('only: one listener, which checks the host, and the ledger stays as it is', async () => {
    service = await serve(root, {
      MILLRACE_WORKBENCH: 'only',
      MILLRACE_ADMIN_PORT: '0',
      MILLRACE_WORKERS: '3',
    });
    expect(service.adminUrl).to.equal(service.url);
    const { port } = service;
    const foreign = await rawGet(port, '/workbench', 'evil.example');
    expect(foreign).to.match(/^HTTP\/1\.1 421 /);
    expect(firstOf(await post(`${service.url}${ROUTE}?at=2026-11-28T20:00Z`, BODY))).to.equal('a');
  });

  it('lists its values if another one is set', () => {
    expect(() => loadSettings({ MILLRACE_WORKBENCH: 'yes' })).to.throw('expected on, off or only');
  });
});

/** Sends a head that `fetch` does not allow. @returns the answer */
async function rawGet(port: number, target: string, host: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describeWith('redis-server', 'a workbench of its own on Redis', function () {
  this.timeout(60_000);
  let redis: PrivateRedis;
  let root = '';
  before(async () => {
    redis = await startRedisServer();
    root = await newProject();
  });
  after(async () => {
    await redis.remove();
    await rm(root, { recursive: true });
  });

  it('shares invitations, sessions and campaigns with the services, whose answers follow it', async () => {
    const { key, env } = await writeKeys(root);
    const all = { ...env, MILLRACE_STORE: 'redis', REDIS_URL: redis.url };
    const services = [
      await serve(root, { ...all, MILLRACE_WORKBENCH: 'off' }),
      await serve(root, { ...all, MILLRACE_WORKBENCH: 'only' }),
    ];
    try {
      const [ranking = '', workbench = ''] = services.map(({ url }) => url);
      const headers = await signIn(ranking, workbench, key, 'anna');
      expect((await call(`${ranking}/api/v1/session`, { headers })).json).to.include({ name: 'anna' });
      expect(await publish(workbench, headers, 'friday')).to.equal('anna');
      await until('the campaign is served', async () => {
        const answer = await post(`${ranking}${ROUTE}`, { ...BODY, category: 'tv' }, bearer(key));
        return firstOf(answer) === 'c';
      });
      const revoked = await post(
        `${workbench}/api/v1/invitations/revoke`,
        { invitation: 'anna' },
        bearer(key),
      );
      expect(revoked.status).to.equal(200);
      for (const url of [workbench, ranking])
        await until('the session is over', async () => {
          const { status } = await call(`${url}/api/v1/session`, { headers });
          return status === 401;
        });
    } finally {
      for (const one of services) await one.close();
    }
  });
});

describeWith('redis-server', 'experiments in a workbench of its own', function () {
  this.timeout(60_000);

  it('have the arms that the service gives, and its stops are those of the service', async () => {
    const redis = await startRedisServer();
    const root = await writeProject({
      ...FILES,
      'pipelines/search.yaml': SEARCH_WITH_ARMS,
      'experiments/turned.yaml': TURNED,
    });
    const env = { MILLRACE_STORE: 'redis', REDIS_URL: redis.url };
    const services = [
      await serve(root, env),
      await serve(root, { ...env, MILLRACE_WORKBENCH: 'only' }),
    ] as const;
    const [ranking, workbench] = services;
    const answersOf = async ({ url }: RunningService): Promise<readonly string[]> =>
      Promise.all(
        Array.from({ length: 40 }, async (_, i) => {
          const sent = { ...BODY, user: { user_id: `u${i}` } };
          const { status, text } = await post(`${url}${ROUTE}?at=2026-11-28T20:00Z`, sent);
          expect(status, text).to.equal(200);
          return text;
        }),
      );
    try {
      const served = await answersOf(ranking);
      expect(new Set(served.map((text) => firstIn(text)))).to.deep.equal(new Set(['a', 'c']));
      expect(await answersOf(workbench)).to.deep.equal(served);
      const stopped = await post(`${workbench.url}/api/v1/experiments/stop`, { experiment: 'turned' });
      expect(stopped.status).to.equal(200);
      await until('the service stopped it', async () => {
        const answers = await answersOf(ranking);
        return answers.every((text) => firstIn(text) === 'a');
      });
    } finally {
      for (const one of services) await one.close();
      await redis.remove();
      await rm(root, { recursive: true });
    }
  });
});

describe('the workbench of a running service', function () {
  this.timeout(60_000);
  let root = '';
  let service: RunningService;
  let key = '';
  let closing: (() => Promise<void>)[] = [];
  before(async () => {
    root = await newProject();
    const keys = await writeKeys(root);
    key = keys.key;
    service = await serve(root, { ...keys.env, MILLRACE_WORKBENCH: 'off' });
  });
  after(async () => {
    await service.close();
    await rm(root, { recursive: true });
  });
  afterEach(async () => {
    for (const close of closing) await close();
    closing = [];
  });

  async function workbench(its?: string, env: Env = {}, at = service.url): Promise<string> {
    const settings = loadSettings({ ...QUIET, ...env }, { project: root });
    const running = await startWorkbench(settings, at, { key: its, load: compares });
    closing.push(() => running.close());
    return running.url;
  }

  const failureOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: unknown) => `${(error as { code?: string }).code ?? ''}: ${(error as Error).message}`,
    );

  it('shows the pages, and lets a person sign in and publish under her name', async () => {
    const url = await workbench();
    for (const path of ['/workbench', '/session', '/workbench/main.js', '/workbench/style.css', '/healthz'])
      expect((await call(url + path)).status, path).to.equal(200);
    expect((await call(`${url}/`, { headers: { accept: 'text/html' } })).text).to.contain('/workbench');
    const headers = await signIn(url, url, key, 'ben');
    expect((await call(`${url}/workbench/project`, { headers })).json).to.include({ watches: false });
    expect(await publish(url, headers, 'monday')).to.equal('ben');
    const explained = await post(`${url}${ROUTE}/explain?contributions=true`, BODY, headers);
    expect(explained.status).to.equal(200);
    const { cookie } = headers;
    for (const token of [{}, { 'x-millrace-csrf': 'x' }])
      expect(codeOf(await post(`${url}/api/v1/session/end`, {}, { cookie, ...token }))).to.deep.equal([
        403,
        'csrf_missing',
      ]);
    const left = await post(`${url}/api/v1/session/end`, {}, headers);
    expect(left.headers.get('set-cookie')).to.match(/^millrace_session=; Max-Age=0/);
    expect(codeOf(await call(`${url}/api/v1/session`, { headers }))).to.deep.equal([401, 'key_required']);
  });

  it('gives a cookie for HTTPS alone to a browser that came over HTTPS', async () => {
    const url = await workbench();
    const body = { name: 'cora', role: 'merchandiser' };
    for (const scheme of ['https:', 'http:']) {
      const invited = await post(`${url}/api/v1/invitations/create`, body, bearer(key));
      const { invitation } = invited.json as { invitation: string };
      const origin = url.replace('http:', scheme);
      const opened = await post(`${url}/api/v1/session/open`, { invitation }, { origin });
      expect(opened.headers.get('set-cookie')).to.match(
        scheme === 'https:' ? /HttpOnly; SameSite=Strict; Secure$/ : /HttpOnly; SameSite=Strict$/,
      );
    }
  });

  it('passes on nothing but what the workbench asks for', async () => {
    const url = await workbench(key);
    expect((await post(`${url}${ROUTE}?at=2026-11-28T20:00Z`, BODY)).status).to.equal(200);
    for (const path of [
      ROUTE,
      '/api/v1/entities/upload',
      '/api/v1/feedback',
      '/api/v1/features/push',
      '/api/v1/privacy/forget',
      '/api/v1/entities/upload?at=1',
      '/api/v1/entities/upload/?draft=x',
      '/api/v1/x/..%2fsearch/explain',
    ])
      expect((await post(url + path, BODY)).json?.code, path).to.equal('unknown_route');
  });

  it('refuses other hosts and pages of other origins, also with a key of its own', async () => {
    const url = await workbench(key);
    const port = Number(new URL(url).port);
    expect(await rawGet(port, '/workbench/project', 'evil.example')).to.match(/^HTTP\/1\.1 421 /);
    expect((await call(`${url}/workbench/project`)).status).to.equal(200);
    for (const headers of [
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    ] as Headers[])
      expect(
        codeOf(await post(`${url}/api/v1/invitations/revoke`, { invitation: 'x' }, headers)),
      ).to.deep.equal([403, 'foreign_origin']);
  });

  it('uses its own key only for requests that have none', async () => {
    const url = await workbench(key);
    expect((await call(`${url}/api/v1/session`)).json).to.include({ name: 'boss' });
    const headers = await signIn(url, url, key, 'dora');
    expect((await call(`${url}/api/v1/session`, { headers })).json).to.include({ name: 'dora' });
    const wrong = { cookie: 'millrace_session=a.b' };
    expect((await call(`${url}/api/v1/session`, { headers: wrong })).status).to.equal(401);
    expect((await call(`${url}/api/v1/session`, { headers: bearer('mr_x') })).json?.code).to.equal(
      'key_invalid',
    );
  });

  it('tells the service the address of the client, and the id of the request, but no header that a client made up', async () => {
    let seen: Readonly<Record<string, unknown>> = {};
    const other = createServer((req, res) => {
      seen = { ...req.headers, url: req.url };
      res.setHeader('content-type', 'application/json').end('{"name":""}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    closing.push(async () => {
      await new Promise((resolve) => other.close(resolve));
    });
    const url = await workbench(
      undefined,
      {},
      `http://127.0.0.1:${(other.address() as AddressInfo).port}/base/`,
    );
    const headers = {
      'x-forwarded-for': '9.9.9.9',
      forwarded: 'for=9.9.9.9',
      referer: `${url}/x`,
      te: 'trailers',
    };
    await call(`${url}/openapi.json?a=1`, { headers: { ...headers, 'x-request-id': 'r-7' } });
    expect(seen).to.include({
      'x-forwarded-for': '127.0.0.1',
      'x-request-id': 'r-7',
      url: '/base/openapi.json?a=1',
    });
    expect(seen).not.to.have.any.keys('forwarded', 'referer', 'te', 'origin');
    seen = {};
    const port = Number(new URL(url).port);
    for (const target of DOTTED)
      expect(await rawGet(port, target, '127.0.0.1'), target).to.contain('unknown_route');
    expect(seen, 'a path that a server could take as another one').to.deep.equal({});
  });

  it('passes a compressed body on, and refuses one that is too long', async () => {
    const url = await workbench(key, { MILLRACE_MAX_UPLOAD_BYTES: '20000' });
    const send = (body: string): Promise<Answer> =>
      call(`${url}${ROUTE}/explain`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: gzipSync(body),
      });
    expect((await send(JSON.stringify(BODY))).status).to.equal(200);
    expect((await send(JSON.stringify({ ...BODY, pad: 'x'.repeat(20_000) }))).json?.code).to.equal(
      'body_too_large',
    );
    const form = { 'content-type': 'text/plain' };
    expect((await post(`${url}${ROUTE}/explain`, BODY, form)).json?.code).to.equal('unsupported_media_type');
  });

  it('does not start for other machines with a key, or for a service that needs none', async () => {
    const everywhere = { HOST: '0.0.0.0' };
    expect(await failureOf(workbench(key, everywhere))).to.contain('would act with the key of MILLRACE_KEY');
    const open = await startService(
      loadSettings(
        { ...QUIET, MILLRACE_STORE: 'embedded', MILLRACE_DATA_DIR: join(root, 'open') },
        { project: root },
      ),
    );
    closing.push(() => open.close());
    expect(await failureOf(workbench(undefined, everywhere, open.url))).to.contain(
      'the service needs no key',
    );
    expect(await failureOf(workbench(undefined, everywhere))).to.equal('none');
  });

  it('does not start with a wrong key or a wrong address, and says when the service is away later', async () => {
    expect(await failureOf(workbench(createKey().text))).to.match(
      /^key_invalid: .*refuses the key of MILLRACE_KEY/,
    );
    expect(await failureOf(workbench(undefined, {}, 'http://127.0.0.1:9'))).to.match(
      /^service_unreachable: /,
    );
    const other = createServer((_req, res) => res.end('hello')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await failureOf(workbench(undefined, {}, at))).to.contain('as no Millrace does');
    other.removeAllListeners('request').on('request', (_req, res) => res.end('{"name":""}'));
    const url = await workbench(undefined, {}, at);
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(codeOf(await call(`${url}/openapi.json`))).to.deep.equal([502, 'service_unreachable']);
  });

  it('is a command; without --url it opens the store, and says when another process has it', async () => {
    const args = ['--project', root, '--port', '0'];
    const running = await startProcess(
      [...args, '--url', service.url],
      { MILLRACE_KEY: key, MILLRACE_LAME_DUCK_MS: '0' },
      undefined,
      'workbench',
    );
    expect((await call(`${running.url}/workbench/project`)).status).to.equal(200);
    expect(running.lines.find(({ msg }) => msg === 'listening')).to.include({
      acts_as: 'boss',
      workbench: `${running.url}/workbench`,
    });
    running.child.kill('SIGTERM');
    expect(await running.ended).to.equal(0);
    const taken = await startProcess([...args, '--store', 'embedded'], {}, undefined, 'workbench').catch(
      (error: unknown) => error,
    );
    expect((taken as ServiceFailed).stderr).to.contain('millrace workbench --url http://127.0.0.1:5001');
    const { stderr } = await millrace(['workbench', '--url', 'ftp://x']);
    expect(stderr).to.contain('Expected an address such as http://127.0.0.1:5001');
  });

  it('is where `keys` invites, lists and revokes', async () => {
    const run = (...argv: string[]): ReturnType<typeof millrace> =>
      millrace(['keys', ...argv], { env: { MILLRACE_KEY: key } });
    const where = ['--url', service.url];
    const invited = await run(
      'invite',
      'finn',
      '--role',
      'scientist',
      ...where,
      '--address',
      'https://w.example',
    );
    expect(invited.stdout).to.match(/^https:\/\/w\.example\/session#mr_\w+\n$/);
    expect(invited.stderr).to.match(
      /^invitation \w{8} of finn made at http:.*; its link works once, until .*Z\n$/,
    );
    const here = await run('invite', 'gus', '--role', 'scientist', ...where, '--expires', '2d', '--json');
    expect((JSON.parse(here.stdout) as { link: string }).link).to.match(
      new RegExp(`^${service.url}/session#mr_`),
    );
    const listed = (await run('list', ...where)).stdout;
    expect(listed)
      .to.match(/finn +invited to \d{4}-\d\d-\d\d +rank,/)
      .and.not.contain('mr_');
    expect((await run('revoke', 'finn', ...where)).stdout).to.match(
      /^invitation \w{8} of finn is revoked\n$/,
    );
    expect((await run('revoke', 'fin', ...where)).stderr).to.contain('did you mean');
    const unkeyed = await millrace(['keys', 'list', ...where]);
    expect(unkeyed.stderr).to.contain('key_required');
    const both = await run('list', ...where, '--keys-file', 'x.json');
    expect([both.code, both.stderr.includes('--url and --keys-file are both set')]).to.deep.equal([2, true]);
  });
});

describeWith('chromium', 'a person at the workbench of a running service', function () {
  this.timeout(60_000);

  it('opens the link, and sees the workbench signed in, also after a reload', async () => {
    const root = await newProject();
    const { key, env } = await writeKeys(root);
    const service = await serve(root, { ...env, MILLRACE_WORKBENCH: 'off' });
    const workbench = await startWorkbench(loadSettings(QUIET, { project: root }), service.url, {
      load: compares,
    });
    const browser = await chromium.launch({ executablePath: findChromium() ?? '', args: ['--no-sandbox'] });
    try {
      const { stdout } = await millrace(
        [
          'keys',
          'invite',
          'anna',
          '--role',
          'merchandiser',
          '--url',
          service.url,
          '--address',
          workbench.url,
        ],
        { env: { MILLRACE_KEY: key } },
      );
      const page = await browser.newPage({ locale: 'de-DE' });
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(error.message));
      await page.goto(stdout.trim());
      await page.getByRole('button', { name: 'Anmelden' }).click();
      await page.waitForURL(`${workbench.url}/workbench`);
      for (let time = 0; time < 2; time++) {
        await page.getByText(`POST ${ROUTE}`).waitFor();
        await page.reload();
      }
      await page.goto('about:blank');
      await page.goto(stdout.trim());
      await page.getByRole('button', { name: 'Anmelden' }).click();
      await page.getByText('Diese Einladung wurde schon benutzt').waitFor();
      expect(complaints).to.deep.equal([]);
    } finally {
      await browser.close();
      await workbench.close();
      await service.close();
      await rm(root, { recursive: true });
    }
  });
});
