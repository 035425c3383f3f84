import { Counter, Gauge, type Registry } from 'prom-client';
import type { StoreCheck } from '../../state/store/store-check.js';
import { STORE_WARNINGS, type StoreMonitor, type StoreWarningCode } from '../../state/store/store-monitor.js';

/** Adds the metrics of the store to a registry. The values are collected when the registry is read. */
export function countStore(registry: Registry, monitor: StoreMonitor, check: StoreCheck): void {
  const registers = [registry];
  new Gauge({
    name: 'millrace_store_up',
    help: '0 while a server of the store is lost, otherwise 1.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(monitor.isUp ? 1 : 0);
    },
  });
  new Gauge({
    name: 'millrace_store_ready',
    help: '1 if the store answers and accepts writes, otherwise 0; checked at each scrape.',
    aggregator: 'min',
    registers,
    async collect() {
      this.set((await check.run()).status === 'OK' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'millrace_store_memory_used_ratio',
    help: 'Share of the maxmemory of Redis that is used, 0 to 1, on the fullest server; absent without a maxmemory.',
    aggregator: 'max',
    registers,
    collect() {
      if (monitor.memoryUsed === undefined) this.remove();
      else this.set(monitor.memoryUsed);
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
    aggregator: 'max',
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
    aggregator: 'max',
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
    aggregator: 'max',
    labelNames: ['code'],
    registers,
    collect() {
      for (const code of Object.keys(STORE_WARNINGS) as StoreWarningCode[])
        this.set({ code }, monitor.warnings().filter((warning) => warning.code === code).length);
    },
  });
}
