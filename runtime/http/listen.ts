import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { MillraceError } from '../api/errors.js';
import { serveConnections, type ConnectionSource } from './connection-source.js';
import { ConnectionDrain } from './drain.js';
import { answerProtocolErrors, endThrough, faultOfHead } from './protocol-errors.js';

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

export interface HttpServer {
  readonly server: Server;
  /** The port that it listens on. */
  readonly port: number;
  /**
   * Accepts no more connections, answers the requests in flight and resolves when all connections are closed.
   * @param drainMs requests that take longer are cut
   * @param idleMs see `DrainOptions`; by default quiet connections are closed at once
   */
  close(drainMs?: number, idleMs?: number): Promise<void>;
}

export interface ListenOptions {
  /** Told the status of each request that is refused before it reaches the app. */
  readonly refused?: (status: number) => void;
  /** A client may take this long to send a request whole, milliseconds. */
  readonly requestMs?: number;
  /** A connection on which nothing moves for so long, not even an answer that its client does not take, is cut. */
  readonly stalledMs?: number;
  /** Where connections come from if another process listens; then nothing listens here. */
  readonly source?: ConnectionSource;
}

/** Longer than load balancers keep idle connections (60 s is usual), so that it is they who close them. */
const KEEP_ALIVE_MS = 65_000;
const REQUEST_MS = 60_000;
/** Longer than a request may take to arrive, so that one that does not is told. */
const STALLED_MS = 120_000;
/** How often connections are looked over for requests that take too long. */
const CHECK_MS = 30_000;
const DRAIN_MS = 10_000;

/**
 * Starts to listen.
 * @throws MillraceError invalid_setting if the address cannot be had
 */
export async function listen(
  app: RequestListener,
  { host, port }: Address,
  { refused = () => undefined, requestMs = REQUEST_MS, stalledMs = STALLED_MS, source }: ListenOptions = {},
): Promise<HttpServer> {
  const times = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, requestMs),
  };
  const server = createServer({ ...times, requireHostHeader: false }, (req, res) => {
    if (draining.isTooLate(req)) return;
    const fault = faultOfHead(req);
    if (fault === undefined) {
      app(req, res);
      return;
    }
    refused(fault.status);
    endThrough(res, fault);
  });
  server.setTimeout(stalledMs);
  // An expectation that means nothing here is no reason to refuse (RFC 9110, 10.1.1); 100-continue is met by node.
  server.on('checkExpectation', (req, res) => server.emit('request', req, res));
  const draining = new ConnectionDrain(server);
  answerProtocolErrors(server, refused);
  if (source === undefined) await bind(server, { host, port });
  else serveConnections(server, source);
  let closing: Promise<void> | undefined;
  return {
    server,
    port: source?.port ?? portOf(server),
    close: (drainMs = DRAIN_MS, idleMs = 0) => (closing ??= draining.drain({ drainMs, idleMs })),
  };
}

/**
 * Makes a server listen.
 * @throws MillraceError invalid_setting if it cannot listen on the address
 */
export async function bind(server: NetServer, { host, port }: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, resolve);
  });
}

/** The port that a server listens on. */
export function portOf(server: NetServer): number {
  return (server.address() as AddressInfo).port;
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): MillraceError {
  const where = `port ${port} of ${host}`;
  const cause = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new MillraceError(
        'invalid_setting',
        `${where} is in use by another process; stop that one, or choose another port with PORT or --port`,
        cause,
      );
    case 'EACCES':
      return new MillraceError(
        'invalid_setting',
        `this user may not listen on ${where}; ports below 1024 often need more rights; choose another with PORT or --port`,
        cause,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new MillraceError(
        'invalid_setting',
        `${host} is no address of this machine; expected one of its own, such as 127.0.0.1 or 0.0.0.0, in HOST or --host`,
        cause,
      );
    default:
      return new MillraceError('invalid_setting', `cannot listen on ${where}: ${error.message}`, cause);
  }
}
