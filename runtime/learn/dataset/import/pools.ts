import type { ForeignCandidate, ForeignRanking } from '../../../project/foreign/foreign-event.js';

/** Lists that are still open, oldest first. More than this are not kept. */
const MOST_OPEN = 64;

/**
 * Puts rows that tell no request together into lists. A list holds each id once, so a repeated id goes into the next
 * list. The rows of a list follow one another in the file, apart from such ids.
 */
export class Pools {
  readonly #size: number;
  readonly #file: number;
  readonly #open: { readonly time: number; readonly candidates: Map<string, ForeignCandidate> }[] = [];
  #lists = 0;

  constructor(size: number, file: number) {
    this.#size = size;
    this.#file = file;
  }

  /** @returns the lists that are complete */
  add(time: number, candidate: ForeignCandidate): ForeignRanking[] {
    let pool = this.#open.find(({ candidates }) => !candidates.has(candidate.id));
    if (pool === undefined) this.#open.push((pool = { time, candidates: new Map() }));
    pool.candidates.set(candidate.id, candidate);
    const done: ForeignRanking[] = [];
    if (pool.candidates.size >= this.#size) done.push(...this.#close(this.#open.indexOf(pool)));
    else if (this.#open.length > MOST_OPEN) done.push(...this.#close(0));
    return done;
  }

  end(): ForeignRanking[] {
    const done: ForeignRanking[] = [];
    while (this.#open.length > 0) done.push(...this.#close(0));
    return done;
  }

  #close(at: number): ForeignRanking[] {
    const [pool] = this.#open.splice(at, 1);
    if (pool === undefined) return [];
    this.#lists += 1;
    return [
      {
        is: 'ranking',
        request: `pool-${this.#file}-${this.#lists}`,
        time: pool.time,
        owners: {},
        sent: {},
        candidates: [...pool.candidates.values()].map((candidate) => ({
          ...candidate,
          // What was clicked later than the first row of the list was shown counts as of its time.
          acts: candidate.acts.map((act) => ({ ...act, time: pool.time })),
        })),
        pooled: true,
      },
    ];
  }
}
