import type { EntityIdentifier } from '../../ground/api/identifiers.js';
import type {
  MetricLabels,
  PluginLogger,
  PluginMetrics,
  PluginServices,
  StoredFeature,
  StoreReader,
} from '../../ground/api/services.js';
import type { ServiceToken } from '../../ground/api/service-token.js';
import type { JsonObject } from '../../ground/api/types.js';
import { LruCache } from '../../ground/core/lru-cache.js';

/** A line that a plugin logged. */
export interface LoggedLine {
  readonly level: keyof PluginLogger;
  readonly message: string;
  readonly data: JsonObject | undefined;
}

/** A value that a plugin gave to one of its metrics. */
export interface Sample {
  readonly metric: string;
  readonly value: number;
  readonly labels: MetricLabels;
}

/** What the fake store holds. */
export interface FakeStoreContent {
  /** By type, then by id. */
  readonly entities?: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;
  /** By `view:feature`, then by id, or by the ids of several entities with commas. */
  readonly features?: Readonly<Record<string, Readonly<Record<string, StoredFeature>>>>;
}

/** What takes the place of the services of packages, by name. */
export type FakeSharedServices = Readonly<Record<string, unknown>>;

/** The services of a plugin, for tests. They keep what the plugin logs and counts, and their clock stands still. */
export class FakeServices implements PluginServices {
  readonly lines: LoggedLine[] = [];
  readonly samples: Sample[] = [];
  readonly logger: PluginLogger;
  readonly metrics: PluginMetrics;
  readonly store: StoreReader;
  readonly service: PluginServices['service'];
  /** Epoch milliseconds. Set it to let time pass. */
  time: number;

  constructor(
    content: FakeStoreContent & { readonly time?: number; readonly services?: FakeSharedServices } = {},
  ) {
    this.time = content.time ?? 0;
    const log =
      (level: keyof PluginLogger) =>
      (message: string, data?: JsonObject): void =>
        void this.lines.push({ level, message, data });
    this.logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
    const sample = (metric: string, value: number, labels: MetricLabels = {}): void =>
      void this.samples.push({ metric, value, labels });
    this.metrics = {
      counter: (name) => ({ add: (by = 1, labels) => sample(name, by, labels) }),
      histogram: (name) => ({ observe: (value, labels) => sample(name, value, labels) }),
    };
    this.store = new FakeReader(content);
    this.service = <T>(name: ServiceToken<T>): T => {
      const { services = {} } = content;
      if (!Object.hasOwn(services, name)) throw new Error(`the test gives no service \`${name}\``);
      return services[name] as T;
    };
  }

  readonly now = (): number => this.time;

  readonly cache: PluginServices['cache'] = ({ entries, ttlMs = Infinity }) =>
    new LruCache(entries, ttlMs, this.now);

  /** What the runtime gives to `create` as services. */
  get services(): PluginServices {
    const { logger, metrics, now, cache, store, service } = this;
    return { logger, metrics, now, cache, store, service };
  }
}

class FakeReader implements StoreReader {
  constructor(private readonly content: FakeStoreContent) {}

  entities(
    type: string,
    ids: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, JsonObject | null>> {
    return answer(signal, () => {
      const known = this.content.entities?.[type] ?? {};
      return new Map(ids.map((id) => [id, Object.hasOwn(known, id) ? (known[id] ?? null) : null]));
    });
  }

  features(
    feature: string,
    keys: readonly (EntityIdentifier | readonly EntityIdentifier[])[],
    signal: AbortSignal,
  ): Promise<readonly StoredFeature[]> {
    return answer(signal, () => {
      const known = this.content.features?.[feature];
      if (known === undefined) throw new Error(`the test sets no feature ${feature}`);
      return keys.map((key) => {
        const parts = Array.isArray(key) ? (key as readonly EntityIdentifier[]) : [key as EntityIdentifier];
        return known[parts.map(({ id }) => id).join(',')] ?? { value: undefined, status: 'NOT_FOUND' };
      });
    });
  }
}

async function answer<T>(signal: AbortSignal, read: () => T): Promise<T> {
  await Promise.resolve();
  signal.throwIfAborted();
  return read();
}
