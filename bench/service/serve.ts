import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the bench asks of a server's process, and what it answers. */
export interface Usage {
  /** Milliseconds of CPU since the process began, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** Answers the bench's question for the CPU time; ends with its parent. */
export function tellUsage(close: () => void): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMs: (user + system) / 1000, rssBytes: process.memoryUsage.rss() } satisfies Usage);
  });
  process.once('disconnect', close);
}

/** Lets a server listen on any port, and tells the bench which. */
export function serveForBench(server: Server): void {
  server.listen(0, '127.0.0.1');
  void once(server, 'listening').then(() => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  tellUsage(() => process.exit());
}
