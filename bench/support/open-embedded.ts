import { openEmbeddedStore } from '../../runtime/state/store/embedded/embedded-store.js';

/** The cost of opening an embedded store. */
export interface Opened {
  readonly ms: number;
  /**
   * The memory that the process holds for it: growth of the heap and of external buffers, after a garbage collection.
   */
  readonly bytes: number;
  /** Growth of the resident set, in bytes. */
  readonly resident: number;
}

/** A separate process: it opens the folder's store, reports the cost to its parent, and ends. */
const held = async (): Promise<number> => {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 20)); // Finalizers run later.
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
