import type { Counter, Histogram, Registry } from 'prom-client';
import type {
  MetricLabels,
  PluginCounter,
  PluginHistogram,
  PluginMetrics,
} from '../../ground/api/services.js';

/** The most combinations of label values of a metric. A label with an id would fill the memory of Prometheus. */
const MOST_SERIES = 100;
const OTHER = 'other';
const MOST_METRICS = 100;

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const NAME = /^[a-z][a-z0-9_]*$/;

/** What makes the metrics that a service shows. A command that only checks a project does not load it. */
interface PromMetrics {
  readonly Counter: typeof Counter;
  readonly Histogram: typeof Histogram;
}

/** A metric of a plugin: what it was declared with, and the combinations of label values so far. */
interface Declared {
  readonly form: string;
  readonly metric: Counter | Histogram | undefined;
  readonly handle: PluginCounter | PluginHistogram;
}

/**
 * The metrics that plugins declare. It is created before the project is loaded, because plugins declare metrics when they
 * create components. A metric lives as long as the process: a reload continues it.
 */
export class PluginMetricsRegistry {
  readonly #prom: PromMetrics | undefined;
  readonly #declared = new Map<string, Declared>();
  #registry: Registry | undefined;

  /** @param prom undefined: metrics are checked, and nobody reads them */
  constructor(prom?: PromMetrics) {
    this.#prom = prom;
  }

  register(registry: Registry): void {
    this.#registry = registry;
    for (const { metric } of this.#declared.values())
      if (metric !== undefined) registry.registerMetric(metric);
  }

  /** Makes the metrics of one plugin. */
  of(plugin: string): PluginMetrics {
    return {
      counter: (name, help, labels = []) => {
        const full = `millrace_plugin_${plugin}_${checked(name)}_total`;
        const form = JSON.stringify(['counter', labels]);
        return this.#declare(full, form, () => {
          const labelNames = checkedLabels(labels);
          const metric =
            this.#prom && new this.#prom.Counter({ name: full, help, labelNames, registers: [] });
          const bounded = new BoundedLabels(labels);
          const handle: PluginCounter = { add: (by = 1, given = {}) => metric?.inc(bounded.of(given), by) };
          return { metric, handle };
        });
      },
      histogram: (name, help, { labels = [], buckets = SECONDS } = {}) => {
        const full = `millrace_plugin_${plugin}_${checked(name)}`;
        const form = JSON.stringify(['histogram', labels, buckets]);
        return this.#declare(full, form, () => {
          const labelNames = checkedLabels(labels);
          const metric =
            this.#prom &&
            new this.#prom.Histogram({
              name: full,
              help,
              labelNames,
              buckets: [...buckets],
              registers: [],
            });
          const bounded = new BoundedLabels(labels);
          const handle: PluginHistogram = {
            observe: (value, given = {}) => metric?.observe(bounded.of(given), value),
          };
          return { metric, handle };
        });
      },
    };
  }

  #declare<H extends PluginCounter | PluginHistogram>(
    name: string,
    form: string,
    make: () => { readonly metric: Declared['metric']; readonly handle: H },
  ): H {
    const known = this.#declared.get(name);
    if (known !== undefined) {
      if (known.form === form) return known.handle as H;
      throw new Error(`the metric ${name} exists already with other labels or buckets, or of another kind`);
    }
    if (this.#declared.size >= MOST_METRICS)
      throw new Error(`the plugins of a service can have ${MOST_METRICS} metrics`);
    const made = make();
    this.#declared.set(name, { form, ...made });
    if (made.metric !== undefined) this.#registry?.registerMetric(made.metric);
    return made.handle;
  }
}

/** Limits the combinations of label values. */
class BoundedLabels {
  readonly #names: readonly string[];
  readonly #seen = new Set<string>();

  constructor(names: readonly string[]) {
    this.#names = names;
  }

  of(given: MetricLabels): Record<string, string> {
    const values = this.#names.map((name) => (Object.hasOwn(given, name) ? String(given[name]) : ''));
    const key = JSON.stringify(values);
    if (!this.#seen.has(key)) {
      if (this.#seen.size >= MOST_SERIES) return Object.fromEntries(this.#names.map((name) => [name, OTHER]));
      this.#seen.add(key);
    }
    return Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? '']));
  }
}

function checked(name: string): string {
  if (NAME.test(name)) return name;
  throw new Error(`\`${name}\` cannot be the name of a metric: use lowercase letters, digits and _`);
}

function checkedLabels(labels: readonly string[]): string[] {
  const wrong = labels.find((name) => !NAME.test(name) || name === 'le');
  if (wrong === undefined) return [...labels];
  throw new Error(`\`${wrong}\` cannot be the name of a label: use lowercase letters, digits and _`);
}
