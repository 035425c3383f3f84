import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { pino } from 'pino';
import { createApp } from '../../runtime/serve/app/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { loadSettings } from '../../runtime/project/settings/settings.js';
import { MemoryStore } from '../support/memory-store.js';
import { memoryLedger } from '../support/memory-ledger.js';
import { writeProject } from '../support/project.js';
import { call, post, type Answer } from './harness.js';
import { TestKeys } from './test-keys.js';

const FILES = {
  'schemas/entities/product.yaml': `entity: product
extends: ProductEntity
display: { title: title, badges: [price] }
attributes: { title: string, price: float }
`,
  'pipelines/search.yaml': `pipeline: search
rank: product
request: { candidates: { found: float }, category: optional(string) }
components:
  - { use: score, with: { value: product.found } }
  - { use: curation, with: { list: campaigns } }
`,
  'pipelines/other.yaml':
    'pipeline: other\nrank: product\ncomponents:\n  - { use: score, with: { value: "1" } }\n',
  'curation/campaigns.yaml': 'curation: campaigns\nrules: []\n',
};

const REQUEST = {
  candidates: ['a', 'b', 'c'].map((product_id, at) => ({ product_id, found: 3 - at })),
  category: 'tv',
};
const DAY = 86_400_000;

describe('a link to a preview', () => {
  let root = '';
  let now = 0;
  let urls: string[] = [];
  let log = '';
  const keys = new TestKeys();
  const [anna, limited, viewer] = [
    keys.add('anna', ['preview', 'curation']),
    keys.add('limited', ['preview'], { pipelines: ['other'] }),
    keys.add('viewer', ['explain']),
  ];
  const closing: (() => Promise<void>)[] = [];

  /** Two instances on one store. */
  before(async () => {
    root = await writeProject(FILES);
    const store = new MemoryStore();
    const logger = pino({ level: 'trace' }, { write: (line) => void (log += line) });
    for (let at = 0; at < 2; at++) {
      const env = { MILLRACE_QUEUE_MS: '30000', MILLRACE_RELOAD_POLL_MS: '30' };
      const app = await createApp(loadSettings(env, { project: root }), {
        ...{ store, logger, keys: keys as never, clock: () => now, ledger: memoryLedger().ledger },
      });
      const server = await listen(app.http(), { host: '127.0.0.1', port: 0 });
      urls.push(`http://127.0.0.1:${server.port}`);
      closing.push(async () => {
        await server.close(0);
        await app.close();
      });
    }
  });
  after(async () => {
    for (const close of closing) await close();
    await rm(root, { recursive: true, force: true });
    urls = [];
  });
  beforeEach(async () => {
    now = Date.parse('2026-11-25T12:00:00Z');
    const campaigns = {
      friday: { from: '2026-11-27', until: '2026-11-30', on: { category: ['tv'] }, pin: { 1: 'c' } },
    };
    const title = { product_id: 'c', title: 'Radio', price: 19.9 };
    await ask(
      'entities/upload',
      { entity_type: 'product', entities: [title] },
      keys.add('w', ['entities:write']),
    );
    await ask('curation/draft/put', { list: 'campaigns', draft: 'friday', campaigns });
  });

  const ask = (path: string, body: object, key = anna, instance = 0): Promise<Answer> =>
    post(
      `${urls[instance] ?? ''}/api/v1/${path}`,
      body,
      key === '' ? {} : { authorization: `Bearer ${key}` },
    );
  const share = async (more: object = {}): Promise<{ link: string; id: string; expires: string }> => {
    const body = {
      draft: 'friday',
      pipeline: 'search',
      request: REQUEST,
      at: '2026-11-28T20:00:30+01:00',
      ...more,
    };
    const answer = await ask('previews/share', body);
    expect(answer.status, answer.text).to.equal(200);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    return answer.json as unknown as { link: string; id: string; expires: string };
  };
  const open = (link: string, instance = 0): Promise<Answer> => ask('previews/open', { link }, '', instance);
  const codeOf = ({ status, json }: Answer): readonly unknown[] => [status, json?.code];

  it('shows the page of its draft at its time to somebody without a key, on all instances', async () => {
    const { link, id } = await share();
    const routed = await ask('search?draft=friday&at=2026-11-28T19:00:30Z', REQUEST);
    for (const instance of [0, 1]) {
      const { status, json } = await open(link, instance);
      expect(status).to.equal(200);
      expect(json).to.deep.include({
        ...{ id, draft: 'friday', pipeline: 'search', author: 'anna', state: 'valid' },
        ...{ at: '2026-11-28T19:00:30.000Z', expires: '2026-12-02T12:00:00.000Z' },
        answer: routed.json,
      });
      const [first] = json?.page as { candidate_id: string; place: number; card: object }[];
      expect(first).to.deep.equal({
        candidate_id: 'c',
        place: 1,
        card: { title: 'Radio', badges: [{ name: 'price', value: 19.9 }] },
      });
      expect(json).to.have.property('values');
      expect(json).not.to.have.property('request');
    }
    const now_ = await share({ at: undefined });
    expect((await open(now_.link)).json?.answer).to.deep.equal(
      (await ask('search?draft=friday', REQUEST)).json,
    );
  });

  it('opens nothing else, and is no key', async () => {
    const { link } = await share();
    for (const path of ['search?draft=friday', 'search', 'previews/links', 'curation/draft/get'])
      expect(codeOf(await ask(path, REQUEST, link))).to.deep.equal([401, 'key_invalid']);
    expect(codeOf(await ask('previews/open', { link, draft: 'other' }, ''))[0]).to.equal(200);
    expect((await ask('previews/open', { link, draft: 'other' }, '')).json?.draft).to.equal('friday');
  });

  it('does not open if it is edited, over, revoked, or its draft is gone', async () => {
    const { link, id, expires } = await share();
    for (const edited of [
      `${link.slice(0, -1)}!`,
      `${link.slice(0, -2)}xx`,
      link.slice(0, 40),
      `${link}x`,
      anna,
    ])
      expect(codeOf(await open(edited))).to.deep.equal([403, 'preview_link_invalid']);
    expect(codeOf(await open(''))).to.deep.equal([422, 'invalid_body']);
    now = Date.parse(expires);
    const over = await open(link);
    expect([...codeOf(over), over.json?.detail]).to.deep.equal([
      ...[403, 'preview_link_invalid'],
      'the link expired at 2026-12-02T12:00:00.000Z',
    ]);
    now -= 1;
    expect((await open(link)).status).to.equal(200);
    const second = await share();
    const revoked = await ask('previews/revoke', { link: id });
    expect(revoked.json).to.include({ id, state: 'revoked' });
    for (const instance of [0, 1])
      expect((await open(link, instance)).json?.detail).to.equal('the link was revoked');
    expect((await open(second.link, 1)).status).to.equal(200);
    expect(codeOf(await ask('previews/revoke', { link: 'none' }))).to.deep.equal([
      404,
      'unknown_preview_link',
    ]);
    await ask('curation/draft/discard', { list: 'campaigns', draft: 'friday' });
    expect(codeOf(await open(second.link))).to.deep.equal([404, 'unknown_draft']);
  });

  it('is made by those alone who may preview, for what exists', async () => {
    const body = { draft: 'friday', pipeline: 'search', request: REQUEST };
    const refused = async (more: object, key = anna): Promise<readonly unknown[]> =>
      codeOf(await ask('previews/share', { ...body, ...more }, key));
    expect(await refused({}, viewer)).to.deep.equal([403, 'scope_missing']);
    expect(await refused({}, limited)).to.deep.equal([403, 'key_not_allowed']);
    expect(await refused({ draft: 'none' })).to.deep.equal([404, 'unknown_draft']);
    expect(await refused({ pipeline: 'none' })).to.deep.equal([404, 'unknown_pipeline']);
    expect(await refused({ pipeline: '__proto__' })).to.deep.equal([404, 'unknown_pipeline']);
    for (const more of [
      { request: { candidates: 'all' } },
      { request: { ...REQUEST, category: 'x'.repeat(5000) } },
      { at: 'soon' },
      { expires: '2026-11-25T11:59Z' },
      { expires: new Date(now + 31 * DAY).toISOString() },
    ])
      expect(await refused(more)).to.deep.equal([422, 'invalid_body']);
    const { json, text } = await ask('previews/share', { ...body, request: { candidates: 'all' } }, anna);
    expect(json, text).to.have.property('errors');
    expect((json?.['errors'] as { pointer: string }[])[0]?.pointer).to.equal('/request/candidates');
  });

  it('ends with the key of its author', async () => {
    const key = keys.add('ben', ['preview']);
    const answer = await ask(
      'previews/share',
      { draft: 'friday', pipeline: 'search', request: REQUEST },
      key,
    );
    const link = String(answer.json?.link);
    expect((await open(link)).status).to.equal(200);
    const ben = keys.find(key);
    Object.assign(ben ?? {}, { revoked: now });
    expect((await open(link)).json?.detail).to.equal('the key of ben was revoked, and its links with it');
  });

  it('stands neither in the log nor in the list, and its page holds no data', async () => {
    const { link } = await share();
    await open(link);
    const { json } = await ask('previews/links', {});
    expect((json?.links as object[]).length).to.be.above(0);
    for (const text of [log, JSON.stringify(json)])
      expect(text).not.to.contain(link).and.not.to.contain(link.split('_')[2]);
    expect(log).to.contain('/api/v1/previews/share');
    const page = await call(`${urls[0] ?? ''}/workbench/preview`);
    expect([page.status, page.headers.get('referrer-policy')]).to.deep.equal([200, 'no-referrer']);
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
  });
});
