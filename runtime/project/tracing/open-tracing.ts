import type { Attributes } from '@opentelemetry/api';
import type { Settings } from '../settings/settings.js';
import { accessOf, topologyOf } from '../settings/redis-target.js';
import { redisSettings } from '../settings/redis-settings.js';
import { traitsOf } from '../settings/store-engines.js';
import type { SdkParts } from './own-sdk.js';
import type { Tracing } from './tracing.js';

/** The place where every copy of the OpenTelemetry API keeps what is registered globally. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/**
 * Opens the tracing of the process as the settings say. A preloaded SDK is preferred to one that this function starts.
 * Nothing of OpenTelemetry is loaded if requests are not traced.
 * @returns undefined if requests are not traced
 * @throws MillraceError invalid_setting if the SDK is needed and not installed
 */
export async function openTracing(settings: Settings, parts: SdkParts): Promise<Tracing | undefined> {
  const { traces } = settings;
  const isPreloaded = isSdkPreloaded();
  if (traces === 'off' || (traces === 'auto' && !isPreloaded)) return undefined;
  const sdk = isPreloaded
    ? (await import('./preloaded-sdk.js')).preloadedSdk()
    : await (await import('./own-sdk.js')).startSdk(settings, parts);
  const tracing = await import('./tracing.js');
  return new tracing.Tracing(sdk, storeAttributes(settings));
}

/** Whether a preloaded SDK (`node --import`) has registered itself. */
function isSdkPreloaded(): boolean {
  const registered = (globalThis as { [REGISTRY]?: { readonly trace?: object } })[REGISTRY];
  return registered?.trace !== undefined;
}

/** The store, with the names of the semantic conventions for databases. A cluster or Sentinels have no one address. */
function storeAttributes(settings: Settings): Attributes {
  if (!traitsOf(settings.store).isRedis) return { 'db.system.name': `millrace.${settings.store}` };
  const redis = redisSettings(settings);
  const topology = topologyOf(redis);
  return {
    'db.system.name': 'redis',
    'db.namespace': String(accessOf(redis).database),
    ...(topology.kind === 'single'
      ? { 'server.address': topology.node.host, 'server.port': topology.node.port }
      : {}),
  };
}
