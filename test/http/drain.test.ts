import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { stopAccepting } from '../../runtime/serve/http/drain.js';
import { listen, portOf, type HttpServer } from '../../runtime/serve/http/listen.js';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const OPEN = 'Connection: keep-alive';
const CLOSE = 'Connection: close';

/** A client on the bytes of a socket. */
class Client {
  readonly socket: Socket;
  text = '';
  error: string | undefined;

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.on('data', (chunk) => (this.text += chunk.toString()));
    this.socket.on('error', ({ code }: NodeJS.ErrnoException) => (this.error = code));
  }

  async until(holds: (text: string) => boolean): Promise<void> {
    while (!holds(this.text)) await pause(2);
  }

  async ask(): Promise<void> {
    const before = this.text.length;
    this.socket.write(REQUEST);
    await this.until((text) => text.length > before);
  }

  get answers(): number {
    return this.text.split('HTTP/1.1 200').length - 1;
  }
}

describe('draining connections', () => {
  let server: HttpServer;
  const serve = async (app: RequestListener = (_req, res) => res.end('done')): Promise<number> => {
    server = await listen(app, { host: '127.0.0.1', port: 0 });
    return server.port;
  };
  afterEach(() => server.close(0));

  it('answers the next request of an open connection, and closes it after that', async () => {
    const client = new Client(await serve());
    await client.ask();
    expect(client.text).to.include(OPEN);
    const closed = server.close(60_000, 60_000);
    await pause(120);
    await client.ask();
    await closed;
    expect(client.text).to.include(CLOSE);
    expect(client.answers).to.equal(2);
    expect(client.error).to.equal(undefined);
  });

  it('ends a quiet connection with FIN, and waits for the client to close it', async () => {
    const client = new Client(await serve());
    await client.ask();
    const ended = once(client.socket, 'end');
    const started = performance.now();
    await server.close(60_000, 150);
    await ended;
    expect(performance.now() - started).to.be.greaterThan(100);
    expect(client.error).to.equal(undefined);
  });

  it('answers every request that a client sent at once, and closes after the last', async () => {
    const waiting: (() => void)[] = [];
    const client = new Client(
      await serve((_req, res) => {
        waiting.push(() => res.end('done'));
      }),
    );
    await once(client.socket, 'connect');
    client.socket.write(REQUEST);
    while (waiting.length < 1) await pause(2);
    const closed = server.close(60_000, 60_000);
    await pause(50);
    client.socket.write(REQUEST + REQUEST);
    while (waiting.length < 3) await pause(2);
    for (const answer of waiting) answer();
    await closed;
    expect(client.answers).to.equal(3);
    expect(client.text.match(/connection: [\w-]+/gi)).to.deep.equal([OPEN, OPEN, CLOSE]);
  });

  it('accepts and answers the connections that wait in the backlog', async () => {
    const port = await serve();
    const clients = Array.from({ length: 60 }, () => new Client(port));
    for (const { socket } of clients) socket.write(REQUEST);
    await Promise.all(clients.map(({ socket }) => once(socket, 'connect')));
    await server.close(60_000, 200);
    expect(clients.filter(({ error }) => error !== undefined)).to.have.length(0);
    expect(clients.map(({ answers }) => answers)).to.deep.equal(clients.map(() => 1));
  });

  it('resets no client that opens the next connection as soon as it is answered', async () => {
    const port = await serve((_req, res) => {
      const until = performance.now() + 1; // so that connections always wait
      while (performance.now() < until);
      res.setHeader('Connection', 'close').end('done');
    });
    const ends = Array.from({ length: 20 }, async () => {
      for (;;) {
        const client = new Client(port);
        client.socket.write(REQUEST);
        await once(client.socket, 'close').catch(() => undefined);
        if (client.error !== undefined || client.answers !== 1) return client.error ?? 'no answer';
      }
    });
    await pause(100);
    await server.close(60_000, 200);
    expect(new Set(await Promise.all(ends))).to.deep.equal(new Set(['ECONNREFUSED']));
  });

  it('refuses new connections meanwhile', async () => {
    const port = await serve();
    const open = new Client(port);
    await open.ask();
    const closed = server.close(60_000, 60_000);
    await pause(100);
    const late = new Client(port);
    while (late.error === undefined) await pause(2);
    expect(late.error).to.equal('ECONNREFUSED');
    await open.ask();
    await closed;
  });

  it('does not run a request that comes after FIN', async () => {
    const urls: string[] = [];
    const port = await serve((req, res) => {
      urls.push(req.url ?? '');
      res.end('done');
    });
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.resume();
    const ended = once(socket, 'end');
    await once(socket, 'connect');
    const closed = server.close(60_000, 0);
    await ended;
    socket.write(REQUEST);
    await pause(50);
    socket.end();
    await closed;
    expect(urls).to.deep.equal([]);
  });
});

describe('the end of accepting', () => {
  it('waits for clients that connect again after an answer of another process', async () => {
    const server = createServer((socket) => socket.end('served'));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const port = portOf(server);
    const stopped = stopAccepting(server, 500);
    // By now, an acceptor without this wait has seen many turns without a connection.
    await pause(50);
    const client = new Client(port);
    await stopped;
    await client.until((text) => text === 'served' || client.error !== undefined);
    expect(client.error).to.equal(undefined);
    expect(server.listening).to.equal(false);
  });
});
