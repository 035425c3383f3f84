import type { PlannedStep } from '../../../request/compile/plan.js';
import type { ReadReport } from '../../../state/index/feature-source.js';
import type { RetrieverReport } from '../../../request/pipeline/request/retrieval-report.js';

const MINUTE = 60_000;

interface WarnLog {
  warn(fields: object, message: string): void;
}

/** Writes at most one line a minute for each subject, with the number of those that were left out. */
export class MinuteLog {
  readonly #log: WarnLog;
  readonly #clock: () => number;
  /** By subject: the time of its last line, and how often it happened since. */
  readonly #last = new Map<string, { at: number; leftOut: number }>();

  constructor(log: WarnLog, clock: () => number = Date.now) {
    this.#log = log;
    this.#clock = clock;
  }

  warn(subject: string, fields: object, message: string): void {
    const now = this.#clock();
    const before = this.#last.get(subject);
    if (before !== undefined && now - before.at < MINUTE) {
      before.leftOut++;
      return;
    }
    this.#last.set(subject, { at: now, leftOut: 0 });
    const leftOut = before === undefined || before.leftOut === 0 ? {} : { left_out_before: before.leftOut };
    this.#log.warn({ ...fields, ...leftOut }, message);
  }
}

/** Reports steps that hold the event loop. */
export class HeldLog extends MinuteLog {
  report(pipeline: string, { as, use }: Pick<PlannedStep, 'as' | 'use'>, ms: number): void {
    this.warn(
      `${pipeline} ${as}`,
      { pipeline, step: as, use, held_ms: Math.round(ms) },
      'a step held the event loop: no other request was answered meanwhile',
    );
  }
}

/** Reports readers that do not answer, or not in full. */
export class ReadLog extends MinuteLog {
  report({ view, outcome, reason, asked, stale }: ReadReport): void {
    if (outcome === 'read' || outcome === 'kept') return;
    this.warn(view, { view, outcome, reason, rows: asked, stale }, 'a reader did not answer in full');
  }
}

/** Reports retrievers that do not answer, or not in full. */
export class RetrievalLog extends MinuteLog {
  report(pipeline: string, reports: readonly RetrieverReport[]): void {
    for (const { as, outcome, reason } of reports)
      if (outcome !== 'found' && outcome !== 'not_asked')
        this.warn(
          `${pipeline} ${as}`,
          { pipeline, retriever: as, outcome, reason },
          'a retriever did not answer in full',
        );
  }
}
