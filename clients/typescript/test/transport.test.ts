import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { ConnectionFailed, Millrace, Problem, type ClientOptions } from '../src/index.js';

const BUSY = JSON.stringify({ code: 'overloaded', status: 503, title: 'Full', detail: 'full' });

interface Planned {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** A server that answers as planned, one after the other; `drop` closes the connection, `hang` never answers. */
async function answering(
  plan: readonly (Planned | 'drop' | 'hang')[],
  use: (client: (options?: ClientOptions) => Millrace, bodies: string[]) => Promise<void>,
): Promise<void> {
  const left = [...plan];
  const bodies: string[] = [];
  const answer: RequestListener = (req, res) => {
    let body = '';
    req.on('data', (data) => (body += String(data)));
    req.on('end', () => {
      bodies.push(body);
      const next = left.shift();
      if (next === undefined) throw new Error('one request too many');
      if (next === 'drop') req.socket.destroy();
      else if (next !== 'hang') res.writeHead(next.status, next.headers).end(next.body ?? BUSY);
    });
  };
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  try {
    await use((options) => new Millrace(`http://127.0.0.1:${port}/`, options), bodies);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const RANKED: Planned = { status: 200, body: '{"ranked_candidates":[]}', headers: { 'X-Request-Id': 'r' } };
const NOW = { 'Retry-After': '0' };

describe('the client sends a request again', () => {
  it('if the service is overloaded, with the same request id', () =>
    answering(
      [{ status: 503, headers: NOW }, { status: 429, headers: NOW }, RANKED],
      async (client, bodies) => {
        await client().rank('ranking', { candidates: [] });
        assert.equal(bodies.length, 3);
        assert.equal(new Set(bodies).size, 1);
        assert.match(bodies[0] ?? '', /"request_id":"[0-9a-f]{32}"/);
      },
    ));

  it('if the connection is closed without an answer', () =>
    answering(['drop', RANKED], async (client, bodies) => {
      await client().rank('ranking', { candidates: [] });
      assert.equal(bodies.length, 2);
    }));

  it('retries as often as `retries` says', () =>
    answering(
      [
        { status: 503, headers: NOW },
        { status: 503, headers: NOW },
      ],
      async (client, bodies) => {
        await assert.rejects(client({ retries: 1 }).rank('ranking', { candidates: [] }), Problem);
        assert.equal(bodies.length, 2);
      },
    ));
});

describe('the client does not send a request again', () => {
  for (const status of [400, 404, 422, 500, 502, 504])
    it(`that was answered with ${status}`, () =>
      answering([{ status }], async (client) => {
        await assert.rejects(client().getEntities('product', ['p1']), { status });
      }));

  it('if the service asks for a wait that is longer than the limit, or than the time that is left', () =>
    answering(
      [
        { status: 429, headers: { 'Retry-After': '3600' } },
        { status: 503, headers: { 'Retry-After': '20' } },
      ],
      async (client) => {
        await assert.rejects(client().healthz(), { status: 429 });
        await assert.rejects(client().healthz(), { status: 503 });
      },
    ));

  it('that ran out of time', () =>
    answering(['hang'], async (client, bodies) => {
      await assert.rejects(client().metrics({ timeout: 50 }), ConnectionFailed);
      assert.equal(bodies.length, 1);
    }));

  it('that the caller aborts, and throws the reason', () =>
    answering(['hang'], async (client) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error('the user left')), 20);
      await assert.rejects(client().metrics({ signal: abort.signal }), /the user left/);
      await assert.rejects(client().metrics({ signal: abort.signal }), /the user left/);
    }));
});

describe('the client', () => {
  it('reads the causes of a degraded answer', () =>
    answering(
      [{ ...RANKED, headers: { 'Millrace-Degraded': 'unscored=24/24, skipped=ltr' } }],
      async (client) => {
        const { degraded } = await client().rank('ranking', { candidates: [] });
        assert.deepEqual(degraded, ['unscored=24/24', 'skipped=ltr']);
      },
    ));

  it('reports what is not a problem document', () =>
    answering([{ status: 502, body: '<html>bad gateway</html>' }], async (client) => {
      await assert.rejects(client().healthz(), {
        status: 502,
        code: 'unknown',
        detail: '<html>bad gateway</html>',
      });
    }));

  it('reports why no instance is ready, in one try', () =>
    answering([{ status: 503, body: '{"status":"NOT_READY","checks":{}}' }], async (client) => {
      assert.deepEqual(await client().readyz(), { ready: false, status: 'NOT_READY', checks: {} });
    }));

  it('says that nobody listens', async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => server.close(done));
    const client = new Millrace(`http://127.0.0.1:${port}`, { retries: 0 });
    await assert.rejects(client.healthz(), (error) => {
      assert.ok(error instanceof ConnectionFailed);
      assert.match(error.message, /^GET \/healthz: fetch failed: .*ECONNREFUSED/);
      return true;
    });
  });
});
