import { Counter, Gauge, type Registry } from 'prom-client';

/** The version of the project in service, and the outcomes of reloads. */
export interface ReloadSource {
  readonly counts: { readonly succeeded: number; readonly failed: number };
  readonly lastFailed: boolean;
  readonly current: {
    readonly version: string;
    /** Epoch milliseconds. */
    readonly loadedAt: number;
    readonly models: readonly {
      readonly pipeline: string;
      readonly step: string;
      readonly version: string;
    }[];
  };
}

/**
 * Adds the metrics of reloads and of the loaded version to a registry. The values are collected when the registry is
 * read.
 */
export function countReloads(registry: Registry, source: ReloadSource): void {
  const registers = [registry];
  new Counter({
    name: 'millrace_reloads_total',
    help: 'Reloads of the project since the process started, by outcome: succeeded or failed.',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      this.inc({ outcome: 'succeeded' }, source.counts.succeeded);
      this.inc({ outcome: 'failed' }, source.counts.failed);
    },
  });
  new Gauge({
    name: 'millrace_last_reload_successful',
    help: '1 if the last reload succeeded or there was none, 0 if it failed.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(source.lastFailed ? 0 : 1);
    },
  });
  new Gauge({
    name: 'millrace_project_loaded_timestamp_seconds',
    help: 'When the current version of the project was loaded, in seconds since the epoch.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(source.current.loadedAt / 1000);
    },
  });
  new Gauge({
    name: 'millrace_project_info',
    help: "Always 1; the label `version` is a hash of the content of the project's files.",
    aggregator: 'max',
    labelNames: ['version'],
    registers,
    collect() {
      this.reset();
      this.set({ version: source.current.version }, 1);
    },
  });
  new Gauge({
    name: 'millrace_model_info',
    help: "Always 1, for each loaded model; the label `version` is a hash of the content of the model's file.",
    aggregator: 'max',
    labelNames: ['pipeline', 'step', 'version'],
    registers,
    collect() {
      this.reset();
      for (const model of source.current.models) this.set({ ...model }, 1);
    },
  });
}
