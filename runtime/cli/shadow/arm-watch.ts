import { workerData } from 'node:worker_threads';

/**
 * A thread of the process of an arm: ends the process if its parent has ended, or if it takes too much memory, also while the
 * arm hangs. V8 bounds the heap alone, so buffers and the memory of native libraries are bounded here.
 */
const parent = process.ppid;
const INTERVAL_MS = 250;
const { memoryMb } = workerData as { readonly memoryMb: number };
const MOST_BYTES = (2 * memoryMb + 256) * 2 ** 20;

setInterval(() => {
  if (process.ppid !== parent || process.memoryUsage.rss() > MOST_BYTES) process.kill(process.pid, 'SIGKILL');
}, INTERVAL_MS);
