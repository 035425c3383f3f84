import { openEmbeddedStore } from '../../runtime/store/embedded/embedded-store.js';

/** What opening an embedded store cost. */
export interface Opened {
  readonly ms: number;
  /** Memory that the process holds for it: growth of heap and of buffers outside it, after a collection. */
  readonly bytes: number;
  /** Growth of the resident set. */
  readonly resident: number;
}

/** A process of its own: opens the folder's store, tells its parent what that cost, and ends. */
const held = async (): Promise<number> => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20)); // finalizers run later
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const before = await held();
const resident = process.memoryUsage.rss();
const start = performance.now();
const store = await openEmbeddedStore({ dataDir: process.argv[2] ?? '' });
const ms = performance.now() - start;
const opened: Opened = { ms, bytes: (await held()) - before, resident: process.memoryUsage.rss() - resident };
process.send?.(opened);
await store.close();
process.disconnect();
