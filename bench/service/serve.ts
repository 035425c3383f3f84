import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What the bench asks of a server's process, and what it answers. */
export interface Usage {
  /** Milliseconds of CPU since the process began, user and system. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The longest time that the event loop was held since the last question, milliseconds. */
  readonly stallMs: number;
}

/** How often the event loop is looked at, milliseconds: a delay is told beyond this. */
const LOOK_MS = 1;

/** Answers the bench's question for the CPU time; ends with its parent. */
export function tellUsage(close: () => void): void {
  const delays = monitorEventLoopDelay({ resolution: LOOK_MS });
  process.on('message', () => {
    delays.disable();
    const { user, system } = process.cpuUsage();
    const stallMs = Math.max(0, delays.max / 1e6 - LOOK_MS);
    process.send?.({
      cpuMs: (user + system) / 1000,
      rssBytes: process.memoryUsage.rss(),
      stallMs,
    } satisfies Usage);
    delays.reset();
    delays.enable();
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
