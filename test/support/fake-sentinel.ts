import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A Sentinel of a test's own that tells of a failover when it is told to, at the worst of moments too. */
export interface FakeSentinel {
  readonly port: number;
  /** Clients that want to be told of a failover. */
  readonly subscribers: number;
  /** How often a client began to want that: each does once it has a connection to the server that it was told of. */
  readonly subscriptions: number;
  /** Clients that have asked for the master and not been answered. */
  readonly waiting: number;
  /** Connections that were reset. */
  readonly resets: number;
  /** Resets all connections, and from now on each that is made. */
  fail(): void;
  /** Keeps whoever asks for the master waiting from now on. */
  hold(): void;
  /** Answers those who wait, and all that come. */
  release(): void;
  /** Tells the subscribers of a failover. */
  announce(): void;
  /** Calls another server master from now on, as of a later failover, and tells nobody who does not ask. */
  promote(masterPort: number): void;
  close(): Promise<void>;
}

/** @param first port of the server on this machine that it calls master, whatever the name but `unknown` */
export async function startFakeSentinel(first: number): Promise<FakeSentinel> {
  const sockets = new Set<Socket>();
  const subscribers = new Set<Socket>();
  const waiting = new Set<Socket>();
  let masterPort = first;
  let epoch = 0;
  const address = (): string => bulks('127.0.0.1', String(masterPort));
  let holds = false;
  let fails = false;
  let resets = 0;
  let subscriptions = 0;
  const reset = (socket: Socket): void => {
    resets++;
    socket.resetAndDestroy();
  };
  const server = createServer((socket) => {
    socket.on('error', () => undefined); // 'close' follows
    if (fails) {
      reset(socket);
      return;
    }
    sockets.add(socket);
    socket.on('close', () => {
      for (const set of [sockets, subscribers, waiting]) set.delete(socket);
    });
    socket.on('data', (data) => {
      for (const [, command = ''] of data.toString().matchAll(/\*\d+\r\n((?:\$\d+\r\n[^\r]*\r\n)+)/g)) {
        if (command.includes('get-master-addr-by-name')) {
          if (command.includes('\r\nunknown\r\n')) socket.write('*-1\r\n');
          else if (holds) waiting.add(socket);
          else socket.write(address());
        } else if (command.includes('\r\nmaster\r\n')) {
          socket.write(bulks('name', 'main', 'config-epoch', String(epoch)));
        } else if (command.includes('subscribe')) {
          subscribers.add(socket);
          subscriptions++;
          socket.write(`*3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n`);
        } else socket.write('*0\r\n');
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get subscribers() {
      return subscribers.size;
    },
    get subscriptions() {
      return subscriptions;
    },
    get waiting() {
      return waiting.size;
    },
    get resets() {
      return resets;
    },
    fail() {
      fails = true;
      for (const socket of sockets) reset(socket);
    },
    hold: () => (holds = true),
    release() {
      holds = false;
      for (const socket of waiting) socket.write(address());
      waiting.clear();
    },
    announce() {
      for (const socket of subscribers) socket.write(bulks('message', '+switch-master', 'main'));
    },
    promote(port) {
      masterPort = port;
      epoch++;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function bulks(...texts: string[]): string {
  return `*${texts.length}\r\n${texts.map((text) => `$${text.length}\r\n${text}\r\n`).join('')}`;
}
