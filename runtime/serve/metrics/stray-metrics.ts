import { Counter, type Registry } from 'prom-client';

/**
 * Counts errors of plugins that nothing caught. It is created before the service, because plugins may fail during
 * start-up.
 */
export class StrayMetrics {
  readonly #errors = new Counter({
    name: 'millrace_plugin_stray_errors_total',
    help:
      'Uncaught errors of plugins, by kind: exception (thrown in a late callback) or rejection (of a promise that nothing ' +
      'awaits). The service continues.',
    labelNames: ['plugin', 'kind'],
    registers: [],
  });

  count(plugin: string, kind: string): void {
    this.#errors.inc({ plugin, kind });
  }

  register(registry: Registry): void {
    registry.registerMetric(this.#errors);
  }
}
