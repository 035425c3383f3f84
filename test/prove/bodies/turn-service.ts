import { openSync, readSync } from 'node:fs';
import { startService } from '../../../runtime/app/serve.js';
import { loadSettings } from '../../../runtime/settings/settings.js';

/**
 * A service in a process of its own, by the environment's settings. Between the messages `begin` and `end` it measures
 * each turn of its event loop: the CPU of the main thread from one check phase to the next. It answers `end` with the
 * longest, in milliseconds.
 */
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const line = Buffer.alloc(128);

/** CPU of the main thread so far, milliseconds. */
function cpuMs(): number {
  process.cpuUsage(); // the kernel brings the thread's own figure up to date with it
  readSync(schedstat, line, 0, line.length, 0);
  return Number(line.toString('latin1', 0, line.indexOf(0x20))) / 1e6;
}

let before = 0;
let longest = 0;
let next: NodeJS.Immediate | undefined;

function turn(): void {
  note();
  next = setImmediate(turn);
}

function note(): void {
  const now = cpuMs();
  if (now - before > longest) longest = now - before;
  before = now;
}

const service = await startService(loadSettings(process.env));
process.on('message', (message) => {
  if (message === 'begin') {
    longest = 0;
    before = cpuMs();
    next = setImmediate(turn);
  } else {
    // What was answered last may have been done in this very turn.
    note();
    clearImmediate(next);
    process.send?.({ longest, rss: process.memoryUsage.rss() });
  }
});
process.once('disconnect', () => {
  clearImmediate(next);
  void service.close();
});
process.send?.({ url: service.url });
