import type { Logger } from 'pino';
import type { PluginLogger, PluginServices, StoreReader } from '../../../ground/api/services.js';
import type { JsonObject } from '../../../ground/api/types.js';
import { LruCache } from '../../../ground/core/lru-cache.js';
import { PluginMetricsRegistry } from '../../metrics/plugin-metrics.js';
import type { RunningServices, SharedServices } from './shared-services.js';
import type { Caller } from '../../../language/outbound/http-connector.js';

/** The parts of the process that plugins use. */
export interface PluginHost {
  /** Undefined: what plugins log is dropped. */
  readonly logger?: Logger | undefined;
  readonly metrics: PluginMetricsRegistry;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** The services of packages that all loaded projects share; by default each has its own. */
  readonly running?: RunningServices;
}

/** For commands that only check a project: nothing is logged, and nobody reads the metrics. */
export function offlineHost(): PluginHost {
  return { metrics: new PluginMetricsRegistry(), now: Date.now };
}

/** What plugins may use of their project. */
export interface ProjectServices {
  readonly reader: StoreReader;
  readonly shared: Pick<SharedServices, 'get'>;
}

/** Makes the services of a plugin. @param user the step or sink that uses it */
export function pluginServices(
  { logger, metrics, now }: PluginHost,
  { reader: store, shared }: ProjectServices,
  plugin: string,
  { pipeline, step }: Caller,
): PluginServices {
  const place = pipeline === '' ? { sink: step } : { pipeline, step };
  return {
    logger: loggerOf(logger?.child({ plugin, ...place })),
    metrics: metrics.of(plugin),
    now,
    cache: ({ entries, ttlMs = Infinity }) => new LruCache(entries, ttlMs, now),
    store,
    service: (token) => shared.get(token) as never,
  };
}

function loggerOf(logger: Logger | undefined): PluginLogger {
  const write =
    (level: keyof PluginLogger) =>
    (message: string, data: JsonObject = {}): void =>
      // Under a member of its own, so that no plugin can replace the level or the time of a line.
      logger?.[level](Object.keys(data).length === 0 ? {} : { data }, message);
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
