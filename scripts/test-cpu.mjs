// Mocha loads this file with `npm test -- --cpu`. It writes one line for each test file to MILLRACE_TEST_CPU: seconds of CPU of
// this process since the last file, including what loads the file; those of the processes that it ended; and the file.
import { appendFileSync, readFileSync } from 'node:fs';

/** Ticks of `/proc/PID/stat` a second. Linux has this number on every platform that Node runs on. */
const TICKS = 100;
let [lastOwn, lastChildren] = [0, 0];

export const mochaHooks = {
  afterAll() {
    const { user, system } = process.cpuUsage();
    const own = (user + system) / 1e6;
    const children = childSeconds();
    const line = [(own - lastOwn).toFixed(2), (children - lastChildren).toFixed(2), fileOf(this.test.parent)];
    appendFileSync(process.env.MILLRACE_TEST_CPU, `${line.join('\t')}\n`);
    [lastOwn, lastChildren] = [own, children];
  },
};

/** CPU of the processes that this one and its children ended. Node has no function for it, so other systems show 0. */
function childSeconds() {
  if (process.platform !== 'linux') return 0;
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS;
}

function fileOf(suite) {
  return suite.file ?? suite.suites[0]?.file ?? suite.tests[0]?.file ?? 'no file';
}
