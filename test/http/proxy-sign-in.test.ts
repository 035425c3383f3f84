import { expect } from 'chai';
import { request } from 'node:http';
import { AddressRanges } from '../../runtime/ground/core/address-ranges.js';
import { Invitations } from '../../runtime/serve/access/invitations.js';
import { ProxySignIn } from '../../runtime/serve/access/proxy-sign-in.js';
import { ROLES } from '../../runtime/serve/access/scopes.js';
import { Sessions } from '../../runtime/serve/access/sessions.js';
import { checkExposure } from '../../runtime/serve/access/exposure.js';
import { loadSettings, SETTINGS } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { call, post, start, type Running } from './harness.js';
import { TestKeys } from './test-keys.js';

const HEADERS = { 'x-forwarded-user': 'anna@shop.example', 'x-forwarded-groups': 'staff, shop-team' };
const TOKEN = { 'x-millrace-csrf': 'proxy' };

describe('signing in at a proxy', () => {
  let app: Running;
  const keys = new TestKeys();
  const key = keys.add('web', ['rank']);

  const serve = async (proxies: string): Promise<void> => {
    const parts = { store: new MemoryStore(), prefix: 'm', now: Date.now };
    const invitations = new Invitations({ ...parts, keys });
    const proxy = new ProxySignIn({
      signInProxies: AddressRanges.parse(proxies) ?? AddressRanges.none,
      signInRoles: new Map([
        ['shop-team', 'merchandiser'],
        ['data', 'scientist'],
      ]),
    });
    app = await start({ keys, invitations, sessions: new Sessions({ ...parts, invitations, proxy }) });
  };
  afterEach(() => app.close());

  const who = (headers: Record<string, string>): ReturnType<typeof call> =>
    call(`${app.url}/api/v1/session`, { headers });
  const put = (headers: Record<string, string>): ReturnType<typeof post> =>
    post(`${app.url}/api/v1/curation/draft/put`, { list: 'campaigns' }, headers);

  it('gives a person the roles of the groups, with the name in audit lines', async () => {
    await serve('127.0.0.0/8');
    expect((await who(HEADERS)).json).to.deep.equal({
      name: 'anna@shop.example',
      scopes: ROLES.merchandiser,
      csrf: 'proxy',
    });
    const both = await who({ ...HEADERS, 'x-forwarded-groups': 'data,shop-team' });
    expect(both.json?.scopes).to.include.members([...ROLES.merchandiser, ...ROLES.scientist]);
    expect((await put({ ...HEADERS, ...TOKEN })).status).to.equal(200);
    expect(app.log()).to.contain('"key":"anna@shop.example"');
    const admin = await call(`${app.url}/api/v1/invitations`, { headers: HEADERS });
    expect([admin.status, admin.json?.code]).to.deep.equal([403, 'scope_missing']);
  });

  it('is refused without a token, a role or a usable name', async () => {
    await serve('127.0.0.1');
    const codeOf = async (headers: Record<string, string>): Promise<unknown> =>
      (await put(headers)).json?.code;
    expect(await codeOf(HEADERS)).to.equal('csrf_missing');
    expect(await codeOf({ ...HEADERS, ...TOKEN, 'x-forwarded-groups': 'shop-team2' })).to.equal(
      'key_not_allowed',
    );
    expect(await codeOf({ 'x-forwarded-user': 'anna', ...TOKEN })).to.equal('key_not_allowed');
    for (const name of ['', 'anna,boss', 'anna boss', '<b>', 'a'.repeat(101)])
      expect(await codeOf({ ...HEADERS, ...TOKEN, 'x-forwarded-user': name }), name).to.equal('key_invalid');
    expect(await twice()).to.equal(401);
    const foreign = await put({ ...HEADERS, ...TOKEN, origin: 'http://evil.example' });
    expect(foreign.json?.code).to.equal('foreign_origin');
  });

  /** A client adds a header of its own, and the proxy adds another one. */
  const twice = (): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      request(`${app.url}/api/v1/session`, {
        headers: [
          'X-Forwarded-User',
          'boss',
          'X-Forwarded-User',
          'anna',
          'X-Forwarded-Groups',
          'data',
          'Host',
          '127.0.0.1',
        ],
      })
        .on('response', (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        })
        .on('error', reject)
        .end();
    });

  it('is ignored from other addresses, whatever X-Forwarded-For says, and beside a key', async () => {
    await serve('10.0.0.0/8');
    for (const headers of [HEADERS, { ...HEADERS, 'x-forwarded-for': '10.0.0.1' }])
      expect((await who(headers)).json?.code).to.equal('key_required');
    await app.close();
    await serve('127.0.0.1');
    expect((await who({ ...HEADERS, authorization: `Bearer ${key}` })).json).to.deep.include({
      name: 'web',
      scopes: ['rank'],
    });
    await app.close();
    await serve('');
    expect((await who(HEADERS)).json?.code).to.equal('key_required');
  });

  it('is refused at the start without keys or roles', async () => {
    await serve('');
    const on = { MILLRACE_SIGN_IN_PROXIES: '10.0.0.7' };
    const check = (env: Record<string, string>): Promise<unknown> =>
      checkExposure(loadSettings({ ...on, ...env })).catch((error: unknown) => (error as Error).message);
    expect(await check({})).to.contain('MILLRACE_KEYS is not');
    expect(await check({ MILLRACE_KEYS: 'keys.json' })).to.contain('MILLRACE_SIGN_IN_ROLES is not');
    expect(await check({ MILLRACE_KEYS: 'keys.json', MILLRACE_SIGN_IN_ROLES: 'a=admin' })).to.equal(
      undefined,
    );
  });

  it('has roles that the settings check', async () => {
    await serve('');
    const { parse } = SETTINGS.signInRoles;
    expect([...(parse('a b=admin, c=scientist', '') ?? [])]).to.deep.equal([
      ['a b', 'admin'],
      ['c', 'scientist'],
    ]);
    for (const wrong of ['a', 'a=boss', '=admin', 'a=admin,a=scientist', 'a=__proto__'])
      expect(parse(wrong, '')).to.equal(undefined);
  });
});
