import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { call, post, start, type Running } from './harness.js';

const RANKING = '/api/v1/ranking';
const MADE_UP = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('X-Request-Id', () => {
  let app: Running;
  beforeEach(async () => (app = await start()));
  afterEach(() => app.close());

  const idOf = async (body: unknown, headers: Record<string, string> = {}): Promise<string | null> =>
    (await post(app.url + RANKING, body, headers)).headers.get('x-request-id');

  it("is a ranking's own request_id, before the header's", async () => {
    expect(await idOf({ request_id: 'order 66/ä'.slice(0, 8) }, { 'x-request-id': 'other' })).to.equal(
      'order 66',
    );
    expect(app.calls.contexts[0]?.requestId).to.equal('order 66');
  });

  it('is made up where a header cannot carry the request_id', async () => {
    const ids = [
      '',
      ' padded',
      'new\nline',
      'crlf\r\nSet-Cookie: a=b',
      'naïve',
      '\ud800',
      'x'.repeat(129),
      7.5,
      {},
      [],
    ];
    for (const id of ids) {
      expect(await idOf({ request_id: id }, { 'x-request-id': 'other' }), JSON.stringify(id)).to.match(
        MADE_UP,
      );
    }
    expect(app.calls.bodies).to.deep.equal(
      ids.map((id) => ({ request_id: id })),
      'the body reaches the pipeline as it is',
    );
  });

  it('is the decimal text of a whole number', async () => {
    expect(await idOf({ request_id: 7 })).to.equal('7');
    expect(app.calls.contexts[0]?.requestId).to.equal('7');
  });

  it('takes 128 characters', async () => {
    expect(await idOf({ request_id: 'x'.repeat(128) })).to.equal('x'.repeat(128));
  });

  it("is the incoming header's where the body has none", async () => {
    expect(await idOf({}, { 'x-request-id': 'from-the-gateway' })).to.equal('from-the-gateway');
    expect(await idOf({ request_id: null }, { 'x-request-id': 'from-the-gateway' })).to.equal(
      'from-the-gateway',
    );
    expect(app.calls.contexts[0]?.requestId).to.equal('from-the-gateway');
  });

  it('is made up where neither gives one, anew each time', async () => {
    const [first, second] = [await idOf({}), await idOf({}, { 'x-request-id': 'x'.repeat(129) })];
    expect(first).to.match(MADE_UP);
    expect(second).to.match(MADE_UP);
    expect(first).not.to.equal(second);
  });

  it('is on every answer, and in every problem', async () => {
    for (const path of ['/healthz', '/readyz', '/metrics', '/openapi.json', '/redoc', '/nowhere', RANKING]) {
      const answer = await call(app.url + path, { headers: { 'x-request-id': 'probe-1' } });
      expect(answer.headers.get('x-request-id'), path).to.equal('probe-1');
      if (answer.status >= 400) expect(answer.json?.request_id, path).to.equal('probe-1');
    }
    const malformed = await post(app.url + RANKING, '{', { 'x-request-id': 'probe-2' });
    expect(malformed.json?.request_id).to.equal('probe-2');
  });

  it("is a failing ranking's too, and in the log", async () => {
    const failing = await start({
      pipelines: [
        { run: () => Promise.reject(new MillraceError('component_failed', 'step 2 (linear) failed')) },
      ],
    });
    try {
      const answer = await post(failing.url + RANKING, { request_id: 'r-17' });
      expect(answer.headers.get('x-request-id')).to.equal('r-17');
      expect(answer.json?.request_id).to.equal('r-17');
      expect(failing.log()).to.contain('"request_id":"r-17"');
    } finally {
      await failing.close();
    }
  });
});
