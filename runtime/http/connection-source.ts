import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that another process accepts, on the port that it listens on. */
export interface ConnectionSource {
  readonly port: number;
  /** Calls `take` with each connection from now on. */
  onConnection(take: (socket: Socket) => void): void;
}

/** Serves the connections of a source as `server.listen` serves the ones that it accepts. */
export function serveConnections(server: Server, source: ConnectionSource): void {
  // Node starts to check for requests that take too long to arrive when a server listens.
  server.emit('listening');
  source.onConnection((socket) => {
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
  });
}
