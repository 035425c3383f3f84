import { Deadline } from '../../ground/core/deadline.js';
import type { Usage } from '../../ground/core/usage.js';
import { errorCodeOf, type SpanHolder, type TraceSpan } from '../../project/tracing/trace-span.js';
import { STAGES, type StageName, type StageTimes } from './stages.js';
import type { RequestContext } from './types.js';

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

  /** Starts work whose time, until it returns, counts for another stage than the current one. */
  count<T>(stage: StageName, work: () => T): T {
    const begun = performance.now();
    const result = work();
    const spent = performance.now() - begun;
    this.#ms[stage] += spent;
    this.#last += spent;
    return result;
  }

  get ms(): StageTimes {
    return this.#ms;
  }
}

/** The stages of one request, one after the other: it times and traces them, and ends the request at its deadline. */
export class StageRunner implements SpanHolder {
  readonly clock = new StageClock();
  readonly deadline: Deadline;
  readonly #request: TraceSpan | undefined;
  /** The span of the last stage that was entered. */
  span: TraceSpan | undefined;
  #current: StageName | undefined;
  readonly #isOwn: boolean;

  constructor(
    limitMs: number,
    { deadline, span }: Pick<RequestContext, 'deadline' | 'span'>,
    usage: Usage | undefined,
  ) {
    this.#request = span;
    this.#isOwn = deadline?.ms !== limitMs;
    this.deadline =
      deadline?.ms === limitMs
        ? deadline
        : new Deadline(limitMs, { usage, started: this.clock.started, parent: deadline });
  }

  /** Ends the current stage and begins the next. @throws as `leave` */
  enter(stage: StageName): void {
    if (this.#current !== undefined) this.leave();
    this.#current = stage;
    if (this.#request !== undefined) this.span = this.#request.start('stage', stage);
  }

  /**
   * Ends the current stage.
   * @throws MillraceError deadline_exceeded, also after a stage that never yielded to the event loop
   */
  leave(): void {
    if (this.#current === undefined) throw new Error('there is no stage to leave');
    this.clock.end(this.#current);
    this.deadline.check();
    this.span?.end();
    this.#current = undefined;
  }

  /** Ends the current stage, if there is one, with an error. */
  fail(error: unknown): void {
    if (this.#current === undefined) return;
    this.span?.fail(errorCodeOf(error));
    this.span?.end();
  }

  /** Call when the request is answered or has failed. */
  close(): void {
    if (this.#isOwn) this.deadline.end();
  }
}
