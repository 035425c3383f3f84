import { inspect, parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { fuzz } from '../fuzz/fuzz-target.js';
import { TARGETS } from '../fuzz/targets.js';
import { megabytes, Verdict } from './support/figures.js';

/**
 * What comes from outside, made wrong at random, against the real code, for a while each kind: nothing crashes, hangs,
 * grows without bound or changes what comes after it.
 *
 *     node dist/test/torture/fuzz.js [--short] [--seed N] [--only NAME] [--times N]
 */
const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    only: { type: 'string', default: '' },
    times: { type: 'string' },
  },
});
const seed = Number(values.seed);
/** Cases, of those in the quick form. */
const times = Number(values.times ?? (values.short ? 40 : 400));
/** Of resident memory, for all kinds after one another. */
const MOST_MEMORY = 1024 * 1024 * 1024;
/** A case that takes so long hangs; the process can say so only from another thread. */
const HANG_MS = 20_000;

const progress = new Int32Array(new SharedArrayBuffer(4));
/** What the case under way is, in UTF-8. */
const text = new Uint8Array(new SharedArrayBuffer(1000));
const watchdog = new Worker(
  `const { workerData: { progress, text, ms } } = require('node:worker_threads');
   for (;;) {
     const seen = progress[0];
     if (Atomics.wait(progress, 0, seen, ms) === 'timed-out' && progress[0] === seen) {
       const what = Buffer.from(text).toString('utf8').replace(/\\0.*/s, '');
       require('node:fs').writeSync(2, 'FAIL case ' + seen + ' hangs: ' + what + '\\n');
       process.kill(process.pid, 'SIGKILL');
     }
   }`,
  { eval: true, workerData: { progress, text, ms: HANG_MS } },
);
watchdog.unref();

const verdict = new Verdict();
console.log(`seed ${seed}`);
for (const target of TARGETS.filter(({ name }) => name.includes(values.only))) {
  let cases = 0;
  let slowest = 0;
  let last = performance.now();
  const started = last;
  const onCase = (what: string): void => {
    text.fill(0);
    new TextEncoder().encodeInto(what, text);
    cases++;
    Atomics.add(progress, 0, 1);
    Atomics.notify(progress, 0);
    const now = performance.now();
    slowest = Math.max(slowest, now - last);
    last = now;
  };
  console.log(`${target.name} …`);
  const failure = await fuzz(target, seed, target.quick * times, onCase).then(
    () => undefined,
    (error: unknown) => inspect(error, { depth: 4 }),
  );
  if (failure !== undefined) console.log(failure);
  const seconds = (performance.now() - started) / 1000;
  verdict.check(
    target.name,
    failure === undefined,
    `${cases} cases in ${seconds.toFixed(0)} s, slowest ${slowest.toFixed(0)} ms`,
  );
}
const most = process.resourceUsage().maxRSS * 1024;
verdict.check('memory at most', most < MOST_MEMORY, megabytes(most));
verdict.end();
