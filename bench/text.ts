import { resolve } from 'node:path';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { fileURLToPath } from 'node:url';
import { table } from './support/measure.js';
import { pairHead, summaryOf, type Pair } from './support/pairs.js';
import type { TextPair } from './text/pair.js';

const HERE = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Measures the step text_match alone. With `before`, it compares that step of another checkout, which is built, with the
 * one of this checkout. Without, it compares the step with itself, which shows the noise of the machine.
 */
export async function textBench(short: boolean, before = HERE, pairs = 24): Promise<void> {
  const rows: string[][] = [];
  for (const candidates of short ? [100] : [24, 100, 1000]) {
    const measured: Pair[] = [];
    for (let i = 0; i < (short ? 3 : pairs); i++) {
      const pair: TextPair = { before: resolve(before), after: HERE, candidates, seed: i + 1 };
      // Each pair has an engine of its own, since compiled code of one build differs from run to run.
      const worker = new Worker(new URL('./text/pair.js', import.meta.url), { workerData: pair });
      const [answer] = await Promise.all([once(worker, 'message'), once(worker, 'exit')]);
      measured.push(answer[0] as Pair);
    }
    rows.push(summaryOf(candidates, measured));
  }
  console.log('text_match, CPU per request; before and after take turns in each pair');
  console.log(table(pairHead('before', 'after'), rows));
}
