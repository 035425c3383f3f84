/**
 * The contract of a service that plugins share, such as a pool of connections. A package exports services by name:
 * `export const services = { pool: defineService({ … }) }`. Plugins of any package of the project ask for one in their
 * `create`: `context.service(serviceToken<Pool>('pool'))`. `services:` in millrace.yaml has the options.
 *
 * A service is created once in a process, when a project with its package is loaded, and before any plugin. A reload keeps it
 * while the code of the package, the options, and the services that it needs are unchanged. It is closed when no loaded
 * project has it any more, after the plugins and after the services that need it.
 */
import type { PluginServices } from './services.js';
import type { JsonObject } from './types.js';

/** What a service may use of the runtime. `service` finds those that it `needs`. */
export type ServiceContext = Omit<PluginServices, 'store' | 'cache'>;

export interface ServicePluginOf<Value, Options> {
  /** One line, for the docs and for messages. */
  readonly summary: string;
  /** JSON Schema of its options; by default it has none. An option with `"writeOnly": true` is a secret. */
  readonly options?: JsonObject;
  /** The names of services that it uses. They are created earlier, and closed later. */
  readonly needs?: readonly string[];
  /**
   * Makes the value, within a minute; a later one is closed at once. `millrace validate` and other commands call it too, so connect late where you can.
   * @throws Error to report why it cannot start
   */
  create(options: Options, context: ServiceContext): Value | Promise<Value>;
  /** Called once, when nothing uses the value any more. It may take ten seconds. */
  close?(value: Value): void | Promise<void>;
  /** Shows in `/readyz`, which is 503 while it throws. It may take a second. */
  health?(value: Value, signal: AbortSignal): void | Promise<void>;
}

/** A service whose types only its own code knows. Its name is the key of the exported object. */
export type ServicePlugin = ServicePluginOf<never, never>;

/** Gives a service its type; the runtime checks options against the schema before `create` sees them. */
export function defineService<Value, Options>(service: ServicePluginOf<Value, Options>): ServicePlugin {
  return service as unknown as ServicePlugin;
}
