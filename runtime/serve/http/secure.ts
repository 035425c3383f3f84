import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:tls';

/** True if the server speaks TLS. */
export function isSecure(server: Server): boolean {
  return server instanceof TlsServer;
}

/**
 * Returns the event of a server when a connection can carry requests. A TLS server emits `connection` for the socket
 * below, before the handshake. Requests arrive on another socket, the one of this event.
 */
export function connectionEvent(server: Server): 'connection' | 'secureConnection' {
  return isSecure(server) ? 'secureConnection' : 'connection';
}
