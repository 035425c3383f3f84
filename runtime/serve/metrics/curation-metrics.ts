import { Gauge, type Registry } from 'prom-client';

/** A list of rules in service. */
interface CuratedList {
  readonly name: string;
  readonly rules: Readonly<Record<'file' | 'api', readonly unknown[]>>;
  readonly refused: Readonly<Partial<Record<'file' | 'api', unknown>>>;
}

/** The lists of a project. */
interface Curation {
  states(): readonly CuratedList[];
  readonly isStale: boolean;
}

/** Adds the metrics of curation lists to a registry. The values are collected when the registry is read. */
export function countCuration(registry: Registry, curation: () => Curation): void {
  const registers = [registry];
  const lists = (): readonly CuratedList[] => curation().states();
  const labelNames = ['list', 'source'];
  new Gauge({
    name: 'millrace_curation_rules',
    help: 'Rules of a curation list in service, by list and source: file or api.',
    aggregator: 'max',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, rules } of lists())
        for (const source of ['file', 'api'] as const) this.set({ list: name, source }, rules[source].length);
    },
  });
  new Gauge({
    name: 'millrace_curation_refused',
    help: '1 if the newest rules of a curation list have errors, so that the older ones serve; otherwise 0.',
    aggregator: 'max',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { name, refused } of lists())
        for (const source of ['file', 'api'] as const)
          this.set({ list: name, source }, refused[source] === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'millrace_curation_stale',
    help: '1 if the stored rules of curation lists could not be read at the last poll, so that newer ones may exist; otherwise 0.',
    aggregator: 'max',
    registers,
    collect() {
      this.set(curation().isStale ? 1 : 0);
    },
  });
}
