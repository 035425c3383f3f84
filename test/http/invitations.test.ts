import { expect } from 'chai';
import type { ApiKey } from '../../runtime/serve/access/api-key.js';
import { Invitations } from '../../runtime/serve/access/invitations.js';
import { ROLES } from '../../runtime/serve/access/scopes.js';
import { ROLE_NAMES } from '../../runtime/project/settings/edge-settings.js';
import { Sessions } from '../../runtime/serve/access/sessions.js';
import { jsonRecord } from '../../runtime/state/store/codec/json-record.js';
import { invitationsKey } from '../../runtime/state/store/keys.js';
import { MemoryStore } from '../support/memory-store.js';
import { call, post, start, type Answer, type Running } from './harness.js';
import { TestKeys } from './test-keys.js';

const DAY = 86_400_000;
const API = '/api/v1/invitations';
const SESSION = '/api/v1/session';

/** A store whose reads can fail. */
class LostStore extends MemoryStore {
  isLost = false;

  override read(keys: readonly string[]): Promise<(Buffer | null)[]> {
    return this.isLost ? Promise.reject(new Error('away')) : super.read(keys);
  }
}

describe('an invitation that is made over HTTP', () => {
  let store: LostStore;
  let now: number;
  let apps: Running[];
  let keys: TestKeys;
  let admin: string;

  /** Two instances of one service, each with a keys file of its own. */
  beforeEach(async () => {
    store = new LostStore();
    now = Date.now();
    keys = new TestKeys();
    admin = keys.add('boss', ['admin']);
    apps = [];
    for (const its of [keys, new TestKeys()]) {
      const parts = { store, prefix: 'm', now: () => now };
      const invitations = new Invitations({ ...parts, keys: its });
      const sessions = new Sessions({ ...parts, invitations });
      apps.push(
        await start({ keys: its, sessions, invitations, pipelines: [{ name: 'search' }, { name: 'other' }] }),
      );
    }
  });
  afterEach(() => Promise.all(apps.map((app) => app.close())));

  const url = (path: string, instance = 0): string => `${apps[instance]?.url ?? ''}${path}`;
  const bearer = (key: string): { authorization: string } => ({ authorization: `Bearer ${key}` });
  const ask = (verb: string, body: object, key = admin): Promise<Answer> =>
    post(url(`${API}/${verb}`), body, bearer(key));
  const list = async (key = admin): Promise<readonly Record<string, unknown>[]> =>
    (await call(url(API), { headers: bearer(key) })).json?.invitations as Record<string, unknown>[];
  const invite = async (body: object = { name: 'anna', role: 'merchandiser' }): Promise<string> => {
    const answer = await ask('create', body);
    expect(answer.status, answer.text).to.equal(200);
    return String(answer.json?.invitation);
  };
  const open = (invitation: string, instance = 0): Promise<Answer> =>
    post(url(`${SESSION}/open`, instance), { invitation });
  const cookieOf = ({ headers }: Answer): string => headers.get('set-cookie')?.split(';')[0] ?? '';
  const who = (cookie: string, instance = 0): Promise<Answer> =>
    call(url(SESSION, instance), { headers: { cookie } });
  const codeOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.code];

  it('opens one session, at once on another instance, and the session lasts on both', async () => {
    const invitation = await invite();
    const opened = await open(invitation, 1);
    expect(opened.json).to.include({ name: 'anna' });
    for (const instance of [0, 1])
      expect(codeOf(await open(invitation, instance))).to.deep.equal([403, 'invitation_invalid']);
    const cookie = cookieOf(opened);
    for (const instance of [0, 1])
      expect((await who(cookie, instance)).json).to.deep.include({
        name: 'anna',
        scopes: ROLES.merchandiser,
      });
  });

  for (const role of ROLE_NAMES)
    it(`gives a ${role} the scopes of the role`, async () => {
      const answer = await ask('create', { name: 'anna', role });
      expect(answer.json).to.deep.include({
        name: 'anna',
        scopes: ROLES[role],
        invites: true,
        state: 'valid',
      });
      expect(answer.headers.get('cache-control')).to.equal('no-store');
    });

  it('is listed without its text, which the store does not hold', async () => {
    const invitation = await invite();
    const [one, ...more] = await list();
    expect(more).to.deep.equal([]);
    expect(one).to.include({ name: 'anna', id: invitation.slice(3, 11), state: 'valid' });
    expect(Date.parse(String(one?.expires))).to.equal(now + 7 * DAY);
    const secret = invitation.slice(12);
    expect(JSON.stringify(one)).not.to.contain(secret);
    expect([...store.records.values()].some((record) => record.includes(secret))).to.equal(false);
    expect(apps[0]?.log()).not.to.contain(secret);
  });

  it('opens nothing once it is revoked or over', async () => {
    const [revoked, late] = [await invite(), await invite({ name: 'ben', role: 'scientist' })];
    expect((await ask('revoke', { invitation: 'anna' })).json).to.include({ state: 'revoked' });
    expect((await open(revoked, 1)).json?.detail).to.contain('is revoked');
    now += 7 * DAY;
    expect((await open(late)).json?.detail).to.contain('is expired');
    expect((await open(late)).status).to.equal(403);
  });

  it('ends its session when it is revoked, within two seconds on the other instance', async () => {
    const cookie = cookieOf(await open(await invite(), 1));
    for (const instance of [0, 1]) expect((await who(cookie, instance)).status).to.equal(200);
    await ask('revoke', { invitation: 'anna' });
    expect(codeOf(await who(cookie))).to.deep.equal([401, 'key_revoked']);
    now += 2000;
    expect(codeOf(await who(cookie, 1))).to.deep.equal([401, 'key_revoked']);
  });

  it('lets a session last longer than its link', async () => {
    const expires = new Date(now + 60_000).toISOString();
    const cookie = cookieOf(await open(await invite({ name: 'anna', role: 'operator', expires })));
    now += 3_600_000;
    await invite({ name: 'ben', role: 'operator' });
    expect((await who(cookie)).status).to.equal(200);
    now += 12 * 3_600_000;
    await invite({ name: 'cora', role: 'operator' });
    expect((await list()).map(({ name }) => name)).to.deep.equal(['ben', 'cora']);
  });

  it('needs the scope admin, as key or as session, with the token of the session', async () => {
    const other = keys.add('web', ['rank', 'explain', 'curation', 'metrics']);
    expect(codeOf(await ask('create', { name: 'eva', role: 'admin' }, other))).to.deep.equal([
      403,
      'scope_missing',
    ]);
    expect(codeOf(await ask('revoke', { invitation: 'boss' }, other))).to.deep.equal([403, 'scope_missing']);
    const cookie = cookieOf(await open(await invite({ name: 'dora', role: 'admin' })));
    const csrf = String((await who(cookie)).json?.csrf);
    const body = { name: 'eva', role: 'merchandiser' };
    for (const token of [{}, { 'x-millrace-csrf': 'x' }])
      expect(codeOf(await post(url(`${API}/create`), body, { cookie, ...token }))).to.deep.equal([
        403,
        'csrf_missing',
      ]);
    const headers = { cookie, 'x-millrace-csrf': csrf };
    expect((await post(url(`${API}/create`), body, headers)).status).to.equal(200);
  });

  it('has the limits of the key that makes it', async () => {
    const limited = keys.add('lead', ['admin'], { pipelines: ['search'], entityTypes: ['product'] });
    const body = { name: 'anna', role: 'merchandiser' };
    expect((await ask('create', body, limited)).json).to.deep.include({
      pipelines: ['search'],
      entity_types: ['product'],
    });
    const wider = await ask('create', { ...body, pipelines: ['search', 'other'] }, limited);
    expect(codeOf(wider)).to.deep.equal([403, 'key_not_allowed']);
    expect((await ask('create', { ...body, pipelines: ['other'] })).json).to.deep.include({
      pipelines: ['other'],
    });
  });

  it('tells what is wrong with a body, with its place', async () => {
    const fine = { name: 'anna', role: 'admin' };
    const cases = [
      [{ role: 'admin' }, '/name', 'letters, digits'],
      [{ ...fine, name: '../x' }, '/name', 'letters, digits'],
      [{ ...fine, role: 'constructor' }, '/role', 'merchandiser, scientist, judge, operator, admin'],
      [{ ...fine, pipelines: ['serach'] }, '/pipelines/0', 'did you mean search?'],
      [{ ...fine, pipelines: [] }, '/pipelines', '1 to 100'],
      [{ ...fine, expires: 'tomorrow' }, '/expires', 'ISO 8601'],
      [{ ...fine, expires: new Date(now - 1).toISOString() }, '/expires', 'next 90 days'],
      [{ ...fine, expires: new Date(now + 91 * DAY).toISOString() }, '/expires', 'next 90 days'],
    ] as const;
    for (const [body, pointer, detail] of cases) {
      const { status, json } = await ask('create', body);
      const [error] = json?.errors as { pointer: string; detail: string }[];
      expect([status, error?.pointer], JSON.stringify(body)).to.deep.equal([422, pointer]);
      expect(error?.detail).to.contain(detail);
    }
    expect(await list()).to.deep.equal([]);
  });

  it('is revoked by its id where a name has several, and tells which one is meant', async () => {
    const [first = '', second = ''] = [await invite(), await invite()].map((text) => text.slice(3, 11));
    const several = await ask('revoke', { invitation: 'anna' });
    expect(codeOf(several)).to.deep.equal([404, 'unknown_invitation']);
    expect(several.json?.detail).to.contain(first).and.contain(second);
    await ask('revoke', { invitation: first });
    expect((await ask('revoke', { invitation: first })).json?.detail).to.contain('is revoked already');
    expect((await ask('revoke', { invitation: 'ana' })).json?.detail).to.contain('did you mean anna?');
    const ofFile = keys.add('filed', ['explain'], { invites: true, expires: now + DAY }).slice(3, 11);
    expect((await ask('revoke', { invitation: ofFile })).json?.detail).to.contain('is of the keys file');
  });

  it('is kept when many are made at the same time by two instances', async () => {
    const parts = { store, prefix: 'm', now: () => now, keys };
    const two = [new Invitations(parts), new Invitations(parts)] as const;
    await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        two[i % 2 === 0 ? 0 : 1].create({ name: `p${i}`, role: 'admin' }, undefined, []),
      ),
    );
    expect((await list()).length).to.equal(12);
  });

  it('is refused when there is no room; the oldest that is revoked makes room', async () => {
    const invitations = new Invitations({ store, prefix: 'm', now: () => now, keys });
    await invite();
    const [record] = [...store.records.values()];
    const { keys: all } = JSON.parse(record?.toString('utf8', 16) ?? '') as { keys: object[] };
    const many = Array.from({ length: 1000 }, (_, i) => ({
      ...all[0],
      id: String(i).padStart(8, '0'),
      hash: `sha256:${String(i).padStart(64, '0')}`,
      ...(i === 7 ? { revoked: new Date(now).toISOString() } : {}),
    }));
    store.records.set(invitationsKey('m'), jsonRecord({ version: 1, keys: many }));
    await invitations.create({ name: 'ben', role: 'admin' }, undefined, []);
    expect((await list()).map(({ id }) => id))
      .to.have.length(1000)
      .and.not.include('00000007');
    expect(codeOf(await ask('create', { name: 'cora', role: 'admin' }))).to.deep.equal([
      409,
      'invitations_full',
    ]);
  });

  it('opens nothing, and is not overwritten, where the record is damaged', async () => {
    const invitation = await invite();
    const damaged = Buffer.concat([Buffer.alloc(16), Buffer.from('{"version":2,"keys":[]}')]);
    store.records.set(invitationsKey('m'), damaged);
    expect((await open(invitation)).json?.code).to.equal('keys_damaged');
    expect((await ask('create', { name: 'ben', role: 'admin' })).json?.code).to.equal('keys_damaged');
    expect(store.records.get(invitationsKey('m'))).to.equal(damaged);
  });

  it('costs one read of the store in a second, however many unknown cookies come', async () => {
    await invite();
    now += 1000;
    store.reads = 0;
    for (let i = 0; i < 20; i++)
      expect((await who(`millrace_session=unknown${i}.x`)).json?.code).to.equal('key_required');
    expect(store.reads).to.equal(1);
  });

  it('keeps a session unchecked, and says so, while the store is away', async () => {
    const cookie = cookieOf(await open(await invite()));
    now += 1000;
    store.isLost = true;
    expect((await who(cookie, 1)).json?.detail).to.contain('the store does not answer');
    store.isLost = false;
    now += 1000;
    expect((await who(cookie, 1)).status).to.equal(200);
  });

  it('is not there where requests need no keys', async () => {
    const invitations = new Invitations({ store, prefix: 'm', now: () => now, keys: undefined });
    const app = await start({ invitations });
    const answer = await post(`${app.url}${API}/create`, { name: 'anna', role: 'admin' });
    await app.close();
    expect(codeOf(answer)).to.deep.equal([403, 'invitation_invalid']);
    expect(answer.json?.detail).to.contain('needs no keys');
  });

  it('is no key for requests', async () => {
    const text = await invite();
    const key: ApiKey | undefined = keys.find(text);
    expect(key).to.equal(undefined);
    expect(codeOf(await call(url(SESSION), { headers: bearer(text) }))).to.deep.equal([401, 'key_invalid']);
  });
});
