/** A thread of the process of an arm: ends the process if its parent has ended, also while the arm hangs. */
const parent = process.ppid;
const INTERVAL_MS = 1000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, 'SIGKILL');
}, INTERVAL_MS);
