import { Deadline } from '../core/deadline.js';
import type { Usage } from '../core/usage.js';
import { StageClock, type StageName } from './stages.js';
import type { RequestContext } from './types.js';

/** Runs the stages of one request: it times each stage, and ends the request at its deadline. */
export class StageRunner {
  readonly clock = new StageClock();
  readonly deadline: Deadline;

  readonly #isOwn: boolean;

  constructor(
    limitMs: number,
    { deadline }: Pick<RequestContext, 'deadline'>,
    usage: Usage | undefined,
  ) {
    this.#isOwn = deadline?.ms !== limitMs;
    this.deadline =
      deadline?.ms === limitMs
        ? deadline
        : new Deadline(limitMs, { usage, started: this.clock.started, parent: deadline });
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
    if (this.#isOwn) this.deadline.end();
  }
}
