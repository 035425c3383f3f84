import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionClosing } from '../metrics/connection-metrics.js';
import { isSecure } from './secure.js';

export interface ConnectionLimits {
  /** The maximum number of connections. */
  readonly maxConnections: number;
  /** The maximum number of connections from one client address; 0 for no limit. */
  readonly maxConnectionsPerAddress: number;
  /** A connection is closed if its client reads nothing of an answer for this long, in milliseconds. */
  readonly stallMs: number;
  /** A connection without a request in flight is closed after this long, in milliseconds, also before its first one. */
  readonly keepAliveMs: number;
}

export const DEFAULT_CONNECTIONS: ConnectionLimits = {
  maxConnections: 10_000,
  maxConnectionsPerAddress: 0,
  stallMs: 30_000,
  // Load balancers usually keep idle connections for 60 s. This time is longer, so that they close first.
  keepAliveMs: 65_000,
};

/** The number of connections beyond the limits that are accepted for health checks. */
const SPARE = 16;
/** The number of files that the service itself needs: the store, the log, model files during a reload. */
const OWN_FILES = 64;
/** The number of checks of a connection within `stallMs`. */
const LOOKS = 10;

/** After so many answers 503 in a row, the next refusal closes the connection, so that its client looks elsewhere. */
const MOST_REFUSALS = 8;
/** The shortest time between two such connections, in milliseconds: a new connection costs several refusals. */
const CLOSE_EVERY_MS = 100;

/** The connections that were accepted beyond the limits. */
const spare = new WeakSet<Socket>();
/** The connections that the next refusal closes. Most of the time there is none, so that a look costs nothing. */
const refusedOften = new Set<Socket>();

/** True if the next refusal should close a connection. */
export function isRefusedOften(socket: Socket): boolean {
  return refusedOften.size > 0 && refusedOften.has(socket);
}

/** True if a connection was accepted beyond the limits. Such a connection may only send health checks. */
export function isSpare(socket: Socket): boolean {
  return spare.has(socket);
}

/** The connections of one address, or all of them. */
interface Group {
  count: number;
  /** The connections without a request in flight. The longest idle connection comes first. */
  readonly idle: Set<Socket>;
}

/** The state of one connection. */
interface Connection {
  /** The accepted socket. With TLS, requests arrive on another socket, which reads from this one. */
  readonly socket: Socket;
  readonly address: string;
  readonly groups: readonly Group[];
  /** The number of requests in flight. */
  requests: number;
  /** `waiting`: no request came within the first step, and its timer has the keep-alive time. */
  stage: 'new' | 'waiting' | 'used';
  /** The number of consecutive checks that found it stalled, and the time of the last one. */
  stalls: number;
  stalledAt: number;
  /** The number of consecutive answers with status 503. */
  refusals: number;
  /** The socket of its requests, once the next refusal closes it. */
  last: Socket | undefined;
}

/**
 * Limits the connections of a server. When a limit is reached, the longest idle connection is closed for the new one.
 * If all are busy, a few spare connections are accepted for health checks. The app sheds the other requests of spare
 * connections. This class also closes connections whose clients do not read their answers.
 */
export class Connections {
  readonly #known = new WeakMap<Socket, Connection>();
  readonly #all: Group = { count: 0, idle: new Set() };
  readonly #byAddress = new Map<string, Group>();
  readonly #limits: ConnectionLimits;
  readonly #max: number;
  /** Milliseconds between two checks of a connection with a request in flight. */
  readonly #stepMs: number;
  readonly #closed: (why: ConnectionClosing) => void;
  /** The accepted sockets whose TLS handshake is not finished, by their two ends. */
  readonly #handshakes = new Map<string, Socket>();
  #spares = 0;
  /** The time when a connection was last told to close for its refusals. */
  #closesAt = -Infinity;

  /** @param closed called with the cause of each connection that is closed */
  constructor(limits: ConnectionLimits, closed: (why: ConnectionClosing) => void = () => undefined) {
    this.#limits = limits;
    this.#max = Math.max(1, Math.min(limits.maxConnections, openFilesLimit() - OWN_FILES - SPARE));
    this.#stepMs = Math.ceil(limits.stallMs / LOOKS);
    this.#closed = closed;
  }

