import { kendallTau, overlapAt } from '../../evaluation/compare-rankings.js';
import { mean, quantile } from '../../evaluation/statistics.js';
import type { ArmOutcome } from './arm.js';
import type { RankedBy } from './messages.js';

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
  /** `ok`, `timeout`, `crashed`, or the code of the error. */
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
  /** Scores of the arm that are not finite numbers, in all rankings. */
  readonly not_finite: number;
  readonly overlap: number | null;
  readonly tau: number | null;
  readonly drift: { readonly mean: number; readonly p95: number } | null;
  readonly ms: { readonly p50: number; readonly p99: number } | null;
}

/** Collects how an arm ranks requests that were served. */
export class ArmTally {
  readonly #arm: string;
  readonly #k: number;
  readonly #overlaps: number[] = [];
  readonly #taus: number[] = [];
  readonly #drifts: number[] = [];
  readonly #ms: number[] = [];
  readonly #failed: Record<string, number> = {};
  #same = 0;
  #degraded = 0;
  #notFinite = 0;

  /** @param k the depth of the overlap */
  constructor(arm: string, k: number) {
    this.#arm = arm;
    this.#k = k;
  }

  add({ requestId, ranked: served }: Served, outcome: ArmOutcome): ArmRow {
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
    const overlap = overlapAt(servedIds, ids, this.#k);
    const places = new Map(servedIds.map((id, at) => [id, at]));
    const tau = kendallTau(
      ids.map((_, at) => at),
      ids.map((id) => places.get(id) ?? 0),
    );
    const differences = ranked.flatMap(({ id, score }) => {
      const before = logged.get(id)?.score ?? null;
      return score === null || before === null ? [] : [score - before];
    });
    const notFinite = outcome.ranked.filter(({ score }) => score === null).length;
    const drift = differences.length === 0 ? undefined : mean(differences);
    this.#overlaps.push(overlap);
    if (tau !== undefined) this.#taus.push(tau);
    if (drift !== undefined) this.#drifts.push(drift);
    this.#ms.push(outcome.ms);
    this.#notFinite += notFinite;
    this.#same += ids.length === servedIds.length && ids.every((id, at) => id === servedIds[at]) ? 1 : 0;
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

  /** @param restarts processes of the arm that had to be replaced */
  report(restarts: number): ArmReport {
    const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();
    const sizes = sorted(this.#drifts.map(Math.abs));
    const ms = sorted(this.#ms);
    return {
      arm: this.#arm,
      ranked: this.#ms.length,
      same: this.#same,
      degraded: this.#degraded,
      failed: { ...this.#failed },
      restarts,
      not_finite: this.#notFinite,
      overlap: meanOf(this.#overlaps),
      tau: meanOf(this.#taus),
      drift: sizes.length === 0 ? null : { mean: mean(this.#drifts), p95: quantile(sizes, 0.95) },
      ms: ms.length === 0 ? null : { p50: quantile(ms, 0.5), p99: quantile(ms, 0.99) },
    };
  }
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : mean(values);
}
