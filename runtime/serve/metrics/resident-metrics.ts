import { Counter, Gauge, type Registry } from 'prom-client';
import type { TableState } from '../../request/resident/resident-tables.js';
import type { ResidentSource } from './resident-source.js';

type Counted = Exclude<keyof TableState, 'type' | 'rows' | 'bytes'>;

const COUNTERS: Readonly<Record<Counted, string>> = {
  hits: 'Requested rows that were cached in the process.',
  misses: 'Requested rows that were not cached in the process and were read from the store.',
  bypasses:
    'Requested rows that were read from the store because the cache could not be trusted at that time.',
  evictions: 'Entities that were evicted to make room for others.',
  invalidations: 'Keys that were invalidated because they were written, here or elsewhere.',
  flushes: 'How often the whole cache was cleared.',
};

const GAUGES = {
  rows: 'Entities that are cached in the process, including entities that are known to be missing.',
  bytes: 'Estimated memory of the cached entities in bytes; MILLRACE_RESIDENT_BYTES limits it.',
} as const;

/** Adds the metrics of the resident tables to a registry. The values are collected when the registry is read. */
export function countResident(registry: Registry, source: ResidentSource): void {
  const registers = [registry];
  for (const name of Object.keys(COUNTERS) as Counted[]) {
    new Counter({
      name: `millrace_resident_${name}_total`,
      help: COUNTERS[name],
      labelNames: ['entity_type'],
      registers,
      collect() {
        this.reset();
        for (const state of source.states()) this.inc({ entity_type: state.type }, state[name]);
      },
    });
  }
  for (const name of Object.keys(GAUGES) as (keyof typeof GAUGES)[]) {
    new Gauge({
      name: `millrace_resident_${name}`,
      help: GAUGES[name],
      labelNames: ['entity_type'],
      registers,
      collect() {
        for (const state of source.states()) this.set({ entity_type: state.type }, state[name]);
      },
    });
  }
  new Gauge({
    name: 'millrace_resident_current',
    help: '1 while the cache is known to equal the store, otherwise 0.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(source.isCurrent() ? 1 : 0);
    },
  });
}
