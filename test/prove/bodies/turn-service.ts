import { openSync, readSync } from 'node:fs';
import { startService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';

/**
 * Runs the service in a separate process, with settings from the environment. Between the messages `begin` and `end`, it
 * measures each turn of its event loop: the CPU time of the main thread from one check phase to the next. It answers
 * `end` with the longest turn and all turns in milliseconds, and with its resident memory in bytes. While the service waits
 * for a disk, the loop turns thousands of times with nothing to do: the sum leaves out what such a turn costs.
 */
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const line = Buffer.alloc(128);

/** CPU time of the main thread since it started, milliseconds. */
function cpuMs(): number {
  process.cpuUsage(); // makes the kernel update the thread's figure
  readSync(schedstat, line, 0, line.length, 0);
  return Number(line.toString('latin1', 0, line.indexOf(0x20))) / 1e6;
}

/** Turns of a service that has nothing to do: the first half warms up, the others are measured. */
const IDLE_TURNS = 4000;

let before = 0;
let longest = 0;
let sum = 0;
let next: NodeJS.Immediate | undefined;

function turn(): void {
  note();
  next = setImmediate(turn);
}

function note(): void {
  const now = cpuMs();
  const took = now - before;
  if (took > longest) longest = took;
  sum += Math.max(0, took - idle);
  before = now;
}

/** The median of what a turn costs in which nothing happens, milliseconds: the meter itself. */
async function idleMs(): Promise<number> {
  const took: number[] = [];
  let last = cpuMs();
  for (let i = 0; i < IDLE_TURNS; i++) {
    await new Promise(setImmediate);
    const now = cpuMs();
    took.push(now - last);
    last = now;
  }
  const measured = took.slice(IDLE_TURNS / 2).sort((a, b) => a - b);
  return measured[measured.length / 2] ?? 0;
}

const service = await startService(loadSettings(process.env));
const idle = await idleMs();
process.on('message', (message) => {
  if (message === 'begin') {
    longest = sum = 0;
    before = cpuMs();
    next = setImmediate(turn);
  } else {
    // The last answer may have been computed in this turn, so the turn counts.
    note();
    clearImmediate(next);
    process.send?.({ longest, cpu: sum, rss: process.memoryUsage.rss() });
  }
});
process.once('disconnect', () => {
  clearImmediate(next);
  void service.close();
});
process.send?.({ url: service.url });
