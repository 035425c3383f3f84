import { openSync, readSync } from 'node:fs';
import { startService } from '../../../runtime/serve/app/serve.js';
import { loadSettings } from '../../../runtime/project/settings/settings.js';

/**
 * Runs the service in a separate process, with settings from the environment. Between the messages `begin` and `end`, it
 * measures each turn of its event loop: the CPU time of the main thread from one check phase to the next. It answers
 * `end` with the longest turn and all turns in milliseconds, and with its resident memory in bytes.
 */
const schedstat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const line = Buffer.alloc(128);

/** CPU time of the main thread since it started, milliseconds. */
function cpuMs(): number {
  process.cpuUsage(); // makes the kernel update the thread's figure
  readSync(schedstat, line, 0, line.length, 0);
  return Number(line.toString('latin1', 0, line.indexOf(0x20))) / 1e6;
}

let before = 0;
let longest = 0;
let began = 0;
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
    before = began = cpuMs();
    next = setImmediate(turn);
  } else {
    // The last answer may have been computed in this turn, so the turn counts.
    note();
    clearImmediate(next);
    process.send?.({ longest, cpu: before - began, rss: process.memoryUsage.rss() });
  }
});
process.once('disconnect', () => {
  clearImmediate(next);
  void service.close();
});
process.send?.({ url: service.url });
