import { once } from 'node:events';
import { Agent, createServer, request, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import { MillraceError } from '../../runtime/ground/api/errors.js';
import { listen } from '../../runtime/serve/http/listen.js';
import { ANSWER, call, REPORT, start } from './harness.js';

describe('listen', () => {
  it('says which port is taken', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      const error = await listen(() => undefined, { host: '127.0.0.1', port }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(MillraceError);
      expect((error as MillraceError).code).to.equal('invalid_setting');
      expect((error as MillraceError).message).to.contain(`port ${port} of 127.0.0.1 is in use`);
    } finally {
      taken.close();
    }
  });

  it('says that a host is not one of this machine', async () => {
    // 192.0.2.0/24 is kept for documentation (RFC 5737); no machine has it.
    const error = await listen(() => undefined, { host: '192.0.2.1', port: 0 }).catch(
      (thrown: unknown) => thrown,
    );
    expect((error as MillraceError).code).to.equal('invalid_setting');
    expect((error as MillraceError).message).to.contain('192.0.2.1');
  });

  it('answers what is in flight before it closes, also on connections kept alive', async () => {
    const gate = deferred();
    const reached = deferred();
    const server = await listen(
      (_req, res) => {
        reached.resolve();
        void gate.promise.then(() => res.end('done'));
      },
      { host: '127.0.0.1', port: 0 },
    );
    const agent = new Agent({ keepAlive: true });
    try {
      const answer = get(server.port, agent);
      await reached.promise;
      const closed = server.close(60_000);
      while (server.server.listening) await nextTurn();
      const refused = await get(server.port, new Agent()).catch((error: unknown) => error);
      expect((refused as NodeJS.ErrnoException).code).to.equal('ECONNREFUSED');
      gate.resolve();
      const response = await answer;
      expect(response.text).to.equal('done');
      expect(response.head.headers.connection).to.equal('close');
      await closed;
    } finally {
      agent.destroy();
    }
  });

  it('cuts what does not end within the drain time', async () => {
    const reached = deferred();
    const server = await listen(() => reached.resolve(), { host: '127.0.0.1', port: 0 });
    const answer = get(server.port, new Agent()).catch((error: unknown) => error);
    await reached.promise;
    await server.close(10);
    expect(((await answer) as NodeJS.ErrnoException).code).to.equal('ECONNRESET');
  });

  it('aborts the run of a client that is gone, and counts it', async () => {
    const aborted = deferred();
    const reached = deferred();
    const app = await start({
      pipelines: [
        {
          run: async (_body, { deadline }) => {
            reached.resolve();
            deadline?.whenOver(() => aborted.resolve());
            await aborted.promise;
            throw new MillraceError('deadline_exceeded', 'the client closed the connection');
          },
        },
      ],
    });
    try {
      const leaving = new AbortController();
      const url = `${app.url}/api/v1/ranking`;
      const headers = { 'content-type': 'application/json' };
      const answer = fetch(url, { method: 'POST', body: '{}', headers, signal: leaving.signal }).catch(
        () => 'left',
      );
      await reached.promise;
      leaving.abort();
      expect(await answer).to.equal('left');
      await aborted.promise;
      const { text } = await call(`${app.url}/metrics`);
      expect(text).to.contain('millrace_http_requests_total{route="/api/v1/ranking",status="499"} 1');
      expect(app.log()).not.to.match(/"level":(40|50)/);
    } finally {
      await app.close();
    }
  });

  it('is told of every request of a client that sent several at once and is gone', async () => {
    const urls: (string | undefined)[] = [];
    const closed: (string | undefined)[] = [];
    const [reached, all] = [deferred(), deferred()];
    const server = await listen(
      (req, res) => {
        if (urls.push(req.url) === 3) reached.resolve();
        res.once('close', () => {
          if (closed.push(req.url) === 3) all.resolve();
          res.end('too late for an answer');
        });
      },
      { host: '127.0.0.1', port: 0 },
    );
    try {
      const client = connect(server.port, '127.0.0.1');
      for (const path of ['a', 'b', 'c']) client.write(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await reached.promise;
      client.destroy();
      await all.promise;
      expect(closed).to.have.members(urls);
    } finally {
      await server.close(0);
    }
  });

  it('cuts the connection of a client that does not take its answer', async () => {
    const [begun, closed] = [deferred(), deferred()];
    const server = await listen(
      (_req, res) => {
        res.once('close', () => closed.resolve());
        res.end(Buffer.alloc(64 * 1024 * 1024), () => undefined);
        begun.resolve();
      },
      { host: '127.0.0.1', port: 0 },
      { stallMs: 100 },
    );
    const client = connect(server.port, '127.0.0.1');
    client.on('error', () => undefined);
    try {
      client.pause();
      client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await begun.promise;
      await closed.promise;
    } finally {
      client.destroy();
      await server.close(0);
    }
  });

  it('does not abort the run of a client that is answered', async () => {
    let signal: AbortSignal | undefined;
    const app = await start({
      pipelines: [
        {
          run: (_body, context) => {
            signal = context.deadline?.signal;
            return Promise.resolve({ answer: ANSWER, report: REPORT });
          },
        },
      ],
    });
    const headers = { 'content-type': 'application/json' };
    await call(`${app.url}/api/v1/ranking`, { method: 'POST', body: '{}', headers });
    await app.close();
    expect(signal?.aborted).to.equal(false);
  });
});

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

async function get(port: number, agent: Agent): Promise<{ text: string; head: IncomingMessage }> {
  const sent = request({ port, host: '127.0.0.1', agent }).end();
  const [head] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of head) text += String(chunk);
  return { text, head };
}
