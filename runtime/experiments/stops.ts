import type { Store } from '../store/store.js';
import { experimentStopKey } from '../store/keys.js';

/** How often an instance asks the store, in milliseconds. */
const POLL_MS = 500;

/**
 * The experiments that were stopped while the service runs. The store has a record for each, so all instances of a
 * service stop an experiment within POLL_MS, and none starts it again when it restarts. If the store cannot be read, the
 * last answer counts.
 */
export class Stops {
  readonly #store: Store;
  readonly #prefix: string;
  #names: readonly string[] = [];
  #stopped: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;

  constructor(store: Store, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  has(experiment: string): boolean {
    return this.#stopped.has(experiment);
  }

  /**
   * Follows the experiments of a project.
   * @throws MillraceError with a code of STORE_READ_FAILURES
   */
  async follow(names: readonly string[]): Promise<void> {
    // Those of the project that still serves are followed as well, until the next reload.
    this.#names = [...new Set([...this.#names, ...names])];
    if (this.#names.length === 0) return;
    await this.#read();
    this.#timer ??= setInterval(() => {
      this.#polling ??= this.#read()
        .catch(() => undefined)
        .finally(() => (this.#polling = undefined));
    }, POLL_MS).unref();
  }

  /** Stops an experiment on all instances. @throws StoreWriteError */
  async stop(experiment: string, now: number): Promise<void> {
    const value = Buffer.from(JSON.stringify({ format: 1, stopped: new Date(now).toISOString() }));
    await this.#store.write([{ key: experimentStopKey(this.#prefix, experiment), value }]);
    this.#stopped = new Set([...this.#stopped, experiment]);
  }

  /** Lets a stopped experiment go on, with the same arms. @throws StoreWriteError */
  async resume(experiment: string): Promise<void> {
    await this.#store.remove([experimentStopKey(this.#prefix, experiment)]);
    this.#stopped = new Set([...this.#stopped].filter((name) => name !== experiment));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  async #read(): Promise<void> {
    const names = this.#names;
    const values = await this.#store.read(names.map((name) => experimentStopKey(this.#prefix, name)));
    this.#stopped = new Set(names.filter((_, index) => values[index] !== null));
  }
}
