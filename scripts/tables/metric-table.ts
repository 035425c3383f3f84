import { registeredMetrics } from '../metric-registry.js';
import { markdownTable } from './markdown-table.js';

/** The metrics of Millrace itself. The metrics of the process are the defaults of prom-client. */
export function metricTable(): string {
  return markdownTable(
    ['metric', 'labels', 'meaning'],
    registeredMetrics()
      .filter(({ name }) => name.startsWith('millrace_'))
      .map(({ name, labelNames, help }) => [
        `\`${name}\``,
        labelNames.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
  );
}
