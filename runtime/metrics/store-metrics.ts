import { Counter, Gauge, type Registry } from 'prom-client';
import { STORE_WARNINGS, type StoreMonitor, type StoreWarningCode } from '../store/store-monitor.js';

/** Adds the metrics of the store to a registry. The values are collected when the registry is read. */
export function countStore(registry: Registry, monitor: StoreMonitor): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_store_up',
    help: '0 while a server of the store is lost, otherwise 1.',
    registers,
    collect() {
      this.set(monitor.isUp ? 1 : 0);
    },
  });
  new Counter({
    name: 'millrace_store_outages_total',
    help: 'How often a server of the store was lost for longer than 0.3 s.',
    registers,
    collect() {
      this.reset();
      this.inc(monitor.outages);
    },
  });
  new Counter({
    name: 'millrace_store_read_retries_total',
    help: 'Reads that were sent once more because their connection broke.',
    registers,
    collect() {
      this.reset();
      this.inc(monitor.retries);
    },
  });
  new Gauge({
    name: 'millrace_schema_sampled_records',
    help: 'Stored entities whose values were compared with the schema when the project was loaded.',
    labelNames: ['entity_type'],
    registers,
    collect() {
      this.reset();
      for (const [entity_type, { records }] of monitor.samples) this.set({ entity_type }, records);
    },
  });
  new Gauge({
    name: 'millrace_schema_misfit_values',
    help: 'Values in these entities that do not fit the schema, and read as failed.',
    labelNames: ['entity_type', 'attribute'],
    registers,
    collect() {
      this.reset();
      for (const [entity_type, { misfits }] of monitor.samples)
        for (const [attribute, count] of misfits) this.set({ entity_type, attribute }, count);
    },
  });
  new Gauge({
    name: 'millrace_store_warnings',
    help: 'Warnings about the store that hold now, by code; /readyz and the log have the details.',
    labelNames: ['code'],
    registers,
    collect() {
      for (const code of Object.keys(STORE_WARNINGS) as StoreWarningCode[])
        this.set({ code }, monitor.warnings().filter((warning) => warning.code === code).length);
    },
  });
}
