import type { Bound, OrderRules } from '../../ground/api/ranking-edit.js';
import type { PageGrid } from './page-grid.js';
import type { DiversityState } from './places/diversity-state.js';

/** The name of the method by which a component asks for a rule. */
export type RuleName = keyof OrderRules;

export type AskOf<Name extends RuleName> = Parameters<OrderRules[Name]>[0];

/**
 * One kind of rule: all that the final order, explanations and interleaving know of it. A kind has those of the optional
 * members by which it works.
 */
export interface RuleKind<Ask = unknown> {
  /** A stronger rule wins over a weaker one. Rules of the same strength work together, in the order of their steps. */
  readonly strength: number;
  /**
   * Checks what a step asks for.
   * @returns what is kept of it
   * @throws RangeError if it names a row or a position that cannot be
   */
  take(ask: Ask, count: number): Ask;
  /** The rows that it is about. */
  rowsOf(ask: Ask): Iterable<number>;
  /** Changes the order by score and bury, before all other rules. @param list is left as it is */
  sort?(ask: Ask, list: Int32Array, count: number): Int32Array;
  /** Gives rows places of their own, or removes rows. It gets all rules of the kind together. */
  settle?(rules: readonly OrderRule<Ask>[], settling: Settling): void;
  /** How many rows of a group may stand near each other, while the other places are filled. */
  bound?(ask: Ask): Bound;
  /** Which row a place prefers, while the other places are filled. */
  preference?(ask: Ask, free: Int32Array, state: RankingState): DiversityState;
  /** By row: a group of which the final order, and an interleaved one, has one row; -1: none. */
  groups?(ask: Ask): Int32Array;
  /**
   * Whether the rule moved a row whose place it changed. Without it, the rule moved all such rows.
   * @param before by row: its place from 1 by all weaker rules; 0: none
   * @param after the same with this rule
   */
  moved?(ask: Ask, before: Int32Array, after: Int32Array): (row: number) => boolean;
}

/** What one step asks of the final order, besides scores, tiers and pins. */
export interface OrderRule<Ask = unknown> {
  readonly kind: RuleKind<Ask>;
  /** Number of the step. */
  readonly step: number;
  readonly ask: Ask;
}

/** What is decided so far, while the strongest rules come first. */
export interface Settling {
  /** The rows with a place of their own, by position from 1. */
  readonly fixed: Map<number, number>;
  /** The other rows, best first. */
  free: Int32Array;
  /** The rows that rules removed. */
  readonly dropped: DroppedRow[];
  /** By row. */
  readonly scores: Float64Array;
  /** By rule that keeps one row of a group, and row: its group; -1: none. */
  readonly groups: readonly Int32Array[];
}

/** A row that a rule removed when the final order was made. */
export interface DroppedRow {
  readonly row: number;
  /** Number of the step. */
  readonly step: number;
}

/** A ranking after all steps. */
export interface RankingState {
  /** The remaining rows, best first by tier, score and input order. */
  readonly base: Int32Array;
  /** By row. */
  readonly scores: Float64Array;
  /** By row. */
  readonly tiers: Int32Array;
  /** The pins that hold, from row to position. */
  readonly pins: ReadonlyMap<number, number>;
  readonly rules: readonly OrderRule[];
  readonly page: PageGrid;
}

/** Whether some rule works in one of these ways. */
export function someRule(rules: readonly OrderRule[], ...ways: readonly (keyof RuleKind)[]): boolean {
  return rules.some(({ kind }) => ways.some((way) => kind[way] !== undefined));
}

export function boundsOf(rules: readonly OrderRule[]): Bound[] {
  return rules.flatMap(({ kind, ask }) => kind.bound?.(ask) ?? []);
}

export function groupsOf(rules: readonly OrderRule[]): Int32Array[] {
  return rules.flatMap(({ kind, ask }) => kind.groups?.(ask) ?? []);
}

/** The order by score, tier and the rules that sort. A later step sees the order of earlier ones. */
export function sorted(list: Int32Array, count: number, rules: readonly OrderRule[]): Int32Array {
  return rules.reduce((order, { kind, ask }) => kind.sort?.(ask, order, count) ?? order, list);
}
