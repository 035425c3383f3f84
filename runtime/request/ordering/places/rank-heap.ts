/**
 * A binary heap of numbered queues, by the rank of their first element; the smallest is first (Knuth, The Art of Computer
 * Programming 3, 5.2.3). A rank may only grow while its queue is in the heap: `renew` puts the first queue where it belongs.
 */
export class RankHeap {
  readonly #queues: number[] = [];
  /** By queue; heaps that share queues share it. */
  readonly #ranks: Int32Array;

  constructor(ranks: Int32Array) {
    this.#ranks = ranks;
  }

  get first(): number | undefined {
    return this.#queues[0];
  }

  push(queue: number): void {
    const heap = this.#queues;
    let at = heap.push(queue) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#rankAt(parent) <= this.#rankOf(queue)) break;
      heap[at] = heap[parent] ?? 0;
      at = parent;
    }
    heap[at] = queue;
  }

  /** Removes the first queue. */
  drop(): void {
    const last = this.#queues.pop();
    if (last === undefined || this.#queues.length === 0) return;
    this.#queues[0] = last;
    this.renew();
  }

  /** Moves the first queue to its place, after its rank has grown. */
  renew(): void {
    const heap = this.#queues;
    const queue = heap[0] ?? 0;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.#rankAt(child + 1) < this.#rankAt(child)) child++;
      if (this.#rankAt(child) >= this.#rankOf(queue)) break;
      heap[at] = heap[child] ?? 0;
      at = child;
    }
    heap[at] = queue;
  }

  #rankAt(at: number): number {
    return this.#rankOf(this.#queues[at] ?? 0);
  }

  #rankOf(queue: number): number {
    return this.#ranks[queue] ?? 0;
  }
}
