import { randomUUID } from 'node:crypto';
import { createServer as createHttpServer, STATUS_CODES } from 'node:http';
import { createServer as createNetServer } from 'node:net';
import { serveForBench } from './serve.js';

/** An answer of the service, split where its request id stands. */
export interface Refusal {
  readonly status: number;
  /** Names and values, in order, without those that node:http adds. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: readonly [start: string, end: string];
}

/**
 * The floors of a refusal: what a user would write by hand to answer each request with the bytes of the service. Neither
 * decides anything. The raw server assumes that each chunk is one request.
 */
const kind = process.argv[2];
const { status, headers, body } = JSON.parse(process.argv[3] ?? '') as Refusal;
const [start, end] = body;

const withNodeHttp = createHttpServer((req, res) => {
  const given = req.headers['x-request-id'];
  const id = typeof given === 'string' ? given : randomUUID();
  req.resume();
  res.writeHead(
    status,
    headers.flatMap(([name, value]) => [name, name === 'X-Request-Id' ? id : value]),
  );
  res.end(start + id + end);
});

const withSockets = createNetServer({ noDelay: true }, (socket) => {
  socket.on('error', () => undefined);
  socket.on('data', () => {
    const id = randomUUID();
    const lines = headers.map(([name, value]) => `${name}: ${name === 'X-Request-Id' ? id : value}\r\n`);
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}Date: ${new Date().toUTCString()}\r\n` +
        `Connection: keep-alive\r\nKeep-Alive: timeout=65\r\n\r\n${start}${id}${end}`,
      'latin1',
    );
  });
});

serveForBench(kind === 'sockets' ? withSockets : withNodeHttp);
