import type { Registry } from 'prom-client';
import type { InstanceBoard } from '../../state/instances/instance-board.js';
import {
  LiveMeter,
  SAMPLE_MS,
  type InstanceList,
  type ShownInstance,
  type ToldInstance,
} from '../metrics/live-meter.js';

/** An instance that said nothing for so many milliseconds is stale: what it said holds no more. */
const STALE_MS = 4 * SAMPLE_MS;

/** The project that the instance serves. */
interface ServedProject {
  readonly version: string;
  readonly pipelines: readonly { readonly name: string; readonly route: string }[];
}

interface LiveParts {
  readonly registry: () => Registry;
  /** Undefined if no other process can use the store: then there is no other instance. */
  readonly board: InstanceBoard<ToldInstance> | undefined;
  /** Unique among running instances. */
  readonly instance: string;
  readonly now: () => number;
}

/** All instances of the service. A process that ranks says every few seconds how it is. */
export class LiveInstances {
  readonly #parts: LiveParts;
  readonly #started: number;
  #own: ToldInstance | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSaying = false;
  /** Settles when what is being said is said. */
  #saying: Promise<void> = Promise.resolve();

  constructor(parts: LiveParts) {
    this.#parts = parts;
    this.#started = parts.now();
  }

  /** Begins to say how this process is. A start does not wait for it: the store may be slow. */
  begin(served: () => ServedProject): void {
    const { registry, board, instance, now } = this.#parts;
    const meter = new LiveMeter(registry());
    const say = async (): Promise<void> => {
      const seen = now();
      await meter.sample(seen);
      const { version, pipelines } = served();
      const started = new Date(this.#started).toISOString();
      this.#own = { instance, seen, started, project: version, ...meter.state(pipelines) };
      await board?.tell(instance, this.#own, seen);
    };
    const begin = (): void => {
      if (this.#isSaying) return;
      this.#isSaying = true;
      // A store that is lost is told by the store monitor; the next time retries.
      const ended = (): void => void (this.#isSaying = false);
      this.#saying = say().then(ended, ended);
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

  /** Takes back what this process said. Never rejects. */
  async close(): Promise<void> {
    if (this.#timer === undefined) return;
    clearInterval(this.#timer);
    await this.#saying;
    const { board, instance, now } = this.#parts;
    await board?.tell(instance, null, now()).catch(() => undefined);
  }
}
