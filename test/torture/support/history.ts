/** What a ranking answered, and how. */
export interface Answer {
  /** HTTP status; 0 where the connection broke. */
  readonly status: number;
  /** `code` of the problem document; `retry` where Retry-After is missing from a 503. */
  readonly code: string;
  readonly milliseconds: number;
  /** When it came, milliseconds of performance.now(). */
  readonly at: number;
}

/**
 * The versions of every item: acknowledged ones, and ones that were sent but may not have been stored. It judges what
 * rankings show: a version that was never sent, or a maker or feature that is not there, is a wrong answer; a version
 * older than one acknowledged before the ranking was sent is a lost write.
 */
export class History {
  readonly #acknowledged: number[];
  readonly #sent: number[];
  wrong = 0;
  stale = 0;
  /** Items that showed a version older than acknowledged. */
  readonly lost = new Set<number>();

  constructor(readonly items: number) {
    this.#acknowledged = new Array<number>(items).fill(0);
    this.#sent = new Array<number>(items).fill(0);
  }

  next(item: number): number {
    const version = (this.#sent[item] ?? 0) + 1;
    this.#sent[item] = version;
    return version;
  }

  acknowledge(item: number, version: number): void {
    this.#acknowledged[item] = Math.max(this.#acknowledged[item] ?? 0, version);
  }

  acknowledged(item: number): number {
    return this.#acknowledged[item] ?? 0;
  }

  /** @param floor the version of the item that was acknowledged before the ranking was sent */
  judge(item: number, floor: number, score: number): void {
    const version = Math.floor(score / 1000);
    if (score - 1000 * version !== restOf(item) || version > (this.#sent[item] ?? 0)) {
      if (this.wrong++ < 5) console.error(`wrong: item ${item}, score ${score}, acknowledged ${floor}`);
    } else if (version < floor) {
      if (this.stale++ < 5) console.error(`older: item ${item}, version ${version}, acknowledged ${floor}`);
      this.lost.add(item);
    }
  }
}

export const MAKERS = 50;

export const ratingOf = (maker: number): number => (maker % 9) + 1;
export const boostOf = (item: number): number => item % 10;

/** What an item's maker and features add to its score. */
function restOf(item: number): number {
  return 10 * ratingOf(item % MAKERS) + boostOf(item);
}
