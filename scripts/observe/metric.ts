import { registeredMetrics, type RegisteredMetric } from '../metric-registry.js';

const METRICS = new Map(registeredMetrics().map((metric) => [metric.name, metric]));
/** The series that a histogram has. */
const SERIES = ['_bucket', '_sum', '_count'];

/** Finds the metric that a series belongs to: a histogram has `_bucket`, `_sum` and `_count`. */
export function metricOf(series: string): RegisteredMetric | undefined {
  const exact = METRICS.get(series);
  if (exact !== undefined) return exact.type === 'histogram' ? undefined : exact;
  const suffix = SERIES.find((one) => series.endsWith(one));
  if (suffix === undefined) return undefined;
  const histogram = METRICS.get(series.slice(0, -suffix.length));
  return histogram?.type === 'histogram' ? histogram : undefined;
}

/** Labels that Prometheus itself adds, and the bucket of a histogram. */
const COMMON = ['job', 'instance', 'le'];

/**
 * Lists what an expression gets wrong: a metric that does not exist, or a label that its metrics do not have. `up` is
 * Prometheus' own.
 */
export function mistakesIn(expression: string): string[] {
  const mistakes: string[] = [];
  const labels = new Set(COMMON);
  for (const [, series = '', matchers = ''] of expression.matchAll(
    /\b((?:millrace|nodejs|process)_\w+)(?:\{([^}]*)\})?/g,
  )) {
    const metric = metricOf(series);
    if (metric === undefined) {
      mistakes.push(`no metric ${series}`);
      continue;
    }
    for (const label of metric.labelNames) labels.add(label);
    for (const [, label = ''] of matchers.matchAll(/(\w+)\s*(?:=|!)/g))
      if (![...COMMON, ...metric.labelNames].includes(label))
        mistakes.push(`${series} has no label ${label}`);
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|without|on|ignoring|group_left)\s*\(([^)]*)\)/g))
    for (const label of list.split(',').map((one) => one.trim()))
      if (label !== '' && !labels.has(label))
        mistakes.push(`no metric of the expression has the label ${label}`);
  return mistakes;
}
