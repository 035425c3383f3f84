import type { Bound, Diversity, Grouping, PinSource, Slot } from '../../../ground/api/ranking-edit.js';

/** Added to the tier of a buried row. The result is lower in the ranking than every tier that `top:` makes. */
export const BURIED = 1 << 20;

/** What one step asks of the final order, besides scores, tiers and pins. */
export type OrderRule = { readonly step: number } & (
  | { readonly kind: 'reorder'; readonly rows: Int32Array }
  | { readonly kind: 'limit'; readonly bound: Bound }
  | { readonly kind: 'diversify'; readonly diversity: Diversity }
  | { readonly kind: 'group'; readonly grouping: Grouping }
  | { readonly kind: 'slot'; readonly slot: Slot }
);

export type OrderRuleOf<K extends OrderRule['kind']> = Extract<OrderRule, { kind: K }>;

/** The pins of each source, from row to position, in the order that they were made. */
export type Pins = Readonly<Record<PinSource, ReadonlyMap<number, number>>>;

/** Where the pages of an answer begin: at the ranks `first`, `first + size` …, from 0. */
export interface PageGrid {
  readonly size: number;
  readonly first: number;
}

/** A row that a rule removed when the final order was made. */
export interface DroppedRow {
  readonly row: number;
  /** Number of the step. */
  readonly step: number;
}

export function rulesOf<K extends OrderRule['kind']>(
  rules: readonly OrderRule[],
  kind: K,
): readonly OrderRuleOf<K>[] {
  return rules.filter((rule): rule is OrderRuleOf<K> => rule.kind === kind);
}

/**
 * The pins that hold, from row to position. Of two pins of a source to one position, the later one holds. A pin of the
 * pipeline gives way to curation, for its row and its position.
 */
export function winningPins({ curation, pipeline }: Pins): ReadonlyMap<number, number> {
  if (curation.size === 0 && pipeline.size === 0) return curation;
  const rows = new Map<number, number>();
  for (const pins of [pipeline, curation])
    for (const [row, position] of pins) if (pins === curation || !curation.has(row)) rows.set(position, row);
  return new Map(Array.from(rows, ([position, row]) => [row, position]));
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

/** @throws RangeError if a rule names a row or a position that cannot be */
export function checkRule(rule: OrderRule, count: number): void {
  switch (rule.kind) {
    case 'reorder':
      checkRows(rule.rows, count);
      return;
    case 'group':
      checkGroups(rule.grouping.groups, count);
      return;
    case 'limit':
      checkGroups(rule.bound.groups, count);
      if (!isCount(rule.bound.most) || !(rule.bound.within === 'page' || isCount(rule.bound.within)))
        throw new RangeError('a bound has whole numbers from 1');
      return;
    case 'diversify':
      checkRows(rule.diversity.rows, count);
      return;
    case 'slot':
      checkRows(rule.slot.rows, count);
      for (const position of rule.slot.positions) checkPosition(position);
  }
}

export function checkPosition(position: number): void {
  if (!Number.isInteger(position) || position < 1)
    throw new RangeError(`a position is a whole number from 1, not ${position}`);
}

function checkRows(rows: ArrayLike<number>, count: number): void {
  const seen = new Uint8Array(count);
  for (let at = 0; at < rows.length; at++) {
    const row = rows[at] ?? -1;
    if (seen[row] !== 0) throw new RangeError(`there is no row ${row}, or it is given twice`);
    seen[row] = 1;
  }
}

function checkGroups(groups: Int32Array, count: number): void {
  if (groups.length < count)
    throw new RangeError(`there are groups for ${groups.length} of ${count} candidates`);
  for (let row = 0; row < count; row++) {
    const group = groups[row] ?? -1;
    if (group < -1 || group >= count)
      throw new RangeError(`a group has a number from 0 to ${count - 1}, or -1, not ${group}`);
  }
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 1;
}
