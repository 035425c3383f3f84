/** What the runtime offers to plugins while they work. All of it can be used in `create`, except the store. */
import type { EntityIdentifier } from './identifiers.js';
import type { ServiceToken } from './service-token.js';
import type { FeastStatus } from './status.js';
import type { JsonObject, JsonValue } from './types.js';

/** Writes lines to the log of the service, each with the plugin's name. They must not contain personal data. */
export interface PluginLogger {
  debug(message: string, data?: JsonObject): void;
  info(message: string, data?: JsonObject): void;
  warn(message: string, data?: JsonObject): void;
  error(message: string, data?: JsonObject): void;
}

/** The labels of a sample. Their names are declared with the metric. */
export type MetricLabels = Readonly<Record<string, string>>;

export interface PluginCounter {
  /** @param by not negative; by default 1 */
  add(by?: number, labels?: MetricLabels): void;
}

export interface PluginHistogram {
  observe(value: number, labels?: MetricLabels): void;
}

/**
 * Makes metrics for /metrics. The metric `calls` of the plugin `near_by` is `millrace_plugin_near_by_calls`. A second
 * call with the same name returns the same metric.
 *
 * A metric has at most 100 combinations of label values. Further ones are counted with the value `other`.
 * @throws Error if the name is not valid, or if the metric has another form already
 */
export interface PluginMetrics {
  /** @param name lowercase letters, digits and _; the runtime adds `_total` */
  counter(name: string, help: string, labels?: readonly string[]): PluginCounter;
  /** @param buckets upper bounds, ascending; by default seconds from 1 ms to 5 s */
  histogram(
    name: string,
    help: string,
    more?: { readonly labels?: readonly string[]; readonly buckets?: readonly number[] },
  ): PluginHistogram;
}

/** Keeps values in memory. If it is full, it drops the value that was not used for the longest time. */
export interface PluginCache<V> {
  /** Undefined if there is no such value, or if it has expired. */
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): void;
  /** The number of values, including those that have expired and are not dropped yet. */
  readonly size: number;
}

export interface CacheOptions {
  /** The most values, from 1 to 1,000,000. */
  readonly entries: number;
  /** How long a value is kept, in milliseconds; by default without end. */
  readonly ttlMs?: number;
}

/** A feature as it was read. */
export interface StoredFeature {
  /** Undefined if the value is not known. */
  readonly value: JsonValue | undefined;
  /** As get-online-features reports it: a default has the status that says why there is no value. */
  readonly status: FeastStatus;
}

/**
 * Reads the store, apart from what the pipeline reads. Each call is one round trip, so ask for all ids at once. Prefer
 * `build.need`, which reads with the request.
 */
export interface StoreReader {
  /**
   * Reads entities as they were uploaded; null for one that is not in the index. At most 1000 ids.
   * @param signal pass `input.signal`, so that the read ends with the request
   * @throws MillraceError unknown_entity_type, invalid_body, store_unavailable; the reason of the signal
   */
  entities(
    type: string,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, JsonObject | null>>;
  /**
   * Reads one feature, such as `product_stats:ctr_30d`, for up to 1000 keys: entities, or lists of entities for a view of
   * several. The results are in the order of the keys.
   * @throws MillraceError unknown_view, invalid_body, store_unavailable, deadline_exceeded; the reason of the signal
   */
  features(
    feature: string,
    keys: readonly (EntityIdentifier | readonly EntityIdentifier[])[],
    signal: AbortSignal,
  ): Promise<readonly StoredFeature[]>;
}

/** The services of a plugin. */
export interface PluginServices {
  readonly logger: PluginLogger;
  readonly metrics: PluginMetrics;
  /** The time of the service in epoch milliseconds. In a request, `input.now` is the time of the whole request. */
  readonly now: () => number;
  /** Makes a cache of this component. It is dropped with the component. */
  readonly cache: <V>(options: CacheOptions) => PluginCache<V>;
  /**
   * A service of a package of the project, see `defineService`. Use it in `create`.
   * @throws Error if there is no such service
   */
  readonly service: <T>(token: ServiceToken<T>) => T;
  /** The store. It opens after `create` and `warm`: read it while a request runs. */
  readonly store: StoreReader;
}
