import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricsSnapshot } from './messages.js';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Adds up the metrics of several processes, each metric by its own aggregator. */
export function mergeMetrics(snapshots: readonly MetricsSnapshot[]): Promise<MetricsSnapshot> {
  return AggregatorRegistry.aggregate(snapshots.map(aggregable)).getMetricsAsJSON();
}

/** Returns the merged metrics as the text of /metrics. */
export function metricsText(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return AggregatorRegistry.aggregate(snapshots.map(aggregable)).metrics();
}

/**
 * Returns the counts that are kept after a worker ended. Without them the sums would decrease, and Prometheus would see
 * a restart.
 */
export function countsOf(snapshot: MetricsSnapshot): MetricsSnapshot {
  return snapshot.filter(({ type }) => {
    const name = String(type);
    return name === 'counter' || name === 'histogram' || name === 'summary';
  });
}

/** Returns the number of requests that a snapshot counts. */
export function requestsIn(snapshot: MetricsSnapshot): number {
  const requests = snapshot.find(({ name }) => name === 'millrace_http_requests_total');
  return (requests?.values ?? []).reduce((sum, { value }) => sum + value, 0);
}

/** Sets the start time of the service to that of its first process. prom-client would omit the start time. */
function aggregable(snapshot: MetricsSnapshot): Metric[] {
  return snapshot.map((metric) =>
    metric.name === 'process_start_time_seconds' ? { ...metric, aggregator: 'min' } : metric,
  );
}
