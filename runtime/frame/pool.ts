import { Frame } from './frame.js';
import type { FrameLayout } from './frame-layout.js';

/** Frames that no request uses at the moment, so that the next one allocates nothing. */
export class FramePool {
  readonly #layout: FrameLayout;
  readonly #idle: Frame[] = [];
  readonly #most: number;

  /** @param most frames kept while idle; more exist only while as many requests are in flight. */
  constructor(layout: FrameLayout, most = 16) {
    this.#layout = layout;
    this.#most = most;
  }

  acquire(count: number, now: number): Frame {
    const frame = this.#idle.pop() ?? new Frame(this.#layout);
    frame.reset(count, now);
    return frame;
  }

  /** Gives a frame back; the caller must not touch it afterwards. */
  release(frame: Frame): void {
    if (this.#idle.length < this.#most) this.#idle.push(frame);
  }
}
