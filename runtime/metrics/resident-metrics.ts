import { Counter, Gauge, type Registry } from 'prom-client';
import type { TableState } from '../resident/resident-tables.js';
import type { ResidentSource } from './resident-source.js';

type Counted = Exclude<keyof TableState, 'type' | 'rows' | 'bytes'>;

const COUNTERS: Readonly<Record<Counted, string>> = {
  hits: 'Rows of requests that were found in the process.',
  misses: 'Rows of requests that were not found in the process, and were read from the store.',
  bypasses: 'Rows of requests read from the store while what the process keeps could not be trusted.',
  evictions: 'Entities that made room for others.',
  invalidations: 'Keys told to have been written, here or elsewhere.',
  flushes: 'Times that everything was dropped.',
};

const GAUGES = {
  rows: 'Entities kept in the process, those known to be missing included.',
  bytes: 'Memory of the entities kept in the process, as it is reckoned for MILLRACE_RESIDENT_BYTES.',
} as const;

/** Adds what the resident tables count to a registry; it is gathered when the registry is read. */
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
    help: '1 while what the process keeps is known to be what the store holds, else 0.',
    registers,
    collect() {
      this.set(source.isCurrent() ? 1 : 0);
    },
  });
}
