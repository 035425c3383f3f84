import type { AnsweredRanking } from '../../http/services.js';

/** How many requests are kept. */
const MOST = 50;
/** A request with more candidates is not kept: 50 of the largest bodies would take a hundred megabytes. */
const MOST_CANDIDATES = 1000;

/** A request that was answered. */
export interface RecentRequest extends AnsweredRanking {
  readonly pipeline: string;
  /** The number of candidates that it sent; undefined if the pipeline found them. */
  readonly candidates: number | undefined;
}

/** The last requests, in memory, for a service without a ledger. */
export class RecentRequests {
  readonly #kept: RecentRequest[] = [];

  /** Oldest first. */
  get all(): readonly RecentRequest[] {
    return this.#kept;
  }

  add(pipeline: string, { body, requestId }: AnsweredRanking): void {
    const { candidates } = body as { readonly candidates?: { readonly length?: unknown } };
    const length = candidates?.length;
    const count = typeof length === 'number' ? length : undefined;
    if (count !== undefined && count > MOST_CANDIDATES) return;
    this.#kept.push({ pipeline, body, requestId, candidates: count });
    if (this.#kept.length > MOST) this.#kept.shift();
  }
}
