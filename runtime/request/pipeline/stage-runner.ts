import { Deadline } from '../../ground/core/deadline.js';
import type { Usage } from '../../ground/core/usage.js';
import { errorCodeOf, type SpanHolder, type TraceSpan } from '../../project/tracing/trace-span.js';
import { StageClock, type StageName } from './stages.js';
import type { RequestContext } from './types.js';

/** Runs the stages of one request: it times and traces each stage, and ends the request at its deadline. */
export class StageRunner implements SpanHolder {
  readonly clock = new StageClock();
  readonly deadline: Deadline;
  readonly #request: TraceSpan | undefined;
  /** The span of the current stage. */
  span: TraceSpan | undefined;

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

  /** Runs one stage. @throws MillraceError deadline_exceeded, also after a stage that never yielded to the event loop */
  async run<T>(stage: StageName, work: () => T | Promise<T>): Promise<T> {
    const span = (this.span = this.#request?.start('stage', stage));
    try {
      const result = await work();
      this.clock.end(stage);
      this.deadline.check();
      return result;
    } catch (error) {
      span?.fail(errorCodeOf(error));
      throw error;
    } finally {
      span?.end();
    }
  }

  /** Call when the request is answered or has failed. */
  close(): void {
    if (this.#isOwn) this.deadline.end();
  }
}
