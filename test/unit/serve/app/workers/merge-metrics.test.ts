import { expect } from 'chai';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import {
  countsOf,
  mergeMetrics,
  metricsText,
  requestsIn,
} from '../../../../../runtime/serve/app/workers/merge-metrics.js';
import type { MetricsSnapshot } from '../../../../../runtime/serve/app/workers/messages.js';
import { countReloads } from '../../../../../runtime/serve/metrics/reload-metrics.js';
import { countResident } from '../../../../../runtime/serve/metrics/resident-metrics.js';
import { countStore } from '../../../../../runtime/serve/metrics/store-metrics.js';
import { StoreCheck } from '../../../../../runtime/state/store/store-check.js';
import { StoreMonitor } from '../../../../../runtime/state/store/store-monitor.js';

/** The metrics of a worker that has answered so many requests. */
async function worker(
  requests: number,
  more: (registry: Registry) => void = () => undefined,
): Promise<MetricsSnapshot> {
  const registry = new Registry();
  const registers = [registry];
  const total = new Counter({
    name: 'millrace_http_requests_total',
    help: 'Requests.',
    labelNames: ['route', 'status'],
    registers,
  });
  total.inc({ route: '/a', status: 200 }, requests);
  const seconds = new Histogram({ name: 'seconds', help: 'Time.', buckets: [1, 2], registers });
  seconds.observe(requests);
  new Gauge({ name: 'rows', help: 'Rows.', registers }).set(requests);
  more(registry);
  return registry.getMetricsAsJSON();
}

describe('the metrics of several workers', () => {
  it('adds up counters, histograms and gauges', async () => {
    const text = await metricsText([await worker(1), await worker(2)]);
    expect(text).to.include('millrace_http_requests_total{route="/a",status="200"} 3');
    expect(text).to.include('seconds_bucket{le="1"} 1').and.to.include('seconds_bucket{le="2"} 2');
    expect(text).to.include('seconds_count 2').and.to.include('seconds_sum 3');
    expect(text).to.include('rows 3');
  });

  it('keeps the counts of a worker that ended, so that no sum falls, and not its gauges', async () => {
    const ended = countsOf(await worker(5));
    const twice = await mergeMetrics([ended, countsOf(await worker(7))]);
    const text = await metricsText([await worker(1), twice]);
    expect(text).to.include('millrace_http_requests_total{route="/a",status="200"} 13');
    expect(text).to.include('seconds_count 3').and.to.include('rows 1\n');
  });

  it('counts the requests of one worker', async () => {
    expect(requestsIn(await worker(4))).to.equal(4);
    expect(requestsIn([])).to.equal(0);
  });

  it('shows the worst state of the workers where a sum says nothing', async () => {
    const source = (isGood: boolean) => (registry: Registry) => {
      countReloads(registry, {
        counts: { succeeded: 1, failed: 0, held: 0, refused: 0 },
        lastFailed: !isGood,
        current: { version: 'v1', loadedAt: isGood ? 2000 : 1000, models: [] },
      });
      countResident(registry, { states: () => [], isCurrent: () => isGood });
    };
    const text = await metricsText([await worker(1, source(true)), await worker(1, source(false))]);
    expect(text).to.include('millrace_last_reload_successful 0');
    expect(text).to.include('millrace_resident_current 0');
    expect(text).to.include('millrace_project_loaded_timestamp_seconds 1\n');
    expect(text).to.include('millrace_project_info{version="v1"} 1\n');
  });

  it('shows the store as lost if one worker lost it, and its warnings once', async () => {
    const source = (isLost: boolean) => (registry: Registry) => {
      const monitor = new StoreMonitor({ info: () => undefined, warn: () => undefined });
      monitor.evicts('allkeys-lru');
      monitor.memoryUse(isLost ? 0.5 : 0.25);
      const ping = (): Promise<void> => (isLost ? Promise.reject(new Error('lost')) : Promise.resolve());
      countStore(registry, monitor, new StoreCheck({ ping }));
    };
    const text = await metricsText([await worker(1, source(false)), await worker(1, source(true))]);
    expect(text).to.include('millrace_store_up 1\n').and.to.include('millrace_store_ready 0\n');
    expect(text).to.include('millrace_store_warnings{code="store_evicts"} 1\n');
    expect(text).to.include('millrace_store_memory_used_ratio 0.5\n');
  });
});
