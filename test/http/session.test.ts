import { expect } from 'chai';
import type { ApiKey } from '../../runtime/serve/access/api-key.js';
import { hasScope, ROLES } from '../../runtime/serve/access/scopes.js';
import { ROLE_NAMES } from '../../runtime/project/settings/edge-settings.js';
import { Invitations } from '../../runtime/serve/access/invitations.js';
import { Sessions } from '../../runtime/serve/access/sessions.js';
import { SERVICE_ROUTES } from '../../runtime/serve/http/routes.js';
import { MemoryStore } from '../support/memory-store.js';
import { call, post, start, type Answer, type Running } from './harness.js';
import { TestKeys } from './test-keys.js';

const HOUR = 3_600_000;
const API = '/api/v1/session';

/** A store that can be away. */
class LostStore extends MemoryStore {
  isLost = false;

  override read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return this.isLost ? Promise.reject(new Error('away')) : super.read(keys);
  }
}

describe('a session', () => {
  const store = new LostStore();
  const keys = new TestKeys();
  let now = Date.now();
  const apps: Running[] = [];
  const invite = (name: string, more: Partial<ApiKey> = {}): string =>
    keys.add(name, ROLES.merchandiser, { invites: true, expires: now + HOUR, ...more });

  /** Two instances of one service. */
  before(async () => {
    for (let i = 0; i < 2; i++) {
      const parts = { store, prefix: 'm', now: () => now };
      const invitations = new Invitations({ ...parts, keys });
      const sessions = new Sessions({ ...parts, invitations });
      apps.push(await start({ keys, sessions, invitations }));
    }
  });
  after(() => Promise.all(apps.map((app) => app.close())));
  beforeEach(() => {
    now = Date.now();
    store.isLost = false;
  });

  const url = (path: string, instance = 0): string => `${apps[instance]?.url ?? ''}${path}`;
  const open = (invitation: string, headers = {}): Promise<Answer> =>
    post(url(`${API}/open`), { invitation }, headers);
  const cookieOf = ({ headers }: Answer): string => headers.get('set-cookie')?.split(';')[0] ?? '';
  const who = (cookie: string, instance = 0): Promise<Answer> =>
    call(url(API, instance), { headers: { cookie } });
  const codeOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.code];

  /** Signs in. @returns the headers that requests of the session need */
  async function signIn(
    name: string,
    more: Partial<ApiKey> = {},
  ): Promise<{ cookie: string; 'x-millrace-csrf': string }> {
    const cookie = cookieOf(await open(invite(name, more)));
    return { cookie, 'x-millrace-csrf': String((await who(cookie)).json?.csrf) };
  }

  it('is opened once by an invitation, and lasts twelve hours on all instances', async () => {
    const invitation = invite('anna');
    const opened = await open(invitation, { origin: url('').replace('http:', 'https:') });
    expect(opened.json).to.include({ name: 'anna' });
    expect(opened.headers.get('set-cookie')).to.match(
      /^millrace_session=[\w-]{8}\.[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect(codeOf(await open(invitation))).to.deep.equal([403, 'invitation_invalid']);
    const cookie = cookieOf(opened);
    for (const instance of [0, 1]) {
      const { json } = await who(cookie, instance);
      expect(json).to.include({ name: 'anna' });
      expect(json?.scopes).to.deep.equal(ROLES.merchandiser);
    }
    now += 11 * HOUR;
    expect((await who(cookie)).status).to.equal(200);
    now += HOUR;
    expect(codeOf(await who(cookie))).to.deep.equal([401, 'key_required']);
    expect([...store.records.values()].some((record) => record.includes(cookie.slice(30)))).to.equal(false);
  });

  it('has no Secure cookie where the page came over plain HTTP, since the browser would drop it', async () => {
    expect((await open(invite('ben'))).headers.get('set-cookie')).to.match(/SameSite=Strict$/);
  });

  for (const role of ROLE_NAMES)
    it(`of a ${role} has the scopes of the role, and needs its token for what is more than a read`, async () => {
      const headers = await signIn(role, { scopes: ROLES[role] });
      for (const { path, method, scope, audience } of SERVICE_ROUTES) {
        if (scope === 'none' || path.startsWith(API) || (audience === undefined && path.includes(':')))
          continue;
        const may = scope === 'any' || hasScope(ROLES[role], scope);
        const { cookie } = headers;
        const send = (more: Record<string, string>): Promise<Answer> =>
          method === 'GET' ? call(url(path), { headers: more }) : post(url(path), {}, more);
        const { status, json } = await send(headers);
        expect([401, 403].includes(status), `${method} ${path}: ${status} ${String(json?.code)}`).to.equal(
          !may,
        );
        if (method === 'POST')
          for (const token of [{}, { 'x-millrace-csrf': 'x' }])
            expect(codeOf(await send({ cookie, ...token })), path).to.deep.equal([403, 'csrf_missing']);
      }
    });

  it('ends by signing out, at once here and within a second elsewhere, and its invitation stays used', async () => {
    const invitation = invite('cora');
    const cookie = cookieOf(await open(invitation));
    const csrf = String((await who(cookie)).json?.csrf);
    expect((await who(cookie, 1)).status).to.equal(200);
    const left = await post(url(`${API}/end`), {}, { cookie, 'x-millrace-csrf': csrf });
    expect(left.headers.get('set-cookie')).to.match(/^millrace_session=; Max-Age=0/);
    expect(codeOf(await who(cookie))).to.deep.equal([401, 'key_required']);
    now += 1000;
    expect(codeOf(await who(cookie, 1))).to.deep.equal([401, 'key_required']);
    expect(codeOf(await open(invitation))).to.deep.equal([403, 'invitation_invalid']);
  });

  it('ends when its invitation is revoked', async () => {
    const more: { revoked?: number } = {};
    const cookie = cookieOf(await open(invite('dora', more)));
    const revoked = new TestKeys();
    const parts = { store, prefix: 'm', now: () => now };
    const byId = (id: string): ApiKey => ({ ...(keys.byId(id) as ApiKey), revoked: 1 });
    const invitations = new Invitations({ ...parts, keys: { find: () => undefined, byId } });
    const sessions = new Sessions({ ...parts, invitations });
    const app = await start({ keys: revoked, sessions });
    const answer = await call(`${app.url}${API}`, { headers: { cookie } });
    await app.close();
    expect(codeOf(answer)).to.deep.equal([401, 'key_revoked']);
  });

  it('is not opened by a key, a wrong text, or an invitation that is over', async () => {
    const texts = [
      [keys.add('plain', ['rank']), 'no invitation'],
      ['x', 'no invitation'],
      [invite('late', { expires: now - 1 }), 'is expired'],
      [invite('gone', { revoked: now - 1 }), 'is revoked'],
    ] as const;
    for (const [text, why] of texts) {
      const answer = await open(text);
      expect(codeOf(answer), text).to.deep.equal([403, 'invitation_invalid']);
      expect(answer.json?.detail).to.contain(why);
    }
    expect(codeOf(await post(url(`${API}/open`), {}))).to.deep.equal([422, 'invalid_body']);
  });

  it('is no key: the text of an invitation is refused as one', async () => {
    const headers = { authorization: `Bearer ${invite('eva')}` };
    const answer = await call(url(API), { headers });
    expect(codeOf(answer)).to.deep.equal([401, 'key_invalid']);
    expect(answer.json?.detail).to.contain('open its link in a browser');
  });

  it('does not exist for a wrong cookie, and a key wins over a cookie', async () => {
    const { cookie } = await signIn('finn');
    const wrong = [
      `${cookie}x`,
      `${cookie.slice(0, -1)}_`,
      'millrace_session=',
      'millrace_session=a.b',
      'other=1; millrace_session=constructor.x',
    ];
    for (const one of wrong) expect(codeOf(await who(one)), one).to.deep.equal([401, 'key_required']);
    expect((await who(`theme=dark; ${cookie}`)).status).to.equal(200);
    const both = { cookie, authorization: `Bearer ${keys.add('robot', ['rank'])}` };
    expect((await call(url(API), { headers: both })).json).to.deep.equal({ name: 'robot', scopes: ['rank'] });
  });

  it('says when it cannot be checked because the store is away', async () => {
    const { cookie } = await signIn('gus');
    now += 1000;
    store.isLost = true;
    const answer = await who(cookie);
    expect(codeOf(answer)).to.deep.equal([401, 'key_required']);
    expect(answer.json?.detail).to.contain('the store does not answer');
    store.isLost = false;
    now += 1000;
    expect((await who(cookie)).status).to.equal(200);
  });

  it('names the person in the audit line of what it writes', async () => {
    const headers = await signIn('hana');
    await post(url('/api/v1/curation/put'), {}, headers);
    const line =
      apps[0]
        ?.log()
        .split('\n')
        .filter((one) => one.includes('"write"'))
        .at(-1) ?? '{}';
    expect(JSON.parse(line)).to.include({ key: 'hana', route: '/api/v1/curation/put' });
  });
});
