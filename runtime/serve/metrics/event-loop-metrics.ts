import type { Registry } from 'prom-client';
import { SeriesHistogram } from './series-histogram.js';

/** Interval of the samples, in milliseconds. */
const INTERVAL_MS = 20;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/**
 * Samples how late timers run. prom-client has quantiles of this since the last scrape, which two scrapers take from each
 * other and which workers cannot add up; counts by bucket have neither problem.
 * @returns a function that ends the sampling
 */
export function countEventLoopDelay(registry: Registry): () => void {
  const delays = new SeriesHistogram({
    name: 'millrace_event_loop_delay_seconds',
    help: `How late a timer ran that is due each ${INTERVAL_MS} ms, because the event loop was busy.`,
    buckets: SECONDS,
    registers: [registry],
  }).series({});
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    delays.observe(Math.max(0, now - last - INTERVAL_MS) / 1000);
    last = now;
  }, INTERVAL_MS).unref();
  return () => clearInterval(timer);
}
