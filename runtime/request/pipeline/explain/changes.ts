import { finiteOrNull } from '../answer-types.js';
import type { Move } from '../components/trace.js';
import type { ExplainedChange } from './explanation.js';
import type { FinishedRun } from './finished-run.js';

/** What the steps did to the scores and places of rows, in execution order. */
export function changesOf({ trace }: FinishedRun, rows: Iterable<number>): Map<number, ExplainedChange[]> {
  const changes = new Map<number, ExplainedChange[]>(Array.from(rows, (row) => [row, []]));
  // Both lists are in execution order; the score changes of a step precede its moves.
  const edits = [
    ...trace.changes
      .filter(({ row }) => changes.has(row))
      .map(({ step, row, before, after }) => ({
        row,
        step,
        change: { step: step.number, as: step.as, before: finiteOrNull(before), after: finiteOrNull(after) },
      })),
    ...trace.moves
      .filter(({ row }) => changes.has(row))
      .map((move) => ({ row: move.row, step: move.step, change: explainMove(move) })),
  ];
  const order = new Map(trace.runs.map(({ step }, place) => [step, place]));
  edits.sort((a, b) => (order.get(a.step) ?? 0) - (order.get(b.step) ?? 0));
  for (const { row, step, change } of edits) {
    const rules = trace.causes.get(step)?.of(row, 'before' in change ? 'score' : 'place');
    changes.get(row)?.push(rules === undefined ? change : { ...change, rules });
  }
  return changes;
}

function explainMove(move: Move): ExplainedChange {
  const of = { step: move.step.number, as: move.step.as };
  switch (move.kind) {
    case 'below':
      return {
        ...of,
        put_below: true,
        ...(move.from === undefined || move.to === undefined
          ? {}
          : { moved_from: move.from, moved_to: move.to }),
      };
    case 'pin':
      if (!move.holds) return { ...of, pin_lost: move.position };
      return {
        ...of,
        pinned_to: move.position,
        ...(move.from === undefined ? {} : { moved_from: move.from }),
      };
    case 'place':
      return {
        ...of,
        ...(move.from === undefined ? {} : { moved_from: move.from }),
        moved_to: move.to,
      };
  }
}
