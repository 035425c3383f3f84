import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** How the connections of a server are closed. */
export interface DrainOptions {
  /** Requests in flight are answered for so long, milliseconds. */
  readonly drainMs: number;
  /**
   * A connection without a request in flight is closed once it has been quiet for so long, milliseconds; no later than
   * `drainMs`. Until then its next request is answered, with `Connection: close`.
   */
  readonly idleMs: number;
}

/** How often quiet connections are looked for. */
const LOOK_MS = 50;
/** How long a client may take to close a connection after the server has ended its side. */
const LINGER_MS = 1000;
/** Connections that wait to be accepted are accepted for at most so long; clients may open new ones all the time. */
const ACCEPT_MS = 2000;
/** The first turn may have begun before the call. */
const QUIET_TURNS = 2;

interface Connection {
  /** Responses that are not over, in the order of their requests. */
  readonly inFlight: Set<ServerResponse>;
  /** The response that carries the `Connection: close` of the drain. */
  last?: ServerResponse;
  /** When the last response ended or the connection opened, by `performance.now()`. */
  quietSince: number;
  /** Bytes that had been read at that time. */
  bytesRead: number;
  /** True after the server has sent FIN: nothing can be answered on it any more. */
  halfClosed: boolean;
}

/** The open connections of an HTTP server, with their responses. It closes them without losing a request. */
export class ConnectionDrain {
  readonly #server: Server;
  readonly #open = new Map<Socket, Connection>();
  #draining = false;
  #onQuiet: () => void = () => undefined;

  constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#opened(socket));
    server.prependListener('request', ({ socket }, res: ServerResponse) => this.#began(socket, res));
  }

  /** True for a request that arrived after the server ended its side: no answer can be sent. */
  isTooLate({ socket }: { readonly socket: Socket }): boolean {
    return this.#open.get(socket)?.halfClosed === true;
  }

  /**
   * Stops accepting, then closes all connections: each after an answer with `Connection: close`, or once it is quiet.
   * Requests that do not end in time are cut.
   */
  async drain({ drainMs, idleMs }: DrainOptions): Promise<void> {
    const started = performance.now();
    await stopAccepting(this.#server);
    this.#draining = true;
    for (const connection of this.#open.values()) closeAfterNewest(connection);
    const end = started + drainMs;
    while (this.#open.size > 0 && performance.now() < end) {
      await this.#allClosed(Math.min(LOOK_MS, end - performance.now()));
      // A timer runs before the sockets are read. After the next turn, all that has arrived is read.
      await nextTurn();
      const now = performance.now();
      for (const [socket, connection] of this.#open)
        if (isQuiet(socket, connection) && now - connection.quietSince >= idleMs) endSide(socket, connection);
    }
    for (const [socket, connection] of this.#open)
      if (connection.inFlight.size === 0) endSide(socket, connection);
      else if (!connection.halfClosed) socket.destroy();
    await this.#allClosed(LINGER_MS);
    // Clears the interval of node's own checks, too.
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

  #began(socket: Socket, res: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.inFlight.add(res);
    if (this.#draining) closeAfterNewest(connection);
    res.once('close', () => {
      connection.inFlight.delete(res);
      connection.quietSince = performance.now();
      connection.bytesRead = socket.bytesRead;
    });
  }

  /** Resolves when no connection is open, or after so many milliseconds. */
  async #allClosed(ms: number): Promise<void> {
    if (this.#open.size === 0) return;
    const stop = new AbortController();
    const late = pause(ms, undefined, { signal: stop.signal }).catch(() => undefined);
    await Promise.race([late, new Promise<void>((resolve) => (this.#onQuiet = resolve))]);
    stop.abort();
  }
}

/**
 * Closes the listening socket after everything that waits to be accepted is accepted, because the kernel resets what
 * waits. Node accepts one connection in a turn of its event loop. A client that connects at the very end can still be
 * reset: the lame-duck time before this call is there for clients to go elsewhere. Idle connections stay open, which
 * `close` of an HTTP server would destroy.
 */
export async function stopAccepting(server: NetServer): Promise<void> {
  let quietTurns = 0;
  const onConnection = (): void => void (quietTurns = -1);
  server.on('connection', onConnection);
  const end = performance.now() + ACCEPT_MS;
  while (quietTurns < QUIET_TURNS && performance.now() < end) {
    await nextTurn();
    quietTurns++;
  }
  server.off('connection', onConnection);
  if (server.listening) NetServer.prototype.close.call(server);
}

/**
 * The newest request of a connection is its last one. Requests that a client sent before the answer to an earlier one
 * are answered, too: the header moves to the newest.
 */
function closeAfterNewest(connection: Connection): void {
  const newest = [...connection.inFlight].at(-1);
  const { last } = connection;
  if (newest === undefined || newest.headersSent || newest === last) return;
  if (last?.headersSent === false) last.setHeader('Connection', 'keep-alive');
  newest.setHeader('Connection', 'close');
  connection.last = newest;
}

/** No request is in flight, and no byte of a next one has been read. */
function isQuiet(socket: Socket, { inFlight, halfClosed, bytesRead }: Connection): boolean {
  return inFlight.size === 0 && !halfClosed && socket.bytesRead === bytesRead;
}

/**
 * Sends FIN, and goes on reading until the client closes: to close at once would answer unread bytes with RST, and the
 * client could lose answers that it has not read yet.
 */
function endSide(socket: Socket, connection: Connection): void {
  if (connection.halfClosed) return;
  connection.halfClosed = true;
  socket.end();
}

/**
 * Where a client sends several requests at once and leaves, node closes the response whose turn it is. Those after it
 * have no connection yet and are never told. They would be in flight for ever, with what they use.
 */
function closeOrphans({ inFlight }: Connection): void {
  for (const res of inFlight) {
    if (res.socket !== null) continue;
    // As node does with the response that has the connection: what is written to it from now on is dropped.
    res.destroy();
    res.emit('close');
  }
}
