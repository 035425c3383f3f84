import type { CurationRule } from '../model/curation.js';
import type { Located } from '../yaml/source.js';

/** Something that a rule says of one position or one candidate. */
export interface Claim {
  readonly rule: CurationRule;
  readonly id: Located<string>;
  /** Undefined: the candidate is hidden. */
  readonly position: number | undefined;
}

/** A time in which one or several claims say the same. */
interface Span<S> {
  readonly from: number;
  readonly until: number;
  readonly said: S;
}

/**
 * The claims on one position, or on one candidate, by their times. Whether a new claim contradicts an earlier one takes a
 * binary search, however many there are; to find the earlier one, which happens for an error, takes a scan.
 */
export class ClaimedTimes<S> {
  readonly #claims: { readonly claim: Claim; readonly said: S }[] = [];
  /** Spans that do not overlap, in their order. Overlapping claims that say the same are one span. */
  readonly #spans: Span<S>[] = [];
  /** The claims that overlap a span which says something else. They are few: each is an error. */
  readonly #disputed: Span<S>[] = [];

  add(claim: Claim, said: S): void {
    this.#claims.push({ claim, said });
    let { from, until } = claim.rule;
    if (from >= until) return; // this is an error of the rule itself
    const first = this.#firstAfter(from);
    let end = first;
    for (let span = this.#spans[end]; span !== undefined && span.from < until; span = this.#spans[++end]) {
      if (span.said === said) continue;
      this.#disputed.push({ from, until, said });
      return;
    }
    if (end > first) {
      from = Math.min(from, this.#spans[first]?.from ?? from);
      until = Math.max(until, this.#spans[end - 1]?.until ?? until);
    }
    this.#spans.splice(first, end - first, { from, until, said });
  }

  /** The first claim at the time of a new one that says something else. */
  firstOther({ rule }: Claim, said: S): Claim | undefined {
    const isOther = (one: Span<S>): boolean =>
      one.said !== said && one.from < rule.until && rule.from < one.until;
    if (!this.#hasSpan(rule, isOther) && !this.#disputed.some(isOther)) return undefined;
    return this.#claims.find((one) =>
      isOther({ from: one.claim.rule.from, until: one.claim.rule.until, said: one.said }),
    )?.claim;
  }

  #hasSpan({ from, until }: CurationRule, isOther: (span: Span<S>) => boolean): boolean {
    let i = this.#firstAfter(from);
    for (let span = this.#spans[i]; span !== undefined && span.from < until; span = this.#spans[++i])
      if (isOther(span)) return true;
    return false;
  }

  /** The index of the first span that ends after a time. */
  #firstAfter(time: number): number {
    let [low, high] = [0, this.#spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#spans[middle]?.until ?? Infinity) > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
