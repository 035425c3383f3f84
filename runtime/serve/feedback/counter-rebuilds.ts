import { describeError } from '../../ground/core/describe-error.js';
import { MillraceError } from '../../ground/api/errors.js';
import { AS_WORD, didYouMean } from '../../ground/core/nearest.js';
import { nullable, readBody, textField, wholeField } from '../../ground/core/body-fields.js';
import type { CounterDefinition } from '../../project/config/model/counters.js';
import { readGenerations } from '../../state/counters/generation-record.js';
import { NEVER } from '../../state/counters/generations.js';
import { hiddenTypes, isFilled, rebuildCounter, type RebuildParts } from './rebuild-counter.js';

export const REBUILD_STATES = ['running', 'done', 'failed'] as const;

/** `after` is the generation that served before the rebuild whose state is asked for. */
export const REBUILD_BODY = {
  counter: textField(),
  after: nullable(wholeField(0, Number.MAX_SAFE_INTEGER)),
};

const INTERRUPTED = 'it was interrupted, because its process has ended; the counts before it still serve';

export interface RebuildState {
  readonly counter: string;
  readonly state: (typeof REBUILD_STATES)[number];
  /** The generation that serves. A rebuild that is done has raised it. */
  readonly generation: number;
  /** Why it failed. */
  readonly detail: string | null;
}

export interface CounterRebuildsParts extends Omit<RebuildParts, 'isShared' | 'tell'> {
  readonly counters: ReadonlyMap<string, CounterDefinition>;
  /** The entity types whose ids the ledger has as hashes. */
  readonly hashIds: ReadonlySet<string>;
  readonly log: { warn(fields: object, message: string): void };
}

/** Rebuilds counters from the ledger of this service, beside its other work. */
export class CounterRebuilds {
  readonly #parts: CounterRebuildsParts;
  readonly #running = new Set<string>();
  /** By counter: why its last rebuild failed. */
  readonly #failed = new Map<string, string>();

  constructor(parts: CounterRebuildsParts) {
    this.#parts = parts;
  }

  /**
   * Body: `{counter, after?}`. Without `after` it starts a rebuild, unless this process is doing one of the counter. With
   * `after`, the generation that served before, it tells how the rebuild goes.
   * @throws MillraceError invalid_body, unknown_view, store_unavailable
   */
  async rebuild(body: unknown): Promise<RebuildState> {
    const { counter: name, after } = readBody(body, REBUILD_BODY, 'The rebuild');
    const counter = this.#find(name);
    const { serving, building } = await readGenerations(this.#parts.store, this.#parts.prefix, name);
    if (after === undefined && !this.#running.has(name)) this.#start(counter);
    const isRunning = this.#running.has(name) || isFilled(building, (this.#parts.clock ?? Date.now)());
    const state = after !== undefined && serving > after ? 'done' : isRunning ? 'running' : 'failed';
    const isCut = building !== undefined && building.from !== NEVER;
    const elsewhere = isCut ? INTERRUPTED : 'the log of another instance says why';
    const detail = state === 'failed' ? (this.#failed.get(name) ?? elsewhere) : null;
    return { counter: name, state, generation: serving, detail };
  }

  #find(name: string): CounterDefinition {
    const { counters } = this.#parts;
    const found = counters.get(name);
    if (found !== undefined) return found;
    throw new MillraceError(
      'unknown_view',
      `the project has no counter ${name.slice(0, 100)}; ${didYouMean(name, counters.keys(), AS_WORD) ?? `it has ${[...counters.keys()].join(', ') || 'none'}`}`,
    );
  }

  #start(counter: CounterDefinition): void {
    const { name } = counter;
    const { log, hashIds, ledger } = this.#parts;
    const work = async (): Promise<void> => {
      try {
        const hidden = hiddenTypes(counter, hashIds);
        if (hidden.length > 0)
          throw new Error(`the ledger has hashes instead of the ids of ${hidden.join(', ')}`);
        // If another instance began a rebuild after this one, the state is that of the other.
        await rebuildCounter(counter, { ...this.#parts, isShared: true });
      } catch (error) {
        const { message, path } = error as NodeJS.ErrnoException;
        this.#failed.set(
          name,
          path === ledger ? 'the service has no ledger; it writes one if a pipeline has `log:`' : message,
        );
        log.warn({ counter: name, error: describeError(error) }, 'a counter could not be rebuilt');
      } finally {
        this.#running.delete(name);
      }
    };
    this.#failed.delete(name);
    this.#running.add(name);
    void work();
  }
}
