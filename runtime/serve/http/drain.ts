import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { connectionEvent } from './secure.js';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** The time limits for closing the connections of a server. */
export interface DrainOptions {
  /** The time limit for the requests in flight, in milliseconds. */
  readonly drainMs: number;
  /**
   * A connection without a request in flight is closed after it was quiet for this long, in milliseconds, or at the
   * latest after `drainMs`. Until then its next request is answered with `Connection: close`.
   */
  readonly idleMs: number;
}

/** The interval between two checks for quiet connections. */
const LOOK_MS = 50;
/** The time that a client has to close a connection after the server ended its side. */
const LINGER_MS = 1000;
/** The longest time for accepting the connections that already wait. Clients may open new ones all the time. */
const ACCEPT_MS = 2000;
/** The wait for a quiet time is given up after so many times its length. */
const MOST_QUIETS = 10;
/** Two turns, because the first one may have begun before the call. */
const QUIET_TURNS = 2;
/** A quiet turn may take this part of the time since the start, so that a busy service stops too. */
const TURN_PART = 0.01;

interface Connection {
  /** The responses that have not ended, in the order of their requests. */
  readonly inFlight: Set<ServerResponse>;
  /** The response that carries the `Connection: close` of the drain. */
  last?: ServerResponse;
  /** The time when the last response ended or the connection opened, by `performance.now()`. */
  quietSince: number;
  /** The number of bytes that had been read at that time. */
  bytesRead: number;
  /** True after the server has sent FIN. Nothing can be sent on the connection any more. */
  halfClosed: boolean;
}

/** Tracks the open connections of an HTTP server and their responses, and closes them without losing a request. */
export class ConnectionDrain {
  readonly #server: Server;
  readonly #open = new Map<Socket, Connection>();
  #draining = false;
  #onQuiet: () => void = () => undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on(connectionEvent(server), (socket: Socket) => this.#opened(socket));
  }

  /** True for a request that arrived after the server ended its side. It cannot be answered. */
  isTooLate({ socket }: { readonly socket: Socket }): boolean {
    return this.#open.get(socket)?.halfClosed === true;
  }

  /**
   * Stops accepting, then closes all connections. Each one is closed after an answer with `Connection: close`, or once
   * it is quiet. Requests that do not end in time are cut off.
   */
  async drain({ drainMs, idleMs }: DrainOptions): Promise<void> {
    const started = performance.now();
    await stopAccepting(this.#server);
    this.#draining = true;
    for (const connection of this.#open.values()) closeAfterNewest(connection);
    const end = started + drainMs;
    while (this.#open.size > 0 && performance.now() < end) {
      await this.#allClosed(Math.min(LOOK_MS, end - performance.now()));
      // Timers run before sockets are read. After the next turn, all data that has arrived has been read.
      await nextTurn();
      const now = performance.now();
      for (const [socket, connection] of this.#open)
        if (isQuiet(socket, connection) && now - connection.quietSince >= idleMs) endSide(socket, connection);
    }
    for (const [socket, connection] of this.#open)
      if (connection.inFlight.size === 0) endSide(socket, connection);
      else if (!connection.halfClosed) socket.destroy();
    await this.#allClosed(LINGER_MS);
    // This also clears the interval of Node's own checks.
    this.#server.close();
    for (const socket of this.#open.keys()) socket.destroy();
    await this.#allClosed(LINGER_MS);
  }

  #opened(socket: Socket): void {
    const connection: Connection = {
      inFlight: new Set(),
      quietSince: performance.now(),
      bytesRead: 0,
      halfClosed: false,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      closeOrphans(connection);
      if (this.#open.size === 0) this.#onQuiet();
    });
  }

  began({ socket }: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.inFlight.add(res);
    if (this.#draining) closeAfterNewest(connection);
  }

  ended({ socket }: IncomingMessage, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.inFlight.delete(res);
    connection.quietSince = performance.now();
    connection.bytesRead = socket.bytesRead;
  }

  /** Resolves when no connection is open, or after the given time in milliseconds. */
  async #allClosed(ms: number): Promise<void> {
    if (this.#open.size === 0) return;
    const stop = new AbortController();
    const late = pause(ms, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([late, new Promise<void>((resolve) => (this.#onQuiet = resolve))]);
    stop.abort();
  }
}

/**
 * Closes the listening socket after all waiting connections are accepted, because the kernel resets connections that
 * still wait. Node accepts one connection per turn of its event loop. Until the close, new connections are held: a client
 * that gets an answer opens the next connection at once, so the queue would never be empty. A client that connects during
 * the last turn can still be reset, so the close waits for a short turn. The lame-duck time before this call lets clients
 * move to other instances. Idle connections stay open; `close` of an HTTP server would destroy them.
 * @param quietMs no connection may arrive for this long before the close, if others answer requests meanwhile: this process
 * does not notice their answers, after which clients connect again
 */
export async function stopAccepting(server: NetServer, quietMs = 0): Promise<void> {
  const held: Socket[] = [];
  const listeners = server.rawListeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  server.on('connection', (socket) => held.push(socket.on('error', () => undefined)));
  let started = performance.now();
  for (let before = -1; held.length > before && performance.now() - started < MOST_QUIETS * quietMs;) {
    before = held.length;
    await pause(quietMs);
  }
  started = performance.now();
  for (let quiet = 0, now = started; quiet < QUIET_TURNS && now - started < ACCEPT_MS;) {
    const [before, began] = [held.length, now];
    await nextTurn();
    now = performance.now();
    quiet = held.length > before || now - began > (now - started) * TURN_PART ? 0 : quiet + 1;
  }
  if (server.listening) NetServer.prototype.close.call(server);
  server.removeAllListeners('connection');
  for (const listener of listeners) server.on('connection', listener);
  for (const socket of held) if (!socket.destroyed) server.emit('connection', socket);
}

/**
 * Sets `Connection: close` on the newest response of a connection. A client may send further requests before an earlier
 * one is answered. They are answered too, so the header moves to the newest response.
 */
function closeAfterNewest(connection: Connection): void {
  const newest = [...connection.inFlight].at(-1);
  const { last } = connection;
  if (newest === undefined || newest.headersSent || newest === last) return;
  if (last?.headersSent === false) last.setHeader('Connection', 'keep-alive');
  newest.setHeader('Connection', 'close');
  connection.last = newest;
}

/** True if no request is in flight and no byte of the next request has been read. */
function isQuiet(socket: Socket, { inFlight, halfClosed, bytesRead }: Connection): boolean {
  return inFlight.size === 0 && !halfClosed && socket.bytesRead === bytesRead;
}

/**
 * Sends FIN, and continues to read until the client closes. If the server closed at once, it would answer unread bytes
 * with RST, and the client could lose answers that it has not read yet.
 */
function endSide(socket: Socket, connection: Connection): void {
  if (connection.halfClosed) return;
  connection.halfClosed = true;
  socket.end();
}

/**
 * Closes the responses that Node leaves open. If a client pipelines several requests and disconnects, Node closes only
 * the response whose turn it is. The later responses have no connection yet and get no event, so they and their
 * resources would stay in flight forever.
 */
function closeOrphans({ inFlight }: Connection): void {
  for (const res of inFlight) {
    if (res.socket !== null) continue;
    // Node does the same with the response that has the connection. Later writes to the response are dropped.
    res.destroy();
    res.emit('close');
  }
}
