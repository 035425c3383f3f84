import { expect } from 'chai';
import { Histogram, Registry } from 'prom-client';
import { metricsText } from '../../../../runtime/serve/app/workers/merge-metrics.js';
import type { MetricsSnapshot } from '../../../../runtime/serve/app/workers/messages.js';
import { SeriesHistogram } from '../../../../runtime/serve/metrics/series-histogram.js';

const CONFIGURATION = { name: 'seconds', help: 'Time.', labelNames: ['step'], buckets: [0.1, 1] };
const OBSERVED = { fast: [0, 0.05, 0.1], slow: [0.2, 1, 5] };

function filled(registry: Registry): SeriesHistogram<string> {
  const histogram = new SeriesHistogram({ ...CONFIGURATION, registers: [registry] });
  for (const [step, values] of Object.entries(OBSERVED))
    for (const value of values) histogram.series({ step }).observe(value);
  return histogram;
}

describe('a histogram with resolved series', () => {
  it('prints the same text as prom-client for the same observations', async () => {
    const [own, other] = [new Registry(), new Registry()];
    filled(own);
    const reference = new Histogram({ ...CONFIGURATION, registers: [other] });
    for (const [step, values] of Object.entries(OBSERVED))
      for (const value of values) reference.observe({ step }, value);
    expect(await own.metrics()).to.equal(await other.metrics());
  });

  it('gives the same series for the same labels, and prints a series before its first observation', async () => {
    const registry = new Registry();
    const histogram = filled(registry);
    expect(histogram.series({ step: 'fast' })).to.equal(histogram.series({ step: 'fast' }));
    histogram.series({ step: 'new' });
    expect(await registry.metrics()).to.include('seconds_count{step="new"} 0');
  });

  it('is added up over workers', async () => {
    const registry = new Registry();
    filled(registry);
    const snapshot = JSON.parse(JSON.stringify(await registry.getMetricsAsJSON())) as MetricsSnapshot;
    const text = await metricsText([snapshot, snapshot]);
    expect(text)
      .to.include('seconds_bucket{le="0.1",step="fast"} 6')
      .and.to.include('seconds_count{step="slow"} 6');
  });
});
