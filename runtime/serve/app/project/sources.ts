import type { CompiledSource } from '../../../request/compile/compile-source.js';
import type { HttpMetrics } from '../../metrics/http-metrics.js';
import type { Intake, SourceTarget } from '../../sources/intake.js';
import { intakeOf } from '../../sources/intake-of.js';
import type { ServiceLoad } from '../../sources/pace.js';
import { RunningSource, type SourceState } from '../../sources/running-source.js';
import type { SourceLog } from '../../sources/source-log.js';
import type { Generation } from './generation.js';

/** The parts of a generation that sources write to. */
type Stores = Pick<Generation, 'config' | 'entities' | 'features' | 'feedback'>;

/** What sources use of the process. */
export interface SourceHost {
  /** The project that serves now. */
  readonly current: () => Stores;
  readonly log: SourceLog;
  readonly metrics?: Pick<HttpMetrics, 'recorded'>;
  /** How busy the process is; undefined if it answers no requests. */
  readonly load?: () => ServiceLoad;
}

interface OpenSource {
  readonly key: string;
  readonly running: RunningSource;
}

/** The sources of a process. They live as long as the process, and follow the files of the project. */
export class Sources {
  readonly #host: SourceHost;
  readonly #open = new Map<string, OpenSource>();
  #isClosed = false;

  constructor(host: SourceHost) {
    this.#host = host;
  }

  /**
   * Reads the sources of a project that was loaded. A source whose file did not change goes on.
   * @returns when the sources that are no longer used have settled what they read
   */
  async use(compiled: readonly CompiledSource[]): Promise<void> {
    if (this.#isClosed) return;
    const stopped: Promise<void>[] = [];
    const keys = new Map(compiled.map(({ definition, key }) => [definition.name, key]));
    for (const [name, { key, running }] of this.#open)
      if (keys.get(name) !== key) {
        this.#open.delete(name);
        stopped.push(running.stop());
      }
    // One consumer of a group has one name, so a changed source begins after the one before has ended.
    await Promise.all(stopped);
    for (const one of compiled) this.#start(one);
  }

  states(): readonly SourceState[] {
    return this.running();
  }

  running(): readonly RunningSource[] {
    return Array.from(this.#open.values(), ({ running }) => running);
  }

  /** The warnings of /readyz about sources that do not answer. */
  warnings(): readonly { readonly code: string; readonly detail: string }[] {
    return this.states().flatMap(({ name, lost }) =>
      lost === undefined
        ? []
        : [{ code: 'source_lost', detail: `the source ${name} does not answer: ${lost}; rankings go on` }],
    );
  }

  /** Stops reading. Resolves when what was read is stored and settled. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(Array.from(this.#open.values(), ({ running }) => running.stop()));
  }

  #start({ definition, key, source }: CompiledSource): void {
    const { name } = definition;
    if (this.#isClosed || this.#open.has(name)) return;
    const { current, log, load, metrics } = this.#host;
    let intake: { readonly stores: Stores; readonly intake: Intake } | undefined;
    const running = new RunningSource(
      source,
      () => {
        const stores = current();
        if (intake?.stores !== stores)
          intake = { stores, intake: intakeOf(definition, stores.config, targetOf(stores, metrics)) };
        return intake.intake;
      },
      { name, log, load },
    );
    this.#open.set(name, { key, running });
  }
}

/** Stores rows and events in this process. */
export function targetOf(
  { entities, features, feedback }: Pick<Generation, 'entities' | 'features' | 'feedback'>,
  metrics?: Pick<HttpMetrics, 'recorded'>,
): SourceTarget {
  return {
    async feedback(body) {
      // A backlog is often older than counters remember.
      const { answer, counts, uncounted } = await feedback.record(body, undefined, 'leave_out');
      metrics?.recorded(counts);
      return { ...answer, uncounted };
    },
    async upload(entityType, rows) {
      await entities.upload({ entity_type: entityType, entities: rows.map(({ value }) => value) });
    },
    update: (entityType, rows, create) =>
      entities.update({ entity_type: entityType, entities: rows.map(({ value }) => value), create }),
    push: async (view, rows) => features.push({ view, rows: rows.map(({ value }) => value) }),
  };
}
