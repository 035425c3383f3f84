import { Counter, Gauge, type Registry } from 'prom-client';

/** The version of the project in service, and the outcomes of reloads. */
export interface ReloadSource {
  readonly counts: Readonly<Record<'succeeded' | 'failed' | 'held' | 'refused', number>>;
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
    help: 'Reloads of the project since the process started, by outcome: succeeded, failed, refused (the condition does not hold), or held (by a rollback).',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(source.counts)) this.inc({ outcome }, count);
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

/** The rollback of a service, as this instance knows it. */
export interface RollbackSource {
  /** The version of the release that holds reloads. */
  readonly heldBy: string | undefined;
  /** Whether this instance serves something else. */
  readonly isPending: boolean;
}

/** Adds the metrics of rollbacks to a registry. */
export function countRollbacks(registry: Registry, source: RollbackSource): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_rolled_back',
    help: '1 if a rollback holds reloads; the label `version` is the version of the project that it brings back.',
    aggregator: 'max',
    labelNames: ['version'],
    registers,
    collect() {
      this.reset();
      if (source.heldBy !== undefined) this.set({ version: source.heldBy }, 1);
    },
  });
  new Gauge({
    name: 'millrace_rollback_pending',
    help: '1 if the service is rolled back and this instance serves another version: not yet, or it cannot.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(source.isPending ? 1 : 0);
    },
  });
}

/** The comparison of a new model with the one before. */
export interface AgreementSource {
  readonly counts: { readonly compared: number; readonly failed: number; readonly busy: number };
  values(): readonly { readonly pipeline: string; readonly agreement: number }[];
}

/** Adds the metrics of new models to a registry. */
export function countAgreement(registry: Registry, source: AgreementSource): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_model_agreement',
    help: 'How alike a new model and the one before rank the last compared requests: 1 alike, 0 as two random orders.',
    aggregator: 'min',
    labelNames: ['pipeline'],
    registers,
    collect() {
      this.reset();
      for (const { pipeline, agreement } of source.values()) this.set({ pipeline }, agreement);
    },
  });
  new Counter({
    name: 'millrace_model_comparisons_total',
    help: 'Requests that were chosen to compare a new model, by outcome: compared, failed (with the new model), or busy (not compared).',
    labelNames: ['outcome'],
    registers,
    collect() {
      this.reset();
      for (const [outcome, count] of Object.entries(source.counts)) this.inc({ outcome }, count);
    },
  });
}
