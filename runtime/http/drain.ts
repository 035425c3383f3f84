import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The responses that are not over. Where a client sends several requests at once and goes, node closes the response whose
 * turn it is; those after it have no connection yet, and would never hear that it is lost: they, and what they use, would
 * be in flight for ever. So they are closed here.
 */
export function trackRequests(server: Server): ReadonlySet<ServerResponse> {
  const inFlight = new Set<ServerResponse>();
  const byConnection = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('connection', (socket) => {
    const its = new Set<ServerResponse>();
    byConnection.set(socket, its);
    socket.once('close', () => {
      for (const res of its) if (res.socket === null) closeOrphan(res);
    });
  });
  server.prependListener('request', ({ socket }, res: ServerResponse) => {
    if (!server.listening) res.setHeader('Connection', 'close');
    const its = byConnection.get(socket);
    inFlight.add(res);
    its?.add(res);
    res.once('close', () => {
      inFlight.delete(res);
      its?.delete(res);
    });
  });
  return inFlight;
}

/** As node does with the one that has the connection: from now on what is written to it is dropped. */
function closeOrphan(res: ServerResponse): void {
  res.destroy();
  res.emit('close');
}

export async function drain(
  server: Server,
  inFlight: ReadonlySet<ServerResponse>,
  drainMs: number,
): Promise<void> {
  // A connection kept alive would go on sending requests.
  for (const res of inFlight) if (!res.headersSent) res.setHeader('Connection', 'close');
  const cut = setTimeout(() => {
    server.closeAllConnections();
  }, drainMs);
  try {
    await new Promise<void>((resolve, reject) => {
      server.close((error) => {
        if (error === undefined) resolve();
        else reject(error);
      });
    });
  } finally {
    clearTimeout(cut);
  }
}
