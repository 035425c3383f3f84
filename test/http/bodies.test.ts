import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { BodyMemory } from '../../runtime/serve/http/bodies/body-memory.js';
import { until } from '../support/until.js';
import { call, post, postPlain, start, type Running } from './harness.js';

const MB = 1024 * 1024;
const RANKING = '/api/v1/ranking';
const UPLOAD = '/api/v1/entities/upload';

describe('request bodies', () => {
  let app: Running;
  beforeEach(async () => (app = await start()));
  afterEach(() => app.close());

  const refused: readonly [string, string | Uint8Array, number, string][] = [
    ['a document cut off', '{"candidates": [', 400, 'malformed_json'],
    ['a comma too many', '{"candidates": [],}', 400, 'malformed_json'],
    ['two documents', '{} {}', 400, 'malformed_json'],
    ['nothing', '', 400, 'malformed_json'],
    ['spaces alone', '   ', 400, 'malformed_json'],
    ['NaN', '{"a": NaN}', 400, 'malformed_json'],
    ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22), 400, 'malformed_json'],
    ['a cut UTF-8 sequence', Uint8Array.of(0x22, 0xc3, 0x22), 400, 'malformed_json'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 400, 'malformed_json'],
    ['100,000 lists never closed', '['.repeat(100_000), 400, 'malformed_json'],
  ];
  for (const route of [RANKING, UPLOAD]) {
    for (const [what, body, status, code] of refused) {
      it(`refuses ${what} at ${route}`, async () => {
        const answer = await post(app.url + route, body);
        expect([answer.status, answer.json?.code]).to.deep.equal([status, code]);
        expect(answer.headers.get('content-type')).to.equal('application/problem+json');
        expect(app.calls.bodies).to.be.empty;
      });
    }
  }

  it('tells line and column, and nothing of the body', async () => {
    const answer = await post(app.url + RANKING, '{\n  "secret": "hush",\n  "more": hush\n}');
    expect(answer.json?.detail).to.equal('line 3, column 11: expected a value');
    expect(app.log()).not.to.contain('hush');
  });

  it('accepts a byte order mark', async () => {
    const answer = await post(app.url + RANKING, Buffer.from('\ufeff{"candidates":[]}'));
    expect(answer.status).to.equal(200);
    expect(app.calls.bodies).to.deep.equal([{ candidates: [] }]);
  });

  it('hands a lone surrogate on as it came, for the service to judge', async () => {
    const answer = await post(app.url + RANKING, '{"query": "\\ud800"}');
    expect(answer.status).to.equal(200);
    expect(app.calls.bodies).to.deep.equal([{ query: '\ud800' }]);
  });

  it('keeps __proto__ a plain key', async () => {
    const body =
      '{"__proto__": {"polluted": true, "request_id": "from-proto"}, "constructor": {"prototype": {"polluted": true}}}';
    const answer = await post(app.url + RANKING, body);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('x-request-id')).not.to.equal('from-proto');
    expect(({} as { polluted?: unknown }).polluted).to.equal(undefined);
    expect(Object.getPrototypeOf(app.calls.bodies[0])).to.equal(Object.prototype);
  });

  it('takes a stack that overflows on a deep body for the fault of the body, and of no other', async () => {
    const walk = (body: unknown): Promise<never> => Promise.reject(overflow(body));
    const deep = await start({
      pipelines: [{ run: walk }],
      entities: { upload: walk, update: walk, get: walk, remove: walk },
      features: { push: walk, remove: walk },
    });
    const nested = '['.repeat(100_000) + ']'.repeat(100_000);
    // Brackets within texts, and beside each other, do not nest.
    const flat = { text: '[{"'.repeat(500), list: new Array(500).fill([]), '"[\\"': '\\' };
    try {
      for (const path of [
        RANKING,
        UPLOAD,
        '/api/v1/entities/get',
        '/api/v1/features/push',
        '/api/v1/features/delete',
      ]) {
        const answer = await post(deep.url + path, nested);
        expect([answer.status, answer.json?.code], path).to.deep.equal([422, 'invalid_body']);
        const other = await post(deep.url + path, flat);
        expect([other.status, other.json?.code], path).to.deep.equal([500, 'internal']);
      }
    } finally {
      await deep.close();
    }
  });

  describe('media types', () => {
    const types: readonly [string, number][] = [
      ['application/json', 200],
      ['application/json; charset=utf-8', 200],
      ['Application/JSON;charset="UTF-8"', 200],
      ['application/vnd.millrace.v1+json', 200],
      ['application/json; profile=x', 200],
      ['application/json; charset=iso-8859-1', 415],
      ['application/json; charset=utf-16', 415],
      ['text/plain', 415],
      ['text/json', 415],
      ['application/x-www-form-urlencoded', 415],
      ['application/jsonp', 415],
      ['multipart/form-data; boundary=application/json', 415],
      ['', 415],
    ];
    for (const [type, status] of types) {
      it(`answers ${status} to ${JSON.stringify(type)}`, async () => {
        const answer = await postPlain(app.url + RANKING, '{"candidates":[]}', { 'content-type': type });
        expect(answer.status).to.equal(status);
        if (status === 415) expect(answer.code).to.equal('unsupported_media_type');
      });
    }

    it('answers 415 to a body without a type, and 400 to no body', async () => {
      expect(await postPlain(app.url + RANKING, '{}', {})).to.deep.equal({
        status: 415,
        code: 'unsupported_media_type',
      });
      expect(await postPlain(app.url + RANKING, undefined, { 'content-length': '0' })).to.deep.equal({
        status: 400,
        code: 'malformed_json',
      });
    });
  });

  describe('size', () => {
    it('refuses 20 MB at every route that takes a body', async () => {
      const body = `{"a": "${'x'.repeat(20 * MB)}"}`;
      for (const path of [RANKING, UPLOAD, '/api/v1/features/push', '/api/v1/entities/get']) {
        const answer = await post(app.url + path, body);
        expect([answer.status, answer.json?.code], path).to.deep.equal([413, 'body_too_large']);
      }
      expect(app.calls.bodies).to.be.empty;
    });

    it('has a limit of its own for each kind of route', async () => {
      const threeMb = JSON.stringify({
        entities: new Array(3).fill('x'.repeat(MB - 10)),
        more: 'x'.repeat(90_000),
      });
      expect((await post(app.url + RANKING, threeMb)).status).to.equal(413);
      expect((await post(app.url + '/api/v1/entities/get', threeMb)).status).to.equal(413);
      expect((await post(app.url + UPLOAD, threeMb)).status).to.equal(200);
    });

    it('takes limits from the settings, to the byte', async () => {
      const small = await start({ limits: { rankingBytes: 20 } });
      try {
        expect((await post(small.url + RANKING, `"${'x'.repeat(18)}"`)).status).to.equal(200);
        const over = await post(small.url + RANKING, `"${'x'.repeat(19)}"`);
        expect(over.status).to.equal(413);
        expect(over.json?.detail).to.contain('20 bytes');
      } finally {
        await small.close();
      }
    });

    it('counts bytes as they are sent, without a Content-Length too', async () => {
      const chunk = new TextEncoder().encode('x'.repeat(MB));
      let left = 4;
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
      });
      const answer = await call(app.url + RANKING, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: stream,
        duplex: 'half',
      });
      expect(answer.status).to.equal(413);
    });
  });

  describe('memory', () => {
    const body = JSON.stringify({ entities: ['x'.repeat(10_000)] });

    it('is refused while other requests have all of it, and is there again after them', async () => {
      const bodyMemory = new BodyMemory(2.5 * body.length);
      let answer: () => void = () => undefined;
      const waiting = new Promise<void>((resolve) => (answer = resolve));
      const upload = async (): Promise<object> => {
        await waiting;
        return {};
      };
      const slow = await start({
        bodyMemory,
        entities: { upload, update: upload, get: upload, remove: upload },
      });
      try {
        const first = [post(slow.url + UPLOAD, body), post(slow.url + UPLOAD, body)];
        await until('the memory', () => bodyMemory.held === 2 * body.length);
        for (const [sent, headers] of [
          [body, {}],
          [gzipSync(body), { 'content-encoding': 'gzip' }],
        ] as const) {
          const refused = await post(slow.url + UPLOAD, sent, headers);
          expect([refused.status, refused.json?.code]).to.deep.equal([503, 'overloaded']);
          expect(refused.headers.get('retry-after')).to.equal('1');
        }
        expect(bodyMemory.held).to.equal(2 * body.length);
        answer();
        for (const { status } of await Promise.all(first)) expect(status).to.equal(200);
        await until('the memory', () => bodyMemory.held === 0);
        expect((await post(slow.url + UPLOAD, body)).status).to.equal(200);
      } finally {
        await slow.close();
      }
    });

    it('is given back where a body is refused or does not come whole', async () => {
      const bodyMemory = new BodyMemory(MB);
      const bounded = await start({ bodyMemory });
      try {
        await post(bounded.url + UPLOAD, '{"entities": [');
        await post(bounded.url + UPLOAD, gzipSync(body).subarray(0, -4), { 'content-encoding': 'gzip' });
        await post(bounded.url + UPLOAD, gzipSync(Buffer.alloc(2 * MB, 'x')), { 'content-encoding': 'gzip' });
        const leaving = new AbortController();
        const stream = new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new Uint8Array(1000)),
        });
        const left = call(bounded.url + UPLOAD, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: stream,
          duplex: 'half',
          signal: leaving.signal,
        }).catch(() => undefined);
        await until('the memory', () => bodyMemory.held > 0);
        leaving.abort();
        await left;
        await until('the memory', () => bodyMemory.held === 0);
      } finally {
        await bounded.close();
      }
    });
  });

  describe('parts of a large body', () => {
    it('are bounded, with the place of each that is too large', async () => {
      const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`n${i}`, 1]));
      const answer = await post(app.url + UPLOAD, { entities: [wide, 1, { ...wide, more: 1 }] });
      expect([answer.status, answer.json?.code]).to.deep.equal([422, 'invalid_body']);
      expect(answer.json?.errors).to.deep.equal([
        {
          pointer: '/entities/0',
          code: 'too_many',
          detail: 'an element has at most 10000 names, lists and objects, found 10001',
        },
        {
          pointer: '/entities/2',
          code: 'too_many',
          detail: 'an element has at most 10000 names, lists and objects, found 10002',
        },
      ]);
    });

    it('may be as many as fit the body, for a ranking too', async () => {
      const candidates = Array.from({ length: 20_000 }, (_, i) => ({ product_id: `p${i}` }));
      expect((await post(app.url + RANKING, { candidates })).status).to.equal(200);
      expect(app.calls.bodies).to.deep.equal([{ candidates }]);
    });
  });

  describe('compression', () => {
    const body = { candidates: [{ product_id: 'p1' }] };
    const bytes = Buffer.from(JSON.stringify(body));
    const codings: readonly [string, Buffer][] = [
      ['gzip', gzipSync(bytes)],
      ['deflate', deflateSync(bytes)],
      ['br', brotliCompressSync(bytes)],
    ];
    for (const [coding, compressed] of codings) {
      it(`inflates ${coding}`, async () => {
        const answer = await post(app.url + RANKING, compressed, { 'content-encoding': coding });
        expect(answer.status).to.equal(200);
        expect(app.calls.bodies).to.deep.equal([body]);
      });

      it(`answers 400 to what is not ${coding}, or is cut off`, async () => {
        for (const wrong of [bytes, compressed.subarray(0, compressed.length - 4)]) {
          const answer = await post(app.url + RANKING, wrong, { 'content-encoding': coding });
          expect([answer.status, answer.json?.code]).to.deep.equal([400, 'malformed_json']);
        }
      });
    }

    it('refuses a small body that inflates beyond the limit', async () => {
      const bomb = gzipSync(Buffer.alloc(50 * MB, ' '));
      const answer = await post(app.url + UPLOAD, bomb, { 'content-encoding': 'gzip' });
      expect([answer.status, answer.json?.code]).to.deep.equal([413, 'body_too_large']);
    });

    it('refuses a body that is more than 100 times as large as it was sent', async () => {
      const text = (bytes: number): string =>
        JSON.stringify({ entities: new Array(Math.floor(bytes / 11)).fill('12345678') });
      const dense = gzipSync(text(4 * MB));
      const refused = await post(app.url + UPLOAD, dense, { 'content-encoding': 'gzip' });
      expect([refused.status, refused.json?.code]).to.deep.equal([413, 'body_too_large']);
      expect(refused.json?.detail).to.equal(
        'the body is more than 100 times as large as it was sent; send it less compressed',
      );
      expect((await post(app.url + UPLOAD, text(4 * MB))).status).to.equal(200);
      const short = gzipSync(text(200_000));
      expect((await post(app.url + UPLOAD, short, { 'content-encoding': 'gzip' })).status).to.equal(200);
    });

    it('answers 415 to a coding that it does not know', async () => {
      const answer = await post(app.url + RANKING, bytes, { 'content-encoding': 'compress' });
      expect([answer.status, answer.json?.code]).to.deep.equal([415, 'unsupported_media_type']);
    });
  });
});

/** What walking a value with the stack comes to. */
function overflow(body: unknown): Error {
  const depth = (value: unknown): number => (Array.isArray(value) ? 1 + Math.max(0, ...value.map(depth)) : 0);
  try {
    depth(body);
    const endless = (): number => 1 + endless();
    return new Error(String(endless()));
  } catch (error) {
    return error as Error;
  }
}
