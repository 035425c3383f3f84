import { MillraceError } from '../../../ground/api/errors.js';
import { Usage } from '../../../ground/core/usage.js';
import type { Pipeline } from '../../../request/pipeline/types.js';

/** The most pipelines that are kept with open params. */
const MOST_KEPT = 2;
/** How long one is kept after its last use, milliseconds. */
const KEPT_MS = 5 * 60_000;
/** How long a request waits until one is compiled, milliseconds: less than a request may take. */
const WAITS_MS = 10_000;

/** A pipeline of the files of the project with open params. */
interface OpenTrial {
  readonly version: string;
  readonly pipelines: readonly Pipeline[];
  retire(): Promise<unknown>;
}

type OpensTrial = (pipeline: string) => Promise<OpenTrial>;

interface Kept {
  readonly version: string;
  readonly pipeline: string;
  readonly generation: Promise<OpenTrial>;
  readonly usage: Usage;
  timer?: NodeJS.Timeout;
}

/**
 * Pipelines with open params, so that a process that ranks can try other values. The plans that rank have fixed params. One
 * is compiled when somebody first tries a value, one at a time; at most two are kept, each until five minutes after its last use.
 */
export class Trials {
  #opens: OpensTrial | undefined;
  #kept: Kept[] = [];
  #compiling: Promise<unknown> = Promise.resolve();

  /** @param opens compiles one pipeline of the project for tuning; without it, nothing is tried */
  use(opens: OpensTrial): void {
    this.#opens = opens;
  }

  /**
   * Runs a request on a pipeline with open params.
   * @param version of the project that serves
   * @throws MillraceError comparisons_elsewhere if the files are not those that serve; overloaded while it is compiled
   */
  async run<T>(version: string, pipeline: string, work: (pipeline: Pipeline) => Promise<T>): Promise<T> {
    const one = this.#of(version, pipeline);
    one.usage.begin();
    try {
      const { pipelines } = await inTime(one.generation);
      const [found] = pipelines;
      if (found === undefined) throw new Error(`the pipeline ${pipeline} was not compiled`);
      return await work(found);
    } finally {
      one.usage.end();
    }
  }

  async close(): Promise<void> {
    this.#opens = undefined;
    await Promise.all(this.#kept.map((one) => this.#drop(one)));
  }

  #of(version: string, pipeline: string): Kept {
    const found = this.#kept.find((one) => one.version === version && one.pipeline === pipeline);
    const one = found ?? { version, pipeline, generation: this.#open(version, pipeline), usage: new Usage() };
    if (found === undefined) one.generation.catch(() => this.#forget(one));
    clearTimeout(one.timer);
    one.timer = setTimeout(() => void this.#drop(one), KEPT_MS).unref();
    // The last one used stands at the end.
    const others = this.#kept.filter((other) => other !== one);
    const old = others.filter(
      ({ version: its }, at) => its !== version || at < others.length + 1 - MOST_KEPT,
    );
    this.#kept = [...others, one];
    for (const other of old) void this.#drop(other);
    return one;
  }

  #open(version: string, pipeline: string): Promise<OpenTrial> {
    const opened = this.#compiling.then(async () => {
      if (this.#opens === undefined)
        throw new MillraceError(
          'comparisons_elsewhere',
          'this process does not try values of params; use `millrace workbench` or `millrace dev`',
        );
      const generation = await this.#opens(pipeline);
      if (generation.version === version) return generation;
      await generation.retire();
      throw new MillraceError(
        'comparisons_elsewhere',
        'values of params are tried with the files of the project, and other files serve; reload the project first',
      );
    });
    this.#compiling = opened.catch(() => undefined);
    return opened;
  }

  #forget(one: Kept): void {
    clearTimeout(one.timer);
    this.#kept = this.#kept.filter((other) => other !== one);
  }

  async #drop(one: Kept): Promise<void> {
    this.#forget(one);
    await one.usage.idle(KEPT_MS);
    const generation = await one.generation.catch(() => undefined);
    await generation?.retire();
  }
}

/** @throws MillraceError overloaded if it takes longer; the work goes on */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(
        new MillraceError('overloaded', 'the pipeline is still compiled with open params; try again soon'),
      );
    }, WAITS_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
