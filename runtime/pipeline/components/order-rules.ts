import type { Grouping, PinSource, Slot } from '../../api/ranking-edit.js';

/** What one step asks of the final order, besides scores, tiers and pins. */
export type OrderRule = { readonly step: number } & (
  | { readonly kind: 'reorder'; readonly rows: Int32Array }
  | { readonly kind: 'group'; readonly grouping: Grouping }
  | { readonly kind: 'slot'; readonly slot: Slot }
);

export type OrderRuleOf<K extends OrderRule['kind']> = Extract<OrderRule, { kind: K }>;

/** The pins of each source, from row to position. */
export type Pins = Readonly<Record<PinSource, ReadonlyMap<number, number>>>;

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

/** The pins that hold, from row to position: a pin of the pipeline gives way to curation, for its row and its position. */
export function winningPins({ curation, pipeline }: Pins): ReadonlyMap<number, number> {
  if (curation.size === 0) return pipeline;
  if (pipeline.size === 0) return curation;
  const pins = new Map(curation);
  const taken = new Set(curation.values());
  for (const [row, position] of pipeline)
    if (!curation.has(row) && !taken.has(position)) pins.set(row, position);
  return pins;
}

/** @throws RangeError if a rule names a row or a position that cannot be */
export function checkRule(rule: OrderRule, count: number): void {
  switch (rule.kind) {
    case 'reorder':
      return checkRows(rule.rows, count);
    case 'group':
      return checkGroups(rule.grouping.groups, count);
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
}
