import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricsSnapshot } from './messages.js';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Adds up the metrics of several processes, each by its own aggregator. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return AggregatorRegistry.aggregate(snapshots.map(aggregable)).getMetricsAsJSON();
}

/** The merged metrics as the text of /metrics. */
export function metricsText(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots.map(aggregable)).metrics();
}

/** What a worker that ended leaves behind: its counts. Without them the sums would fall, and Prometheus see a restart. */
export function countsOf(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => {
    const name = String(type);
    return name === 'counter' || name === 'histogram' || name === 'summary';
  });
}

/** How many requests a snapshot counts. */
export function requestsIn(snapshot: MetricsSnapshot): number {
  const requests = snapshot.find(({ name }) => name === 'millrace_http_requests_total');
  return (requests?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

/** The service started when its first process did; prom-client would leave the time out. */
function aggregable(snapshot: MetricsSnapshot): Metric[] {
  return snapshot.map((metric) =>
    metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'min' } : metric,
  );
}
