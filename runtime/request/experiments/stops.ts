import type { Store } from '../../state/store/store.js';
import { experimentStopKey } from '../../state/store/keys.js';

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
  readonly #stopped = new Set<string>();
  /** Counts reads when they are sent, and changes when they are confirmed. */
  #count = 0;
  /** By experiment: the count of the read or change that its state comes from. An older answer does not replace it. */
  readonly #counts = new Map<string, number>();
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
    // Those of earlier projects are followed as well, since one of them may still serve.
    this.#names = [...new Set([...this.#names, ...names])];
    if (this.#names.length === 0) return;
    await this.read(this.#names);
    this.#timer ??= setInterval(() => {
      this.#polling ??= this.read(this.#names)
        .catch(() => undefined)
        .finally(() => (this.#polling = undefined));
    }, POLL_MS).unref();
  }

  /** Stops an experiment on all instances. @throws StoreWriteError */
  async stop(experiment: string, now: number): Promise<void> {
    const value = Buffer.from(JSON.stringify({ format: 1, stopped: new Date(now).toISOString() }));
    await this.#store.write([{ key: experimentStopKey(this.#prefix, experiment), value }]);
    this.#set(experiment, true, ++this.#count);
  }

  /** Lets a stopped experiment go on, with the same arms. @throws StoreWriteError */
  async resume(experiment: string): Promise<void> {
    await this.#store.remove([experimentStopKey(this.#prefix, experiment)]);
    this.#set(experiment, false, ++this.#count);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#polling;
  }

  /** Reads which of the experiments were stopped. @throws MillraceError with a code of STORE_READ_FAILURES */
  async read(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const count = ++this.#count;
    const values = await this.#store.read(names.map((name) => experimentStopKey(this.#prefix, name)));
    for (const [index, name] of names.entries()) this.#set(name, values[index] !== null, count);
  }

  #set(experiment: string, isStopped: boolean, count: number): void {
    if (count < (this.#counts.get(experiment) ?? 0)) return;
    this.#counts.set(experiment, count);
    if (isStopped) this.#stopped.add(experiment);
    else this.#stopped.delete(experiment);
  }
}
