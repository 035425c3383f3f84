// Mocha's reporter for `npm test`: a dot for each test, then the failures, what was left out, and one plain line of counts.
// With `--retries` a test that failed and then passed is named with its error: it has a fault, or the machine was too slow.
import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';
import { NEEDS } from '../dist/test/support/needs.js';

const { EVENT_TEST_FAIL, EVENT_TEST_PASS, EVENT_TEST_PENDING, EVENT_TEST_RETRY } = Mocha.Runner.constants;
const DOTS_PER_LINE = 76;

export default class TestReporter extends Mocha.reporters.Base {
  static description = 'dots, failures, what was left out, and a line of counts';

  constructor(runner, options) {
    super(runner, options);
    const leftOut = [];
    const retried = new Map();
    let dots = 0;
    const dot = (mark) => {
      if (dots > 0 && dots % DOTS_PER_LINE === 0) process.stdout.write('\n');
      dots += 1;
      process.stdout.write(mark);
    };
    runner.on(EVENT_TEST_PASS, () => dot('.'));
    runner.on(EVENT_TEST_FAIL, (test) => {
      dot('!');
      retried.delete(test.fullTitle());
    });
    runner.on(EVENT_TEST_RETRY, (test, error) => {
      dot('?');
      retried.set(test.fullTitle(), error?.message ?? '');
    });
    runner.on(EVENT_TEST_PENDING, (test) => {
      dot('-');
      leftOut.push(test);
    });
    // Runs at process exit, because a file that fails to load may be reported after the run's end.
    process.once('exit', () => {
      const { passes, failures, pending, duration } = this.stats;
      if (dots > 0) process.stdout.write('\n');
      if (failures > 0) Mocha.reporters.Base.list(this.failures);
      if (retried.size > 0) console.log('\nfailed, and passed when they ran again:');
      for (const [title, message] of retried)
        console.log(`  ${title}\n    ${message.split('\n').join('\n    ')}`);
      if (leftOut.length > 0) listLeftOut(leftOut);
      console.log(`\n${((duration ?? 0) / 1000).toFixed(1)} s`);
      console.log(`${passes} passed, ${failures} failed${pending > 0 ? `, ${pending} left out` : ''}`);
    });
  }
}

/**
 * Prints one line for each program that was missing; a test that needs two of them counts in both. MILLRACE_LEFT_OUT names a
 * file that gets the names of the files of these tests.
 */
function listLeftOut(tests) {
  const counts = new Map();
  for (const test of tests) {
    const [, missing] = /\(needs ([^()]+)\)/.exec(test.fullTitle()) ?? [];
    for (const need of missing?.split(', ') ?? [test.fullTitle()])
      counts.set(need, (counts.get(need) ?? 0) + 1);
  }
  console.log('\nleft out, and what to install for them:');
  for (const [need, count] of [...counts].sort(([, a], [, b]) => b - a))
    console.log(`${String(count).padStart(5)}  ${need.padEnd(20)} ${NEEDS[need]?.how ?? 'says no need'}`);
  const list = process.env.MILLRACE_LEFT_OUT;
  if (list !== undefined) writeFileSync(list, `${[...new Set(tests.map(({ file }) => file))].join('\n')}\n`);
}
