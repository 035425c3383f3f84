import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The bench's question to a server process, and the answer. */
export interface Usage {
  /** CPU time since the process started, user and system, in milliseconds. */
  readonly cpuMs: number;
  readonly rssBytes: number;
  /** The longest block of the event loop since the last question, in milliseconds. */
  readonly stallMs: number;
}

/** How often the event loop is sampled, in milliseconds. Only the delay beyond this counts. */
const LOOK_MS = 1;

/** Answers the bench's question for the CPU time. Ends when its parent ends. */
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

/** Lets a server listen on any free port and reports the port to the bench. */
export function serveForBench(server: Server): void {
  server.listen(0, '127.0.0.1');
  void once(server, 'listening').then(() => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  tellUsage(() => process.exit());
}