  get count(): number {
    return this.#all.count;
  }

  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#accept(socket));
    if (isSecure(server)) this.#watchHandshakes(server);
    server.setTimeout(this.#stepMs);
    server.on('timeout', (socket: Socket) => this.#look(socket));
  }

  began({ socket }: IncomingMessage): void {
    const connection = this.#known.get(socket);
    if (connection === undefined) return;
    if (connection.stage === 'waiting') socket.setTimeout(this.#stepMs);
    connection.stage = 'used';
    if (connection.requests++ === 0) for (const { idle } of connection.groups) idle.delete(connection.socket);
  }

  ended({ socket }: IncomingMessage, { statusCode }: ServerResponse): void {
    const connection = this.#known.get(socket);
    if (connection === undefined) return;
    const isOpen = this.#known.get(connection.socket) === connection;
    if (statusCode === 503) this.#refused(connection, socket, isOpen);
    else if (connection.refusals > 0) this.#notRefused(connection);
    if (--connection.requests > 0 || !isOpen) return;
    for (const { idle } of connection.groups) idle.add(connection.socket);
  }

  #refused(connection: Connection, socket: Socket, isOpen: boolean): void {
    if (++connection.refusals < MOST_REFUSALS || connection.last !== undefined || !isOpen) return;
    const now = performance.now();
    if (now - this.#closesAt < CLOSE_EVERY_MS) return;
    this.#closesAt = now;
    connection.last = socket;
    refusedOften.add(socket);
  }

  #notRefused(connection: Connection): void {
    connection.refusals = 0;
    if (connection.last !== undefined) refusedOften.delete(connection.last);
    connection.last = undefined;
  }

  #accept(socket: Socket): void {
    const name = socket.remoteAddress ?? '';
    const address = this.#groupOf(name);
    const { maxConnectionsPerAddress: maxOfAddress } = this.#limits;
    const isFull =
      (maxOfAddress > 0 && address.count >= maxOfAddress && !this.#makeRoom(address)) ||
      (this.#all.count >= this.#max && !this.#makeRoom(this.#all));
    if (isFull) {
      if (this.#spares >= SPARE) {
        this.#closed('refused');
        socket.destroy();
        return;
      }
      this.#spares++;
      spare.add(socket);
      socket.once('close', () => this.#spares--);
      return;
    }
    const groups = [this.#all, address];
    const state = {
      requests: 0,
      stage: 'new' as const,
      stalls: 0,
      stalledAt: 0,
      refusals: 0,
      last: undefined,
    };
    const connection = { socket, address: name, groups, ...state };
    this.#known.set(socket, connection);
    for (const group of connection.groups) {
      group.count++;
      group.idle.add(socket);
    }
    socket.once('close', () => this.#forget(socket));
  }

  /** Closes the connections of a TLS server whose handshake is not finished. */
  closeHandshakes(): void {
    for (const socket of this.#handshakes.values()) socket.destroy();
  }

  /** Gives the socket of the requests the state of the accepted socket below it. Node does not link the two. */
  #watchHandshakes(server: Server): void {
    server.on('connection', (socket: Socket) => {
      const ends = endsOf(socket);
      this.#handshakes.set(ends, socket);
      socket.once('close', () => this.#handshakes.delete(ends));
    });
    server.prependListener('secureConnection', (secure: Socket) => {
      const ends = endsOf(secure);
      const socket = this.#handshakes.get(ends);
      this.#handshakes.delete(ends);
      if (socket === undefined) {
        secure.destroy();
        return;
      }
      const connection = this.#known.get(socket);
      if (connection !== undefined) this.#known.set(secure, connection);
      if (spare.has(socket)) spare.add(secure);
    });
  }

  /** Closes the longest idle connection of a group, if there is one. */
  #makeRoom({ idle }: Group): boolean {
    const [longest] = idle;
    if (longest === undefined) return false;
    this.#closed('idle');
    this.#forget(longest);
    longest.destroy();
    return true;
  }

  #forget(socket: Socket): void {
    const connection = this.#known.get(socket);
    if (connection === undefined) return;
    this.#known.delete(socket);
    this.#notRefused(connection);
    for (const group of connection.groups) {
      group.count--;
      group.idle.delete(socket);
    }
    if (this.#byAddress.get(connection.address)?.count === 0) this.#byAddress.delete(connection.address);
  }

  #groupOf(address: string): Group {
    let group = this.#byAddress.get(address);
    if (group === undefined) this.#byAddress.set(address, (group = { count: 0, idle: new Set() }));
    return group;
  }

  /**
   * Called when a connection made no progress for a part of `stallMs`, or was idle for the keep-alive time. Node's own
   * timeout can take twice as long as its value, because it first records how much is left to write. Short steps keep
   * that error small.
   */
  #look(socket: Socket): void {
    const connection = this.#known.get(socket);
    const step = this.#stepMs;
    if (connection?.stage === 'new') {
      connection.stage = 'waiting';
      socket.setTimeout(Math.max(1, this.#limits.keepAliveMs - step));
      return;
    }
    if (connection === undefined || connection.requests === 0) {
      socket.destroy();
      return;
    }
    if (socket.writableLength === 0) {
      socket.setTimeout(step); // the client waits for the service
      return;
    }
    const now = performance.now();
    // If the connection made progress since the last check, that check is more than one step ago.
    connection.stalls = now - connection.stalledAt < 1.5 * step ? connection.stalls + 1 : 1;
    connection.stalledAt = now;
    // Node records the progress of the first step without a call.
    if (connection.stalls < LOOKS - 1) {
      socket.setTimeout(step);
      return;
    }
    this.#closed('stalled');
    socket.destroy();
  }
}

/** The addresses and ports of both ends, which only one open connection has. */
function endsOf({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}

/** The soft limit of open files of this process; unlimited if the system does not report it. */
function openFilesLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}
