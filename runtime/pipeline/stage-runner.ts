import { Deadline } from '../core/deadline.js';
import type { Usage } from '../core/usage.js';
import { StageClock, type StageName } from './stages.js';
import type { RequestContext } from './types.js';

/** Runs the stages of one request: it times each stage, and ends the request at its deadline. */
export class StageRunner {
  readonly clock = new StageClock();
  readonly deadline: Deadline;

  constructor(
    limitMs: number,
    { signal, arrived }: Pick<RequestContext, 'signal' | 'arrived'>,
    usage: Usage | undefined,
  ) {
    this.deadline = new Deadline(limitMs, signal, usage, arrived ?? this.clock.started);
  }

  /** Runs one stage. @throws MillraceError deadline_exceeded, also after a stage that never yielded to the event loop */
  async run<T>(stage: StageName, work: () => T | Promise<T>): Promise<T> {
    const result = await work();
    this.clock.end(stage);
    this.deadline.check();
    return result;
  }

  /** Call when the request is answered or has failed. */
  close(): void {
    this.deadline.end();
  }
}
