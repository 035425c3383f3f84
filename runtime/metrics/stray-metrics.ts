import { Counter, type Registry } from 'prom-client';

/** Errors of plugins that nothing caught, counted. Made before the service, since its plugins may fail as it starts. */
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
