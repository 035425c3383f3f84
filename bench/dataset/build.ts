import { buildDataSet } from '../../runtime/learn/dataset/build-data-set.js';
import { DAY, DEFAULT_WINDOW, MILLION } from '../../runtime/learn/dataset/options.js';

/** Builds the data set of a ledger, and prints how long it took and the most memory of the process, as JSON. */
const [ledger = '', out = ''] = process.argv.slice(2);
const start = performance.now();
const { manifest } = await buildDataSet(ledger, out, 'parquet', {
  pipeline: undefined,
  label: new Map([
    ['click', 1],
    ['order', 3],
  ]),
  attribute: [{ event: 'order', window: DEFAULT_WINDOW }],
  window: DAY,
  examined: { rule: 'page' },
  split: { by: 'time', train: 0.8 * MILLION },
  gap: DAY,
  since: -Infinity,
  until: Infinity,
  add: [],
});
const { train, holdout } = manifest.requests;
console.log(
  JSON.stringify({
    ms: performance.now() - start,
    rss: process.resourceUsage().maxRSS * 1024,
    requests: train + holdout,
  }),
);
