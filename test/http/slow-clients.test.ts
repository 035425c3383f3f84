import { expect } from 'chai';
import { listen, type HttpServer, type ListenOptions } from '../../runtime/serve/http/listen.js';
import { rawClient } from '../support/raw-client.js';
import { call, post, start, type Running } from './harness.js';

const HEAD = 'POST /api/v1/ranking HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const RECEIVE_MS = 1000;
const STALL_MS = 2000;
/** How late a loaded machine may be. */
const SLACK_MS = 1500;

describe('slow clients', () => {
  let server: HttpServer;
  afterEach(() => server.close(0));

  const serve = async (options: ListenOptions, answerBytes = 2): Promise<void> => {
    const address = { host: '127.0.0.1', port: 0 };
    server = await listen(
      (req, res) => void req.resume().once('end', () => res.end(Buffer.alloc(answerBytes))),
      address,
      options,
    );
  };

  const slow: readonly [string, string, string][] = [
    ['a head', 'GET / HTTP/1.1\r\nHost: x\r\n', 'X-Slow: 1\r\n'],
    ['a body', `${HEAD}Content-Length: 1000\r\n\r\n`, ' '],
  ];
  for (const [what, first, trickle] of slow) {
    it(`get 408 after MILLRACE_RECEIVE_MS if ${what} did not arrive in time`, async () => {
      await serve({ receiveMs: RECEIVE_MS });
      const client = rawClient(server.port);
      client.socket.write(first);
      const timer = setInterval(() => client.socket.write(trickle), 100);
      const took = await client.closed;
      clearInterval(timer);
      expect(client.text()).to.match(/^HTTP\/1\.1 408 /);
      // The connection is closed at most a second after the answer.
      expect(took).to.be.within(RECEIVE_MS - 50, RECEIVE_MS + 1000 + SLACK_MS);
    });
  }

  it('that send nothing are closed without an answer, after the time of idle connections', async () => {
    await serve({ receiveMs: 200, stallMs: 1000, keepAliveMs: RECEIVE_MS });
    const client = rawClient(server.port);
    expect(await client.closed).to.be.within(RECEIVE_MS - 50, RECEIVE_MS + SLACK_MS);
    expect(client.text()).to.equal('');
  });

  it('may send their first request late', async () => {
    await serve({ receiveMs: 200, stallMs: 1000 });
    const client = rawClient(server.port);
    await pause(1500);
    client.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    expect(await client.until(/\r\n\r\n/)).to.match(/^HTTP\/1\.1 200 /);
    client.socket.destroy();
  });

  it('get 408 if their first head comes late, and slowly', async () => {
    await serve({ receiveMs: 500, stallMs: 1000 });
    const client = rawClient(server.port);
    await pause(1200);
    client.socket.write('GET / HTTP/1.1\r\n');
    await client.closed;
    expect(client.text()).to.match(/^HTTP\/1\.1 408 /);
  });

  it('that read nothing are cut after MILLRACE_STALL_MS', async () => {
    await serve({ stallMs: STALL_MS }, 64 * 1024 * 1024);
    const sockets: number[] = [];
    server.server.on('connection', (socket) => {
      const began = performance.now();
      socket.once('close', () => sockets.push(performance.now() - began));
    });
    const client = rawClient(server.port);
    client.socket.pause();
    client.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    while (sockets.length === 0) await pause(20);
    expect(sockets[0]).to.be.within(0.8 * STALL_MS, STALL_MS + SLACK_MS);
    client.socket.destroy();
  });

  it('that read slowly are not cut', async () => {
    await serve({ stallMs: 1000 }, 8 * 1024 * 1024);
    const client = rawClient(server.port);
    client.socket.write(`${HEAD}Content-Length: 2\r\n\r\n{}`);
    for (let i = 0; i < 15; i++) {
      client.socket.pause();
      await pause(150);
      client.socket.resume();
      await pause(5);
    }
    while (client.text().length < 8 * 1024 * 1024 && !client.socket.destroyed) await pause(10);
    expect(client.text().length).to.be.above(8 * 1024 * 1024);
    client.socket.destroy();
  });

  it('that wait long for their answer are not cut', async () => {
    const address = { host: '127.0.0.1', port: 0 };
    server = await listen((_req, res) => void setTimeout(() => res.end('late'), 600), address, {
      stallMs: 200,
    });
    const client = rawClient(server.port);
    client.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await client.until(/late$/)).to.contain('late');
    client.socket.destroy();
  });
});

describe('many connections', () => {
  let app: Running;
  afterEach(() => app.close());

  it('leave room for health checks: the longest idle one is closed', async () => {
    app = await start({}, { maxConnections: 5 });
    const idle = Array.from({ length: 20 }, () => rawClient(app.port));
    for (const client of idle) await client.until(/^/);
    for (let i = 0; i < 10; i++) expect((await call(`${app.url}/readyz`)).status).to.equal(200);
    await idle[0]?.closed;
    for (const client of idle) client.socket.destroy();
  });

  it('of one address are limited apart', async () => {
    app = await start({}, { maxConnectionsPerAddress: 2 });
    const [first, second, third] = [rawClient(app.port), rawClient(app.port), rawClient(app.port)];
    await first.closed;
    expect(second.socket.destroyed).to.equal(false);
    third.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await third.until(/\}$/)).to.match(/^HTTP\/1\.1 200 /);
    for (const client of [second, third]) client.socket.destroy();
  });

  it('that are all busy leave a few for health checks, and others are refused there', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    let begun = 0;
    const upload = async (): Promise<unknown> => {
      begun++;
      await gate;
      return {};
    };
    app = await start(
      { entities: { upload, update: upload, get: upload, remove: upload } },
      { maxConnections: 2 },
    );
    const path = '/api/v1/entities/upload';
    const busy = [0, 1].map(() => {
      const client = rawClient(app.port);
      client.socket.write(`${HEAD.replace('/api/v1/ranking', path)}Content-Length: 2\r\n\r\n{}`);
      return client;
    });
    while (begun < 2) await pause(5);
    expect((await call(`${app.url}/readyz`)).status).to.equal(200);
    const refused = await post(`${app.url}/api/v1/ranking`, {});
    expect([refused.status, refused.json?.code]).to.deep.equal([503, 'overloaded']);
    expect(refused.headers.get('connection')).to.equal('close');
    release();
    for (const client of busy) expect(await client.until(/\}$/)).to.match(/^HTTP\/1\.1 200 /);
    for (const client of busy) client.socket.destroy();
  });
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
