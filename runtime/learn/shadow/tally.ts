import { compareOrders, kendallTau } from '../../ground/core/compare-rankings.js';
import { Reservoir } from '../evaluation/reservoir.js';
import { mean } from '../../ground/core/statistics.js';

export interface RankedBy {
  readonly id: string;
  /** Null if it is not a finite number. */
  readonly score: number | null;
}

/** What became of one request. */
export type ArmOutcome =
  | {
      readonly is: 'ranked';
      readonly ranked: readonly RankedBy[];
      readonly degraded: readonly string[];
      readonly ms: number;
    }
  | { readonly is: 'failed'; readonly code: string }
  /** The command was stopped before the arm had ranked the request. */
  | { readonly is: 'stopped' };

/** A ranking as it was served. */
export interface Served {
  readonly requestId: string;
  /** The logged candidates in the order served; without those that a filter removed. */
  readonly ranked: readonly RankedBy[];
}

/** What one arm did with one request. */
export interface ArmRow {
  readonly request_id: string;
  readonly arm: string;
  /** `ok`, `timeout`, `crashed`, `dropped`, or the code of the error. */
  readonly outcome: string;
  readonly overlap?: number;
  readonly tau?: number;
  /** The mean difference of the scores, the arm's minus the served. */
  readonly drift?: number;
  readonly not_finite?: number;
  readonly ms?: number;
}

/** The report on one arm. */
export interface ArmReport {
  readonly arm: string;
  readonly ranked: number;
  readonly same: number;
  readonly degraded: number;
  /** Requests by the reason why they have no ranking. */
  readonly failed: Readonly<Record<string, number>>;
  readonly restarts: number;
  /** Requests that were not run, because too many were waiting or the command was stopped. */
  readonly dropped: number;
  /** Scores of the arm that are not finite numbers, in all rankings. */
  readonly not_finite: number;
  readonly overlap: number | null;
  readonly tau: number | null;
  readonly drift: { readonly mean: number; readonly p95: number } | null;
  readonly ms: { readonly p50: number; readonly p99: number } | null;
}

/** Collects how an arm ranks requests that were served. Its memory does not grow with the requests. */
export class ArmTally {
  readonly #arm: string;
  readonly #k: number;
  readonly #overlaps = new Reservoir();
  readonly #taus = new Reservoir();
  readonly #drifts = new Reservoir();
  /** The sizes of the drifts. */
  readonly #sizes = new Reservoir();
  readonly #ms = new Reservoir();
  readonly #failed: Record<string, number> = {};
  #same = 0;
  #degraded = 0;
  #notFinite = 0;
  #dropped = 0;

  /** @param k the depth of the overlap */
  constructor(arm: string, k: number) {
    this.#arm = arm;
    this.#k = k;
  }

  add(
    { requestId, ranked: served }: Served,
    outcome: Exclude<ArmOutcome, { readonly is: 'stopped' }>,
  ): ArmRow {
    const row = { request_id: requestId, arm: this.#arm };
    if (outcome.is === 'failed') {
      this.#failed[outcome.code] = (this.#failed[outcome.code] ?? 0) + 1;
      return { ...row, outcome: outcome.code };
    }
    // A record can hold a part of the candidates, so only those of the record are compared.
    const logged = new Map(served.map((one) => [one.id, one]));
    const ranked = outcome.ranked.filter(({ id }) => logged.has(id));
    const ids = ranked.map(({ id }) => id);
    const servedIds = served.map(({ id }) => id);
    const { isSame, overlap, places } = compareOrders(servedIds, ids, this.#k);
    const tau = kendallTau(
      places.map(([place]) => place),
      places.map(([, place]) => place),
    );
    const differences = ranked.flatMap(({ id, score }) => {
      const before = logged.get(id)?.score ?? null;
      return score === null || before === null ? [] : [score - before];
    });
    const notFinite = outcome.ranked.filter(({ score }) => score === null).length;
    const drift = differences.length === 0 ? undefined : mean(differences);
    this.#overlaps.add(overlap);
    if (tau !== undefined) this.#taus.add(tau);
    if (drift !== undefined) {
      this.#drifts.add(drift);
      this.#sizes.add(Math.abs(drift));
    }
    this.#ms.add(outcome.ms);
    this.#notFinite += notFinite;
    this.#same += isSame ? 1 : 0;
    this.#degraded += outcome.degraded.length > 0 ? 1 : 0;
    return {
      ...row,
      outcome: 'ok',
      overlap,
      ...(tau === undefined ? {} : { tau }),
      ...(drift === undefined ? {} : { drift }),
      not_finite: notFinite,
      ms: outcome.ms,
    };
  }

  /** Counts a request that the arm did not rank: too many were waiting, or the command was stopped. */
  drop({ requestId }: Served): ArmRow {
    this.#dropped += 1;
    return { request_id: requestId, arm: this.#arm, outcome: 'dropped' };
  }

  /** @param restarts processes of the arm that had to be replaced */
  report(restarts: number): ArmReport {
    const drift = this.#drifts.mean();
    const [p95 = 0] = this.#sizes.quantiles(0.95) ?? [];
    const [p50, p99 = 0] = this.#ms.quantiles(0.5, 0.99) ?? [];
    return {
      arm: this.#arm,
      ranked: this.#ms.count,
      same: this.#same,
      degraded: this.#degraded,
      failed: { ...this.#failed },
      restarts,
      dropped: this.#dropped,
      not_finite: this.#notFinite,
      overlap: this.#overlaps.mean() ?? null,
      tau: this.#taus.mean() ?? null,
      drift: drift === undefined ? null : { mean: drift, p95 },
      ms: p50 === undefined ? null : { p50, p99 },
    };
  }
}
