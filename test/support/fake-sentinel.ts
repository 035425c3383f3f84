import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A fake Sentinel that announces a failover on request, also at unfavourable moments. */
export interface FakeSentinel {
  readonly port: number;
  /** The number of clients that are subscribed to failovers. */
  readonly subscribers: number;
  /** The number of subscriptions so far. A client subscribes once it has a connection to the announced master. */
  readonly subscriptions: number;
  /** The number of clients that asked for the master and have no answer yet. */
  readonly waiting: number;
  /** The number of connections that were reset. */
  readonly resets: number;
  /** Resets all connections, and every new connection from now on. */
  fail(): void;
  /** Delays all answers about the master from now on. */
  hold(): void;
  /** Sends the delayed answers, and answers at once from now on. */
  release(): void;
  /** Announces a failover to the subscribers. */
  announce(): void;
  /** Names another server as master from now on, as after a later failover, without an announcement. */
  promote(masterPort: number): void;
  close(): Promise<void>;
}

/** @param first port of the master on this machine, for every name except `unknown` */
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
    socket.on('error', () => undefined); // A 'close' event follows.
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
