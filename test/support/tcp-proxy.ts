import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What a proxy does with the data of the server. */
export type Weather =
  /** Forwards it. */
  | 'clear'
  /** Drops it and keeps the connection open, like a network failure. */
  | 'blackhole'
  /** Forwards one byte every few milliseconds. */
  | 'drip'
  /** Forwards some bytes and then resets the connection. */
  | 'reset'
  /** Sends damaged data of a similar form. */
  | 'garbled'
  /** Holds back the data of clients, and delivers it on request, even if the client has disconnected. */
  | 'late';

/** A TCP proxy on this machine that can disturb the connection to a server. */
export interface TcpProxy {
  readonly port: number;
  /** Applies to new data, also on open connections. */
  weather: Weather;
  /** The number of connections so far. */
  readonly connections: number;
  /** The number of bytes that clients sent. */
  readonly sent: number;
  /** Delivers the data that was held back. */
  arrive(): void;
  close(): Promise<void>;
}

const RESET_AFTER = 3;
const DRIP_EVERY = 5;

/** @param port its own port; by default a free one */
export async function startTcpProxy(target: number, port = 0): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  const late = new Map<Socket, Buffer[]>();
  const proxy = { weather: 'clear' as Weather, connections: 0, sent: 0 };
  const server = createServer((client) => {
    proxy.connections++;
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined); // A 'close' event follows.
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        if (!late.has(upstream)) upstream.destroy();
      });
    }
    client.on('data', (data) => {
      proxy.sent += data.length;
      if (proxy.weather === 'late') (late.get(upstream) ?? late.set(upstream, []).get(upstream))?.push(data);
      else upstream.write(data);
    });
    let dripping = Promise.resolve();
    upstream.on('data', (data: Buffer) => {
      // `late` holds back only the data of clients. Replies are forwarded at once.
      if (proxy.weather === 'clear' || proxy.weather === 'late') client.write(data);
      else if (proxy.weather === 'garbled') client.write('*1\r\n$5\r\nwrong\r\n');
      else if (proxy.weather === 'drip') dripping = dripping.then(() => drip(client, data));
      else if (proxy.weather === 'reset') {
        client.write(data.subarray(0, RESET_AFTER), () => client.resetAndDestroy());
      }
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(proxy, {
    port: (server.address() as AddressInfo).port,
    arrive() {
      for (const [upstream, held] of late) for (const data of held) upstream.write(data);
      late.clear();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  });
}

async function drip(client: Socket, data: Buffer): Promise<void> {
  for (const byte of data) {
    if (client.destroyed) return;
    client.write(Buffer.from([byte]));
    await new Promise((resolve) => setTimeout(resolve, DRIP_EVERY));
  }
}
