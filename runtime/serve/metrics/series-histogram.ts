import {
  Histogram,
  type HistogramConfiguration,
  type LabelValues,
  type MetricObjectWithValues,
  type MetricValueWithName,
} from 'prom-client';

type SeriesConfiguration<T extends string> = HistogramConfiguration<T> & { readonly buckets: number[] };

/**
 * A histogram whose label sets are resolved once. prom-client sorts and joins the labels at each observation; here an
 * observation only adds to two numbers.
 */
export class SeriesHistogram<T extends string> extends Histogram<T> {
  readonly #configuration: SeriesConfiguration<T>;
  readonly #series = new Map<string, Series>();

  constructor(configuration: SeriesConfiguration<T>) {
    super(configuration);
    this.#configuration = configuration;
  }

  /** The series with these labels. The same labels give the same series, so that counts survive a reload. */
  series(labels: LabelValues<T>): Series {
    const key = JSON.stringify(Object.entries(labels).sort());
    let series = this.#series.get(key);
    if (series === undefined) {
      series = new Series(labels, this.#configuration.buckets);
      this.#series.set(key, series);
    }
    return series;
  }

  /** All series in the form that prom-client prints and merges. */
  override get(): Promise<MetricObjectWithValues<MetricValueWithName<T>>> {
    const { name, help } = this.#configuration;
    const values = [...this.#series.values()].flatMap((series) => series.values(name));
    const metric: unknown = { name, help, type: 'histogram', aggregator: 'sum', values };
    return Promise.resolve(metric as MetricObjectWithValues<MetricValueWithName<T>>);
  }

  /** prom-client prefers this method, which is not in its types, to `get`. */
  getForPromString(): Promise<MetricObjectWithValues<MetricValueWithName<T>>> {
    return this.get();
  }
}

/** The counts of one label set. */
export class Series {
  readonly #labels: LabelValues<string>;
  readonly #bounds: readonly number[];
  /** By bucket, not cumulative; the last one is above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: LabelValues<string>, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  values(name: string): MetricValueWithName<string>[] {
    const labels = this.#labels;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, i) => {
      count += this.#counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
