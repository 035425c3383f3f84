import type { Registry } from 'prom-client';
import type { InstanceBoard } from '../../state/instances/instance-board.js';
import {
  LiveMeter,
  SAMPLE_MS,
  type InstanceList,
  type ShownInstance,
  type ToldInstance,
} from '../metrics/live-meter.js';

/** An instance that published nothing for so many milliseconds is stale: its rates no longer apply. */
const STALE_MS = 4 * SAMPLE_MS;

/** The project that the instance serves. */
interface ServedProject {
  readonly version: string;
  readonly pipelines: readonly { readonly name: string; readonly route: string }[];
}

interface LiveParts {
  readonly registry: () => Registry;
  /** Undefined if only this process can use the store. */
  readonly board: InstanceBoard<ToldInstance> | undefined;
  /** Unique among running instances. */
  readonly instance: string;
  readonly now: () => number;
}

/** All instances of the service. A process that ranks publishes its state every few seconds. */
export class LiveInstances {
  readonly #parts: LiveParts;
  readonly #started: number;
  #own: ToldInstance | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The publication in flight. */
  #publishing: Promise<void> | undefined;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#started = parts.now();
  }

  /** Publishes the state of this process now and every few seconds. It does not wait: the store may be slow. */
  begin(served: () => ServedProject): void {
    const { registry, board, instance, now } = this.#parts;
    const meter = new LiveMeter(registry());
    const started = new Date(this.#started).toISOString();
    const publish = async (): Promise<void> => {
      const seen = now();
      await meter.sample(seen);
      const { version, pipelines } = served();
      this.#own = { instance, seen, started, project: version, ...meter.state(pipelines) };
      await board?.tell(instance, this.#own, seen);
    };
    const begin = (): void => {
      // A failure is ignored: the store monitor logs that the store is lost, and the next interval retries.
      this.#publishing ??= publish()
        .catch(() => undefined)
        .finally(() => (this.#publishing = undefined));
    };
    begin();
    this.#timer = setInterval(begin, SAMPLE_MS).unref();
  }

  /** @throws MillraceError with a code of STORE_READ_FAILURES */
  async list(): Promise<InstanceList> {
    const { board, instance, now } = this.#parts;
    const at = now();
    const told = (await board?.list(at)) ?? [];
    const own = this.#own === undefined ? [] : [this.#own];
    const all = [...own, ...told.filter((one) => own.length === 0 || one.instance !== instance)];
    const instances = all
      .map(({ seen, ...one }): ShownInstance => ({
        ...one,
        seen: new Date(seen).toISOString(),
        state: at - seen > STALE_MS ? 'stale' : 'current',
      }))
      .sort((a, b) => (a.instance < b.instance ? -1 : 1));
    return { at: new Date(at).toISOString(), instances };
  }

  /** Removes the entry of this process. Never rejects. */
  async close(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#publishing;
    const { board, instance, now } = this.#parts;
    await board?.tell(instance, null, now()).catch(() => undefined);
  }
}
