import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** How the proxy treats connections that requested CLIENT TRACKING. All other connections are always forwarded. */
export type ProxyMode = 'forward' | 'pause' | 'black hole';

/** A proxy between a service and its Redis that distinguishes invalidation connections from the others. */
export interface TrackingProxy {
  readonly url: string;
  /** The number of open invalidation connections. */
  readonly tracking: number;
  /**
   * `pause` holds their bytes back until `forward`. `black hole` drops them; connections that are open at that time
   * stay like this forever.
   */
  set(mode: ProxyMode): void;
  /** Closes these connections. */
  cut(): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  tracks: boolean;
  swallows: boolean;
}

export async function startTrackingProxy(port: number): Promise<TrackingProxy> {
  const links = new Set<Link>();
  let mode: ProxyMode = 'forward';
  const apply = (link: Link): void => {
    if (!link.tracks) return;
    if (mode === 'black hole') link.swallows = true;
    for (const socket of [link.client, link.server]) {
      if (mode === 'pause') socket.pause();
      else socket.resume();
    }
  };
  const server = createServer((client) => {
    const link: Link = { client, server: connect(port, '127.0.0.1'), tracks: false, swallows: false };
    links.add(link);
    client.setNoDelay(true);
    link.server.setNoDelay(true);
    client.on('data', (bytes) => {
      if (!link.tracks && bytes.includes('TRACKING')) {
        link.tracks = true;
        apply(link);
      }
      if (!link.swallows) link.server.write(bytes);
    });
    link.server.on('data', (bytes) => {
      if (!link.swallows) client.write(bytes);
    });
    const end = (): void => {
      links.delete(link);
      client.destroy();
      link.server.destroy();
    };
    for (const socket of [client, link.server]) {
      socket.on('error', end);
      socket.on('close', end);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const tracked = (): Link[] => [...links].filter((link) => link.tracks);
  return {
    url: `redis://127.0.0.1:${address.port}`,
    get tracking() {
      return tracked().length;
    },
    set(next) {
      mode = next;
      for (const link of links) apply(link);
    },
    cut() {
      for (const { client } of tracked()) client.destroy();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { client } of links) client.destroy();
      await closed;
    },
  };
}
