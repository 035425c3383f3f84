import type { PlannedStep } from '../../../request/compile/plan.js';

const MINUTE = 60_000;

/** Tells of steps that held the event loop, each at most once a minute. */
export class HeldLog {
  readonly #log: { warn(fields: object, message: string): void };
  readonly #clock: () => number;
  /** By step: when it was told last, and how often it held the loop since. */
  readonly #steps = new Map<string, { told: number; leftOut: number }>();

  constructor(log: { warn(fields: object, message: string): void }, clock: () => number = Date.now) {
    this.#log = log;
    this.#clock = clock;
  }

  tell(pipeline: string, { as, use }: Pick<PlannedStep, 'as' | 'use'>, ms: number): void {
    const key = `${pipeline} ${as}`;
    const now = this.#clock();
    const before = this.#steps.get(key);
    if (before !== undefined && now - before.told < MINUTE) {
      before.leftOut++;
      return;
    }
    this.#steps.set(key, { told: now, leftOut: 0 });
    const leftOut = before === undefined || before.leftOut === 0 ? {} : { left_out_before: before.leftOut };
    this.#log.warn(
      { pipeline, step: as, use, held_ms: Math.round(ms), ...leftOut },
      'a step held the event loop: no other request was answered meanwhile',
    );
  }
}
