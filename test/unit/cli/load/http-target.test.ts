import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { MillraceError } from '../../../../runtime/ground/api/errors.js';
import { CommandFailure } from '../../../../runtime/project/config/diagnostics/failure.js';
import type { InputRow } from '../../../../runtime/project/rows/rows.js';
import { HttpTarget } from '../../../../runtime/cli/load/http-target.js';

interface Answer {
  readonly status?: number;
  readonly body: string;
  readonly location?: string;
}

/** Returns a port that was free a moment ago. */
async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('calling a running service', () => {
  let server: Server;
  let target: HttpTarget;
  let seen: { readonly url: string; readonly body: string }[] = [];
  let authorizations: (string | undefined)[] = [];
  let answer: (url: string) => Answer;

  before((done) => {
    server = createServer((request, response) => {
      void text(request).then((body) => {
        const url = request.url ?? '';
        seen.push({ url, body });
        authorizations.push(request.headers.authorization);
        const given = answer(url);
        if (given.location !== undefined) response.setHeader('location', given.location);
        response.writeHead(given.status ?? 200, { 'content-type': 'application/json' }).end(given.body);
      });
    });
    server.listen(0, '127.0.0.1', () => {
      target = new HttpTarget(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      done();
    });
  });
  after(async () => {
    await target.close();
  });
  after((done) => {
    server.closeAllConnections();
    server.close(done);
  });
  beforeEach(() => {
    seen = [];
    authorizations = [];
    answer = () => ({ body: '{}' });
  });

  async function problem(calling: Promise<unknown>): Promise<Error> {
    try {
      await calling;
    } catch (error) {
      return error as Error;
    }
    throw new Error('expected an error');
  }

  it('sends a line of the file unchanged, so that no digit is lost', async () => {
    const json = '{"product_id":"p1","n":1e400,"big":12345678901234567890}';
    const rows = [{ line: 1, value: JSON.parse(json) as Record<string, never>, json, bytes: 1 }];
    await target.upload('product', 'id', rows);
    expect(seen).to.deep.equal([
      {
        url: '/api/v1/entities/upload',
        body: `{"entity_type":"product","entity_key":"id","entities":[${json}]}`,
      },
    ]);
  });

  it('sends updates, and takes the ids that the service does not have', async () => {
    answer = () => ({ body: '{"entity_ids":["p1"],"updated":1,"created":0,"unknown_ids":["p2"]}' });
    const rows = [{ line: 1, value: { product_id: 'p1' }, bytes: 1 }];
    const expected = { entity_ids: ['p1'], unknown_ids: ['p2'] };
    expect(await target.update('product', undefined, rows, true)).to.deep.equal(expected);
    await target.update('product', 'id', rows, false);
    expect(seen).to.deep.equal([
      {
        url: '/api/v1/entities/update',
        body: '{"entity_type":"product","create":true,"entities":[{"product_id":"p1"}]}',
      },
      {
        url: '/api/v1/entities/update',
        body: '{"entity_type":"product","entity_key":"id","entities":[{"product_id":"p1"}]}',
      },
    ]);
  });

  it('sends rows without JSON text', async () => {
    answer = () => ({ body: '{"view":"v","stored":1,"older":3}' });
    const outcome = await target.push('v', [{ line: 1, value: { a: 1 }, bytes: 1 }]);
    expect(JSON.parse(seen[0]?.body ?? '')).to.deep.equal({ view: 'v', rows: [{ a: 1 }] });
    expect(outcome.older).to.equal(3);
  });

  it('keeps only the text of a row, or the value of a row that has no text', async () => {
    const keep = (row: InputRow): InputRow => target.batches.keep(row);
    const text = keep({ line: 7, value: { a: 1 }, json: '{"a":1.0}', bytes: 9 });
    expect(Object.keys(text)).to.have.members(['line', 'json', 'bytes']);
    expect(text).to.include({ line: 7, bytes: 9 });
    expect(text.value).to.deep.equal({ a: 1 });
    answer = () => ({ body: '{"view":"v","stored":2,"older":0}' });
    await target.push('v', [text, keep({ line: 8, value: { é: '日本' }, bytes: 9 })]);
    expect(seen[0]?.body).to.equal('{"view":"v","rows":[{"a":1.0},{"é":"日本"}]}');
  });

  it('follows a redirect with the body, e.g. to https', async () => {
    answer = (url) =>
      url.startsWith('/new/')
        ? { body: '{"view":"v","stored":1,"older":2}' }
        : { status: 308, body: '', location: `/new${url}` };
    const { older } = await target.push('v', [{ line: 1, value: { a: 1 }, bytes: 1 }]);
    expect(older).to.equal(2);
    expect(seen.map(({ body }) => body)).to.deep.equal(Array(2).fill('{"view":"v","rows":[{"a":1}]}'));
  });

  it('sends its key with each request, but not to another address of a redirect', async () => {
    const { port } = server.address() as AddressInfo;
    const withKey = new HttpTarget(`http://127.0.0.1:${port}`, 'the-key');
    try {
      answer = (url) =>
        url.startsWith('/new/')
          ? { body: '{"view":"v","stored":1}' }
          : { status: 308, body: '', location: `http://localhost:${port}/new${url}` };
      const rows = [{ line: 1, value: { a: 1 }, bytes: 1 }];
      await withKey.push('v', rows);
      expect(authorizations).to.deep.equal(['Bearer the-key', undefined]);
      authorizations = [];
      await target.push('v', rows);
      expect(authorizations).to.deep.equal([undefined, undefined]);
    } finally {
      await withKey.close();
    }
  });

  it('converts a problem document to an error with its violations', async () => {
    const errors = [{ pointer: '/entities/3/price', code: 'wrong_type', detail: 'expected float' }];
    answer = () => ({
      status: 422,
      body: JSON.stringify({ code: 'invalid_body', detail: 'one is wrong', errors }),
    });
    const error = await problem(target.upload('product', undefined, []));
    if (!(error instanceof MillraceError)) throw error;
    expect(error).to.include({ code: 'invalid_body', message: 'one is wrong' });
    expect(error.violations).to.deep.equal(errors);
  });

  it('reports that another kind of server answers', async () => {
    answer = () => ({ status: 200, body: '<html>' });
    expect(await problem(target.push('v', []))).to.be.instanceOf(CommandFailure);
    answer = () => ({ status: 500, body: '{"code":"toString"}' });
    expect(await problem(target.push('v', []))).to.be.instanceOf(CommandFailure);
  });

  it('reports that no server answers, and its address', async () => {
    const nobody = await unusedPort();
    const error = await problem(new HttpTarget(`http://127.0.0.1:${nobody}`).push('v', []));
    expect(error).to.be.instanceOf(CommandFailure);
    expect(error.message).to.contain(`http://127.0.0.1:${nobody}`).and.to.contain('ECONNREFUSED');
  });

  it('ends with a remedy if the service says that a rebuild was interrupted, also after it was running', async () => {
    const states = ['running', 'running', 'failed'];
    answer = () => ({
      body: JSON.stringify({
        ...{ counter: 'live', state: states.shift(), generation: 3 },
        detail: states.length > 0 ? null : 'it was interrupted',
      }),
    });
    const failure = await target.rebuildCounter('live').catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(CommandFailure);
    expect((failure as CommandFailure).message).to.match(
      /could not rebuild the counter live: it was interrupted$/,
    );
    expect((failure as CommandFailure).help).to.match(/run the command again with --resume/);
    expect(seen.map(({ body }) => JSON.parse(body) as unknown)).to.deep.equal([
      { counter: 'live' },
      { counter: 'live', after: 3 },
      { counter: 'live', after: 3 },
    ]);
  });
});
