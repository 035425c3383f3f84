import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { MillraceError } from '../api/errors.js';
import {
  Connections,
  DEFAULT_CONNECTIONS,
  type ConnectionClosing,
  type ConnectionLimits,
} from './connections.js';
import { serveConnections, type ConnectionSource } from './connection-source.js';
import { ConnectionDrain } from './drain.js';
import { answerProtocolErrors, endThrough } from './protocol-errors.js';
import { faultOfHead, useOriginForm } from './request-target.js';

export interface Address {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
}

export interface HttpServer {
  readonly server: Server;
  /** The port that the server listens on. */
  readonly port: number;
  readonly connections: Connections;
  /**
   * Stops accepting connections, answers the requests in flight, and resolves when all connections are closed.
   * @param drainMs requests that take longer are cut off
   * @param idleMs see `DrainOptions`; by default quiet connections are closed at once
   */
  close(drainMs?: number, idleMs?: number): Promise<void>;
}

export interface ListenOptions extends Partial<ConnectionLimits> {
  /** Called with the status of each request that is refused before it reaches the app. */
  readonly refused?: (status: number) => void;
  /** Called for each accepted connection. */
  readonly accepted?: () => void;
  /** Called for each connection that is closed because of the limits. */
  readonly closed?: (why: ConnectionClosing) => void;
  /** The time limit for receiving a whole request, in milliseconds. */
  readonly receiveMs?: number;
  /** The source of connections if another process listens. This server then does not listen. */
  readonly source?: ConnectionSource;
}

/** Load balancers usually keep idle connections for 60 s. This time is longer, so that they close first. */
const KEEP_ALIVE_MS = 65_000;
const RECEIVE_MS = 10_000;
/** The longest interval between Node's checks for requests that take too long. */
const CHECK_MS = 500;
const DRAIN_MS = 10_000;

/**
 * Starts to listen.
 * @throws MillraceError invalid_setting if it cannot listen on the address
 */
export async function listen(
  app: RequestListener,
  { host, port }: Address,
  {
    refused = () => undefined,
    accepted,
    closed,
    receiveMs = RECEIVE_MS,
    source,
    ...limits
  }: ListenOptions = {},
): Promise<HttpServer> {
  const times = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    headersTimeout: receiveMs,
    requestTimeout: receiveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(receiveMs / 10)),
  };
  const server = createServer({ ...times, requireHostHeader: false }, (req, res) => {
    if (draining.isTooLate(req)) return;
    useOriginForm(req);
    const fault = faultOfHead(req);
    if (fault === undefined) {
      app(req, res);
      return;
    }
    refused(fault.status);
    endThrough(res, fault);
  });
  const connections = new Connections({ ...DEFAULT_CONNECTIONS, ...limits }, closed);
  connections.watch(server);
  if (accepted !== undefined) server.on('connection', () => accepted());
  // An unknown expectation is no reason to refuse a request (RFC 9110, 10.1.1). The app itself answers 100-continue.
  for (const event of ['checkExpectation', 'checkContinue'])
    server.on(event, (req, res) => server.emit('request', req, res));
  const draining = new ConnectionDrain(server);
  answerProtocolErrors(server, refused);
  if (source === undefined) await bind(server, { host, port });
  else serveConnections(server, source);
  let closing: Promise<void> | undefined;
  return {
    server,
    port: source?.port ?? portOf(server),
    connections,
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

/** Returns the port that a server listens on. */
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
