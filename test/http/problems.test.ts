import { expect } from 'chai';
import { pino } from 'pino';
import { ERROR_CODES, type ErrorCode } from '../../runtime/ground/api/error-codes.js';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { createHttpApp } from '../../runtime/serve/http/app.js';
import { listen } from '../../runtime/serve/http/listen.js';
import type { GetRoute } from '../../runtime/serve/http/route.js';
import { fakeServices, post, start, type Answer, type Running } from './harness.js';

const RANKING = '/api/v1/ranking';

describe('problem documents', () => {
  let app: Running;
  let error: Error;
  beforeEach(async () => {
    app = await start({
      pipelines: [{ run: () => Promise.reject(error) }],
    });
  });
  afterEach(() => app.close());

  const failWith = (thrown: unknown): Promise<Answer> => {
    error = thrown as Error; // or anything else: it has to be survived
    return post(app.url + RANKING, { candidates: [] });
  };

  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    it(`answers ${code} with its status and title`, async () => {
      const answer = await failWith(new MillraceError(code, 'what happened'));
      const { status, title } = ERROR_CODES[code];
      expect(answer.status).to.equal(status);
      expect(answer.headers.get('content-type')).to.equal('application/problem+json');
      expect(answer.json).to.deep.equal({
        type: `urn:millrace:problem:${code}`,
        title,
        status,
        detail: code === 'internal' ? 'something unexpected happened; it is logged' : 'what happened',
        code,
        request_id: answer.headers.get('x-request-id'),
      });
      expect(answer.headers.get('retry-after')).to.equal(status === 503 ? '1' : null);
    });
  }

  it('tells nothing of what it did not expect, and logs it under the request id', async () => {
    const thrown = new TypeError('cannot read secret-column', { cause: new Error('deeper-cause') });
    const answer = await failWith(thrown);
    expect([answer.status, answer.json?.code]).to.deep.equal([500, 'internal']);
    expect(answer.text).not.to.match(/secret-column|deeper-cause|\.js|at /);
    const line = app
      .log()
      .split('\n')
      .find((logged) => logged.includes('secret-column'));
    expect(line).to.contain(answer.headers.get('x-request-id'));
    expect(line).to.contain('deeper-cause');
  });

  for (const thrown of ['a text', undefined, null, 0, Object.create(null) as unknown]) {
    it(`survives ${typeof thrown} being thrown`, async () => {
      expect((await failWith(thrown)).json?.code).to.equal('internal');
    });
  }

  it('tells no cause of a failed component', async () => {
    const cause = new Error('connect ECONNREFUSED 10.1.2.3');
    const answer = await failWith(new MillraceError('component_failed', 'step 2 (linear) failed', { cause }));
    expect(answer.json?.detail).to.equal('step 2 (linear) failed');
    expect(answer.text).not.to.contain('10.1.2.3');
    expect(app.log()).to.contain('10.1.2.3');
  });

  it('logs no member that hangs on an error', async () => {
    const cause = Object.assign(new Error('ERR wrong type'), { command: { args: ['customer-data'] } });
    await failWith(new MillraceError('store_unavailable', 'Redis does not answer', { cause }));
    expect(app.log()).to.contain('ERR wrong type');
    expect(app.log()).not.to.contain('customer-data').and.not.to.contain('"stack"');
  });

  it('does not log what the client did wrong as an error', async () => {
    await failWith(new MillraceError('invalid_body', 'candidates is missing'));
    expect(app.log()).not.to.match(/"level":(40|50)/);
  });

  it('lists violations, a bounded number of bounded length', async () => {
    const violations = Array.from({ length: 60 }, (_, i) => ({
      pointer: `/candidates/${i}/${'x'.repeat(10_000)}`,
      code: 'wrong_type',
      detail: 'y'.repeat(10_000),
    }));
    const answer = await failWith(new MillraceError('invalid_body', 'many', { violations }));
    const errors = answer.json?.errors as { pointer: string; code: string; detail: string }[];
    expect(errors).to.have.length(50);
    expect(errors[7]).to.include({ code: 'wrong_type' });
    expect(errors[7]?.pointer).to.match(/^\/candidates\/7\/x+…$/);
    expect(answer.json?.violation_count).to.equal(60);
    expect(answer.text.length).to.be.below(60_000);
  });

  it('carries extensions, which cannot stand in for the members of the document', async () => {
    const extensions = { stored_ids: ['p1'], status: 200, code: 'fine', request_id: 'other' };
    const answer = await failWith(new MillraceError('store_partial_write', 'midway', { extensions }));
    expect(answer.json).to.include({ status: 503, code: 'store_partial_write' });
    expect(answer.json?.stored_ids).to.deep.equal(['p1']);
    expect(answer.json?.request_id).to.equal(answer.headers.get('x-request-id'));
  });

  it('cuts an answer short that fails once it has begun, and prints nothing', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line: string) => lines.push(line) });
    const late: GetRoute = {
      path: '/late',
      scope: 'none',
      method: 'GET',
      class: 'explain',
      handler:
        () =>
        ({ res }) => {
          res.write('half');
          throw new Error('too late');
        },
    };
    const services = fakeServices({ bodies: [], contexts: [] }, logger);
    const server = await listen(createHttpApp(services, undefined, [late]), { host: '127.0.0.1', port: 0 });
    const printed: unknown[] = [];
    const print = console.error;
    console.error = (...parts: unknown[]) => printed.push(parts);
    try {
      const cut: unknown = await fetch(`http://127.0.0.1:${server.port}/late`)
        .then((answer) => answer.text())
        .catch((error: unknown) => error);
      expect(cut).to.be.instanceOf(Error);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(printed).to.deep.equal([]);
      expect(lines.map((line) => JSON.parse(line) as unknown)).to.have.length(1);
      expect(lines[0]).to.include('too late');
    } finally {
      console.error = print;
      await server.close(0);
    }
  });

  it('answers 500 to an answer that cannot be written', async () => {
    const endless: Record<string, unknown> = {};
    endless.self = endless;
    const broken = await start({
      entities: { upload: () => Promise.resolve(endless), update: never, get: never, remove: never },
    });
    try {
      const answer = await post(`${broken.url}/api/v1/entities/upload`, {});
      expect([answer.status, answer.json?.code]).to.deep.equal([500, 'internal']);
    } finally {
      await broken.close();
    }
  });
});

function never(): Promise<unknown> {
  return Promise.reject(new Error('not called'));
}
