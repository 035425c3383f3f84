import type { ConnectionClosing } from '../metrics/connection-metrics.js';
import {
  createServer,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { performance } from 'node:perf_hooks';
import { MillraceError } from '../../ground/api/errors.js';
import type { Admission } from './admission/admission.js';
import { Connections, DEFAULT_CONNECTIONS, type ConnectionLimits } from './connections.js';
import { serveConnections, type ConnectionSource } from './connection-source.js';
import { ConnectionDrain } from './drain.js';
import { answerProtocolErrors, endThrough } from './protocol-errors.js';
import { faultOfHead, useOriginForm } from './request-target.js';
import type { TlsFiles } from './tls-files.js';

export interface Address {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  /** The settings that the address comes from, for messages. */
  readonly settings?: { readonly host: string; readonly port: string };
}

const CLIENT_SETTINGS = { host: 'HOST or --host', port: 'PORT or --port' };
/** The settings of the listener for operators. */
export const ADMIN_SETTINGS = { host: 'MILLRACE_ADMIN_HOST', port: 'MILLRACE_ADMIN_PORT' };

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
  /** Counts new connections, and decides whether they are dropped. */
  readonly admission?: Pick<Admission, 'connectionAccepted' | 'connectionDropped' | 'isStorm'>;
  /** Whether no new connection is dropped. */
  readonly acceptsAll?: boolean;
  /** Called for each connection that is closed because of the limits. */
  readonly closed?: (why: ConnectionClosing) => void;
  /** The time limit for receiving a whole request, in milliseconds. */
  readonly receiveMs?: number;
  /** The certificate and the key; without them the server speaks plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** The source of connections if another process listens. This server then does not listen. */
  readonly source?: ConnectionSource;
}

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
  address: Address,
  {
    refused = () => undefined,
    admission,
    acceptsAll = false,
    closed,
    receiveMs = RECEIVE_MS,
    tls,
    source,
    ...given
  }: ListenOptions = {},
): Promise<HttpServer> {
  const limits = { ...DEFAULT_CONNECTIONS, ...given };
  const times = {
    keepAliveTimeout: limits.keepAliveMs,
    headersTimeout: receiveMs,
    requestTimeout: receiveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(receiveMs / 10)),
  };
  const handle: RequestListener = (req, res) => {
    if (draining.isTooLate(req)) return;
    useOriginForm(req);
    const fault = faultOfHead(req);
    if (fault === undefined) {
      app(req, res);
      return;
    }
    refused(fault.status);
    endThrough(res, fault);
  };
  const server = create({ ...times, requireHostHeader: false }, tls, (req, res) => {
    for (const watcher of watchers) watcher.began(req, res);
    handle(req, res);
    // Most refusals are sent by now. A listener for each would cost more than the rest of the refusal.
    if (isSent(res)) for (const watcher of watchers) watcher.ended(req, res);
    else
      res.once('close', () => {
        for (const watcher of watchers) watcher.ended(req, res);
      });
  });
  const connections = new Connections(limits, closed);
  connections.watch(server);
  if (admission !== undefined) server.on('connection', () => admission.connectionAccepted());
  if (admission !== undefined && !acceptsAll) dropSurplus(server, admission, closed);
  // An unknown expectation is no reason to refuse a request (RFC 9110, 10.1.1). The app itself answers 100-continue.
  for (const event of ['checkExpectation', 'checkContinue'])
    server.on(event, (req, res) => server.emit('request', req, res));
  const draining = new ConnectionDrain(server);
  const watchers = [answerProtocolErrors(server, refused), draining, connections];
  if (source === undefined) await bind(server, address);
  else serveConnections(server, source);
  let closing: Promise<void> | undefined;
  return {
    server,
    port: source?.port ?? portOf(server),
    connections,
    close: (drainMs = DRAIN_MS, idleMs = 0) =>
      (closing ??= draining.drain({ drainMs, idleMs }).finally(() => connections.closeHandshakes())),
  };
}

/**
 * Drops new connections during a storm. Node compares `maxConnections` when it accepts one, before it makes a socket, so that a
 * dropped connection costs the least.
 */
function dropSurplus(
  server: Server,
  admission: NonNullable<ListenOptions['admission']>,
  closed: ListenOptions['closed'],
): void {
  Object.defineProperty(server, 'maxConnections', {
    get: () => (admission.isStorm(performance.now()) ? 1 : Infinity),
  });
  server.on('drop', () => {
    admission.connectionDropped();
    closed?.('storm');
  });
}

/** True if the system has taken all bytes of an answer. */
function isSent({ socket, writableEnded }: ServerResponse): boolean {
  return writableEnded && socket?.writableLength === 0;
}

function create(options: ServerOptions, tls: TlsFiles | undefined, app: RequestListener): Server {
  if (tls === undefined) return createServer(options, app);
  // A client has as long for the handshake as for a head. The other options are defaults of a plain server.
  const times = { handshakeTimeout: options.headersTimeout, allowHalfOpen: true, noDelay: true };
  const server = createSecureServer({ ...options, ...times, ...tls.options() }, app);
  tls.serve(server);
  return server;
}

/**
 * Makes a server listen.
 * @throws MillraceError invalid_setting if it cannot listen on the address
 */
export async function bind(server: NetServer, address: Address): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, address)));
    server.listen(address.port, address.host, resolve);
  });
}

/** Returns the port that a server listens on. */
export function portOf(server: NetServer): number {
  return (server.address() as AddressInfo).port;
}

function listenError(
  error: NodeJS.ErrnoException,
  { host, port, settings = CLIENT_SETTINGS }: Address,
): MillraceError {
  const where = `port ${port} of ${host}`;
  const cause = { cause: error };
  switch (error.code) {
    case 'EADDRINUSE':
      return new MillraceError(
        'invalid_setting',
        `${where} is in use by another process; stop that one, or choose another port with ${settings.port}`,
        cause,
      );
    case 'EACCES':
      return new MillraceError(
        'invalid_setting',
        `this user may not listen on ${where}; ports below 1024 often need more rights; choose another with ${settings.port}`,
        cause,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new MillraceError(
        'invalid_setting',
        `${host} is no address of this machine; expected one of its own, such as 127.0.0.1 or 0.0.0.0, in ${settings.host}`,
        cause,
      );
    default:
      return new MillraceError('invalid_setting', `cannot listen on ${where}: ${error.message}`, cause);
  }
}
