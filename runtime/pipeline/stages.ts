/** The stages of every request, in order: feeds metrics, `millrace plan` and the reference. */
export const STAGES = [
  { name: 'read', does: 'checks the body and writes what it carries into the frame' },
  { name: 'hydrate', does: 'reads entities and feature records, one batch a level, and fills attributes' },
  { name: 'features', does: 'fills batch features, with their statuses, expiry and defaults' },
  { name: 'components', does: "runs the pipeline's steps" },
  { name: 'page', does: 'orders the candidates and cuts the page' },
] as const;

export type StageName = (typeof STAGES)[number]['name'];

/** Times the stages of one request. */
export class StageClock {
  readonly #ms: Partial<Record<StageName, number>> = {};
  /** By `performance.now()`. */
  readonly started = performance.now();
  #last = this.started;

  /** Says that the stage ends now. */
  done(stage: StageName): void {
    const now = performance.now();
    this.#ms[stage] = (this.#ms[stage] ?? 0) + now - this.#last;
    this.#last = now;
  }

  get ms(): Readonly<Record<string, number>> {
    return this.#ms;
  }
}
