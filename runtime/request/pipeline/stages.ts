/** The stages of every request, in order. The clock, the metrics, the explanation and the reference use this list. */
export const STAGES = [
  { name: 'read', does: 'checks the body and writes its ids into the frame' },
  {
    name: 'hydrate',
    does: 'reads entities and feature records, one batch for each level, and fills attributes',
  },
  {
    name: 'features',
    does: 'waits for the last feature records and fills batch features, with status, expiry and default',
  },
  { name: 'components', does: "runs the pipeline's steps" },
  { name: 'page', does: 'orders the candidates and cuts the page' },
] as const;

export type StageName = (typeof STAGES)[number]['name'];

/** Milliseconds by stage, in the order of STAGES. */
export type StageTimes = Readonly<Record<StageName, number>>;

const ZERO = Object.fromEntries(STAGES.map(({ name }) => [name, 0])) as Record<StageName, number>;

/** Times the stages of one request. */
export class StageClock {
  readonly #ms = { ...ZERO };
  /** As `performance.now()`. */
  readonly started = performance.now();
  #last = this.started;
  #ended = 0;

  /** Ends a stage. @throws Error if it is not the next stage of STAGES */
  end(stage: StageName): void {
    const expected = STAGES[this.#ended++]?.name;
    if (stage !== expected)
      throw new Error(`stage ${stage} ended, but expected ${expected ?? 'no further stage'}`);
    const now = performance.now();
    this.#ms[stage] += now - this.#last;
    this.#last = now;
  }

  /** Runs synchronous work whose time counts for another stage than the current one. */
  count(stage: StageName, work: () => void): void {
    const begun = performance.now();
    work();
    const spent = performance.now() - begun;
    this.#ms[stage] += spent;
    this.#last += spent;
  }

  get ms(): StageTimes {
    return this.#ms;
  }
}
