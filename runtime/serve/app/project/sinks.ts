import type { CompiledSink } from '../../../request/compile/compile-sink.js';
import { eventsOfRecord } from '../../../state/ledger/events.js';
import { RunningLedger, type LedgerObserver } from '../../../state/ledger/ledger.js';
import { PluginSink, type SinkBinding } from '../../../state/ledger/plugin-sink.js';

/** How long a sink that was removed from the project may still write what waits for it; milliseconds. */
const REMOVED_MS = 10_000;

interface OpenSink {
  readonly key: string;
  readonly sink: PluginSink;
}

/** The ledger of a service, and its sinks. They live as long as the process, and follow the files of the project. */
export class Sinks {
  readonly ledger: RunningLedger;
  readonly #observer: LedgerObserver;
  readonly #open = new Map<string, OpenSink>();

  constructor(observer: LedgerObserver = {}) {
    this.#observer = observer;
    this.ledger = new RunningLedger([], observer);
  }

  /**
   * Uses the sinks of a project that was loaded. A sink whose file did not change goes on. The records that wait for a
   * changed one go to the new one.
   * @returns when the sinks that are no longer used are closed
   */
  async use(compiled: readonly CompiledSink[]): Promise<void> {
    const replaced: Promise<void>[] = [];
    const names = new Set(compiled.map(({ definition }) => definition.name));
    for (const name of this.#open.keys()) if (!names.has(name)) this.#open.delete(name);
    for (const one of compiled) {
      const { key, definition } = one;
      const open = this.#open.get(definition.name);
      if (open?.key === key) continue;
      if (open !== undefined) replaced.push(open.sink.replace(bindingOf(one)));
      const sink = open?.sink ?? new PluginSink(bindingOf(one), this.#observer);
      this.#open.set(definition.name, { key, sink });
    }
    const removed = this.ledger.use(
      Array.from(this.#open.values(), ({ sink }) => sink),
      REMOVED_MS,
    );
    await Promise.all([removed, ...replaced]);
  }
}

function bindingOf({ definition, sink }: CompiledSink): SinkBinding {
  const { name, take, queueBytes, format } = definition;
  return { name, take, queueBytes, sink, events: format === 'events' ? eventsOfRecord : undefined };
}
