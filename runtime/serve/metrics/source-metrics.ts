import { Counter, Gauge, type Registry } from 'prom-client';
import { OUTCOMES } from '../sources/intake.js';
import type { SourceState } from '../sources/running-source.js';

/** Shows the sources of a service in /metrics. @param states of the sources that run now */
export function countSources(registry: Registry, states: () => readonly SourceState[]): void {
  const registers = [registry];
  // A source that was removed from the project keeps its counts until the process ends.
  new Counter({
    name: 'millrace_source_messages_total',
    help: 'Messages of a source that were stored or rejected, and settled.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const { name, messages } of states()) this.inc({ source: name }, messages);
    },
  });
  new Counter({
    name: 'millrace_source_rows_total',
    help:
      'What the messages of a source became, by outcome: stored, duplicates, too_old, unused, and of all these uncounted (events); stored, older, expired (rows); ' +
      'skipped (messages that hold nothing for it), rejected (messages that cannot be stored).',
    labelNames: ['source', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const { name, totals } of states())
        for (const outcome of OUTCOMES) {
          const count = totals[outcome];
          if (count !== undefined) this.inc({ source: name, outcome }, count);
        }
    },
  });
  new Counter({
    name: 'millrace_source_retries_total',
    help: 'Attempts to read a source, or to store its messages, that failed and were repeated.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const { name, retries } of states()) this.inc({ source: name }, retries);
    },
  });
  new Counter({
    name: 'millrace_source_slowed_seconds_total',
    help: 'How long a source paused because the service was busy with requests.',
    labelNames: ['source'],
    registers,
    collect() {
      this.reset();
      for (const { name, slowedMs } of states()) this.inc({ source: name }, slowedMs / 1000);
    },
  });
  new Gauge({
    name: 'millrace_source_lag_messages',
    help: 'Messages that were added and not read yet by the group of a source.',
    labelNames: ['source'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      for (const { name, backlog } of states())
        if (typeof backlog?.lag === 'number') this.set({ source: name }, backlog.lag);
    },
  });
  new Gauge({
    name: 'millrace_source_up',
    help: '1 if a source answers, 0 if it does not.',
    labelNames: ['source'],
    aggregator: 'min',
    registers,
    collect() {
      this.reset();
      for (const { name, lost } of states()) this.set({ source: name }, lost === undefined ? 1 : 0);
    },
  });
  new Gauge({
    name: 'millrace_source_last_settled_timestamp_seconds',
    help: 'When messages of a source were last stored and settled, in seconds since the epoch.',
    labelNames: ['source'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset();
      for (const { name, settledAt } of states())
        if (settledAt !== undefined) this.set({ source: name }, settledAt / 1000);
    },
  });
}
