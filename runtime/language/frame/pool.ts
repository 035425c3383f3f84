import { Frame } from './frame.js';
import type { FrameLayout } from './frame-layout.js';

/** Frames that no request uses at the moment, so that the next request allocates none. */
export class FramePool {
  readonly #layout: FrameLayout;
  readonly #idle: Frame[] = [];
  readonly #most: number;

  /** @param most the number of idle frames that are kept; more exist only while more requests are in flight */
  constructor(layout: FrameLayout, most = 16) {
    this.#layout = layout;
    this.#most = most;
  }

  /** @param others see `Frame.reset` */
  acquire(count: number, now: number, others?: Uint8Array): Frame {
    const frame = this.#idle.pop() ?? new Frame(this.#layout);
    frame.reset(count, now, others);
    return frame;
  }

  /** Returns a frame to the pool. The caller must not use it afterwards. */
  release(frame: Frame): void {
    if (this.#idle.length < this.#most) this.#idle.push(frame);
  }
}
