import { UnitMoments } from '../evaluation/unit-moments.js';

/** A candidate of a logged page whose place was drawn. */
export interface ShownCandidate {
  /** 1-based, over the whole ranking. */
  readonly place: number;
  /** The place without exploration; undefined if it is not known. */
  readonly before: number | undefined;
  /** The probability of this candidate at its place, given those above it; NaN if the place was not drawn. */
  readonly propensity: number;
  /** The probability of this candidate at its place, whatever is above it; NaN if the place was not drawn. */
  readonly marginal: number;
  readonly clicked: boolean;
}

/** How much users look at a place, relative to the first place. */
export interface Examination {
  readonly place: number;
  readonly value: number;
  readonly standardError: number;
  /** Clicks on drawn candidates at this place. */
  readonly clicks: number;
}

/** Weighted clicks at two places by page, as outcome and base. */
interface Swaps {
  readonly moments: UnitMoments;
  swapped: number;
  kept: number;
}

/**
 * Estimates how much users look at each place from pages whose candidates were swapped with their neighbours. The same
 * two candidates are at two places in both orders, so their worth cancels out: the ratio of the clicks at both places,
 * each weighted by 1 / the probability of its order, is the ratio of the examinations.
 * Source: Joachims, Swaminathan and Schnabel, "Unbiased learning-to-rank with biased feedback", WSDM 2017, section 5.3;
 * weights: Agarwal et al., "Estimating position bias without intrusive interventions", WSDM 2019.
 */
export class SwapExamination {
  readonly #pairs = new Map<number, Swaps>();
  readonly #clicks = new Map<number, number>();

  /** @param page its candidates, by place */
  add(page: ReadonlyMap<number, ShownCandidate>): void {
    for (const [place, upper] of page) {
      if (!(upper.propensity < 1)) continue;
      this.#count(place, upper);
      const lower = page.get(place + 1);
      // A candidate with a place of its own, such as a pinned one, is never swapped.
      if (lower === undefined || Number.isNaN(lower.propensity)) continue;
      const isSwapped = upper.before === place + 1 && lower.before === place;
      if (!isSwapped && (upper.before !== place || lower.before !== place + 1)) continue;
      const below = lower.propensity;
      if (below === 1) this.#count(place + 1, lower);
      const pair = this.#pairs.get(place) ?? { moments: new UnitMoments(), swapped: 0, kept: 0 };
      this.#pairs.set(place, pair);
      pair[isSwapped ? 'swapped' : 'kept'] += 1;
      const weight = 1 / (upper.propensity * below);
      pair.moments.add(lower.clicked ? weight : 0, upper.clicked ? weight : 0);
    }
  }

  #count(place: number, { clicked }: ShownCandidate): void {
    if (clicked) this.#clicks.set(place, (this.#clicks.get(place) ?? 0) + 1);
  }

  /** The places down to the last one that was swapped and clicked. Empty without swaps. */
  result(): Examination[] {
    const found: Examination[] = [];
    let [value, relativeVariance] = [1, 0];
    for (let place = 1; ; place++) {
      found.push({
        place,
        value,
        standardError: value * Math.sqrt(relativeVariance),
        clicks: this.#clicks.get(place) ?? 0,
      });
      const pair = this.#pairs.get(place);
      const ratio = pair?.moments.value ?? NaN;
      if (pair === undefined || pair.swapped === 0 || pair.kept === 0 || !(ratio > 0 && ratio < Infinity))
        return place === 1 ? [] : found;
      // Neighbouring ratios share clicks; their dependence is small and left out.
      relativeVariance += pair.moments.variance / (ratio * ratio);
      value *= ratio;
    }
  }
}

/** Weighted clicks at a place, in pages in random order. */
interface RandomPlace {
  /** Of all pages. */
  readonly alone: UnitMoments;
  /** Of the pages whose first place was drawn as well: its weighted clicks are the base. */
  readonly paired: UnitMoments;
  clicks: number;
  pairedClicks: number;
}

/**
 * Estimates the examination of places from pages in random order: at every place of a page the candidates are equally good
 * on average, once each is weighted by 1 / its probability there. A place is compared with the first place of the same
 * pages, since pages with many candidates can be better or worse than others. A log whose pages show one place each, as
 * some imported logs do, has no such pairs; then all pages are compared.
 * Source: Wang et al., "Learning to rank with selection bias in personal search", SIGIR 2016, section 4; weights as above.
 */
export class RandomExamination {
  readonly #places = new Map<number, RandomPlace>();
  #hasPairs = false;

  add(page: ReadonlyMap<number, ShownCandidate>): void {
    const first = page.get(1);
    const base = first !== undefined && first.marginal < 1 ? weightedClick(first) : undefined;
    for (const [place, shown] of page) {
      if (!(shown.marginal < 1)) continue;
      const known = this.#places.get(place) ?? {
        ...{ alone: new UnitMoments(), paired: new UnitMoments() },
        ...{ clicks: 0, pairedClicks: 0 },
      };
      this.#places.set(place, known);
      const weighted = weightedClick(shown);
      known.alone.add(weighted);
      if (shown.clicked) known.clicks += 1;
      if (base === undefined) continue;
      known.paired.add(weighted, base);
      if (shown.clicked) known.pairedClicks += 1;
      this.#hasPairs ||= place > 1;
    }
  }

  /** The places down to the last one in a row that was drawn and clicked. */
  result(): Examination[] {
    const found: Examination[] = [];
    for (let place = 1; ; place++) {
      const one = this.#hasPairs ? this.#paired(place) : this.#alone(place);
      if (one === undefined || one.clicks === 0) return found;
      found.push(one);
    }
  }

  #paired(place: number): Examination | undefined {
    const { paired, pairedClicks: clicks } = this.#places.get(place) ?? {};
    // Without a click at the first place, its base is 0.
    if (paired === undefined || clicks === undefined || !(paired.value < Infinity)) return undefined;
    return { place, value: paired.value, standardError: Math.sqrt(paired.variance), clicks };
  }

  #alone(place: number): Examination | undefined {
    const [first, known] = [this.#places.get(1)?.alone, this.#places.get(place)];
    if (first === undefined || known === undefined || !(first.value > 0)) return undefined;
    const { alone, clicks } = known;
    const value = alone.value / first.value;
    const relative = alone.variance / alone.value ** 2 + first.variance / first.value ** 2;
    return { place, value, standardError: place === 1 ? 0 : value * Math.sqrt(relative), clicks };
  }
}

function weightedClick({ clicked, marginal }: ShownCandidate): number {
  return clicked ? 1 / marginal : 0;
}

/**
 * The nearest values that do not increase, none above 1: users look at a place at most as much as at the one above it.
 * Source: Barlow et al., "Statistical inference under order restrictions", 1972: pooling adjacent violators.
 */
export function nonIncreasing(values: readonly number[]): number[] {
  const blocks: { sum: number; count: number }[] = [];
  for (const value of values) {
    let block = { sum: value, count: 1 };
    for (
      let last = blocks.at(-1);
      last !== undefined && last.sum / last.count < block.sum / block.count;
      last = blocks.at(-1)
    ) {
      blocks.pop();
      block = { sum: block.sum + last.sum, count: block.count + last.count };
    }
    blocks.push(block);
  }
  return blocks.flatMap(({ sum, count }) => new Array<number>(count).fill(Math.min(1, sum / count)));
}
