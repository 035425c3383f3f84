import { PerformanceObserver } from 'node:perf_hooks';

/** How the heap of a process grew; see `heapOf`. */
export interface Heap {
  readonly heapBytes: number;
  /** Garbage collections since the process started. */
  readonly collections: number;
}

let collections = 0;
new PerformanceObserver((list) => (collections += list.getEntries().length)).observe({ entryTypes: ['gc'] });
process.on('message', (question) => {
  if (question !== 'heap') return;
  const { heapUsed } = process.memoryUsage();
  // The observer hears of collections in a later turn.
  setTimeout(() => process.send?.({ heapBytes: heapUsed, collections } satisfies Heap), 10);
});
