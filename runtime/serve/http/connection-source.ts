import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Connections that another process accepts on its port. */
export interface ConnectionSource {
  readonly port: number;
  /** Calls `take` with each new connection. */
  onConnection(take: (socket: Socket) => void): void;
}

/** Serves the connections of a source, as `server.listen` serves the connections that it accepts. */
export function serveConnections(server: Server, source: ConnectionSource): void {
  // Node starts its check for requests that arrive too slowly when a server listens.
  server.emit('listening');
  source.onConnection((socket) => {
    // `dropSurplus` sets the limit. Node compares it only when the server accepts connections itself.
    if (server.maxConnections === 1) {
      socket.resetAndDestroy();
      server.emit('drop');
      return;
    }
    socket.allowHalfOpen = true;
    server.emit('connection', socket);
  });
}
