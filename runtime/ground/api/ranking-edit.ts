import type { Content } from './curation.js';

/**
 * What a rule can change in the ranking. Scores change at once. What a rule asks of the order is kept, and the final order
 * is made after all steps, whatever the order of the steps:
 *
 *   filter and hide > curated pin > sponsor > pipeline pin > slot > group and dedupe > limit and diversify > bury > score
 *
 * A stronger rule wins over a weaker one. `reorder` stands between bury and limit.
 */
export interface RankingEdit extends OrderRules {
  /** The score of each row. Write finite numbers. */
  readonly scores: Float64Array;
  /** Removes the row from the ranking, as a filter does. */
  hide(row: number): void;
  /** Places the row below all candidates that are not buried. */
  bury(row: number): void;
  /**
   * Pins the row to a position of the whole ranking, counted from 1. A later pin of the same source replaces an earlier
   * one of the same row or position. A pin of `curation` wins over one of `pipeline`.
   * @param source by default `pipeline`
   */
  pin(row: number, position: number, source?: Exclude<PinSource, 'sponsor'>): void;
  /** Pins the row with the source `sponsor`. The answer has the label of the candidate where this pin holds. */
  sponsor(row: number, position: number, label: string): void;
  /** Adds content to the answer, beside its candidates. */
  show(content: Content): void;
  /**
   * Draws the order of the first places, after all other rules. Candidates with a pin or a slot keep their places. A
   * later call replaces an earlier one. Nothing is drawn in commands and tests, which rank without exploration.
   */
  explore(exploration: Exploration): void;
  /**
   * Names a rule inside the step that changes the row, for explanations and events. The plugin `curation` names the rule
   * of its list.
   */
  cause(row: number, rule: string, what: CausedChange): void;
  /** The row of a candidate id; undefined if it is not a candidate. */
  rowOf(id: string): number | undefined;
  /** The rows in the current order by score, bury and `reorder`, best first. */
  order(): Int32Array;
}

/** What a rule can ask of the final order, besides pins. Each method adds one rule. */
export interface OrderRules {
  /** Reserves positions for candidates of a kind. */
  reserve(slot: Slot): void;
  /** Keeps one candidate of each group, and removes the others. */
  keepOne(grouping: Grouping): void;
  /** Keeps candidates of one group apart: at most some of them on a page, or in any window of places. */
  limit(bound: Bound): void;
  /** Prefers candidates that differ from those above them. */
  diversify(diversity: Diversity): void;
  /**
   * Orders some rows among themselves: they take the places that they have by score and bury, in the order given. For
   * what decides about a whole list, such as a reranker.
   * @param rows best first, each once
   */
  reorder(rows: Int32Array | readonly number[]): void;
}

/** What a rule inside a step changed: the score of a candidate, its place, or whether it is there at all. */
export type CausedChange = 'score' | 'place' | 'hidden';

/** Who pins a candidate: a list of a merchandiser, who pays for a place, or a step of the pipeline. The first wins. */
export const PIN_SOURCES = ['curation', 'sponsor', 'pipeline'] as const;

export type PinSource = (typeof PIN_SOURCES)[number];

/** Positions that are reserved for candidates of a kind. */
export interface Slot {
  /** Counted from 1, over the whole ranking. */
  readonly positions: readonly number[];
  /**
   * The rows that qualify. A position takes the best of them that is not above it already, so a slot never moves a
   * candidate down.
   */
  readonly rows: Int32Array | readonly number[];
  /** The least score, after all steps, that a candidate needs. By default any score is enough. */
  readonly least?: number;
}

/** Groups of candidates, of which one is kept. */
export interface Grouping {
  /** By row: the number of its group, from 0; -1 for a row that belongs to none. */
  readonly groups: Int32Array;
  /**
   * By row: the row with the highest number is kept; NaN counts as the lowest. By default the best one is kept. The kept
   * row takes the place of the best one.
   */
  readonly prefer?: Float64Array;
}

/**
 * How many candidates of a group may stand near each other. The bound holds for the whole ranking if some order of the
 * candidates keeps it. Otherwise it holds from the top as far as it can.
 */
export interface Bound {
  /** By row: the number of its group, from 0; -1 for a row that no bound concerns. */
  readonly groups: Int32Array;
  /** The most candidates of a group. */
  readonly most: number;
  /** In any window of so many places, or on each page of the size that the request asks for. */
  readonly within: number | 'page';
}

/** How the first places of a ranking are drawn, to learn from what users do with candidates at other places. */
export interface Exploration {
  /** How many places, from the first. */
  readonly top: number;
  readonly draw: DrawMethod | DrawByWeights;
}

export type DrawMethod =
  /** From the top: each place swaps with the next one by this probability. A candidate moves by one place at most. */
  | { readonly method: 'swap'; readonly probability: number }
  /**
   * Each place draws a candidate by exp(score / temperature); Plackett, "The analysis of permutations", Applied
   * Statistics 1975.
   */
  | { readonly method: 'plackett_luce'; readonly temperature: number }
  /** Each place takes the best candidate that is left, or, by this probability, any of those left. */
  | { readonly method: 'epsilon_greedy'; readonly epsilon: number };

/**
 * A policy of the step: each place draws one of the candidates that are left, in proportion to its weight. A weight counts at
 * least as a trillionth of the largest, so that each probability is known.
 */
export interface DrawByWeights {
  readonly method: 'weights';
  /** By row: finite and not negative. */
  readonly weights: Float64Array;
}

/** What a step declares that draws places. The weights of a policy are those of a request. */
export interface DeclaredExploration {
  readonly top: number;
  readonly draw: DrawMethod | Pick<DrawByWeights, 'method'>;
}

/**
 * Maximal marginal relevance (Carbonell and Goldstein 1998): each place takes the candidate with the highest
 * relevance · r - (1 - relevance) · s. Here r is its score, scaled to 0 to 1 (0 if it is buried), and s is how alike it is
 * to the most similar candidate above it.
 */
export interface Diversity {
  /** The rows that take part. */
  readonly rows: Int32Array | readonly number[];
  /** The weight of the score, from 0 to 1. */
  readonly relevance: number;
  /** How many places are filled so, from the first. The cost grows with places times rows. */
  readonly places: number;
  /** How many of the candidates directly above count; undefined: all. */
  readonly window?: number | undefined;
  /** Writes into `alike[i]` how alike `rows[i]` and `row` are, at most 1, for the first `length` rows. */
  compare(row: number, rows: Int32Array, length: number, alike: Float64Array): void;
}
