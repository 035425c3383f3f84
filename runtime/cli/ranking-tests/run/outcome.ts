import type { FeatureValue } from '../../../ground/api/step-input.js';
import type { MillraceError } from '../../../ground/api/errors.js';
import type { PinSource } from '../../../ground/api/ranking-edit.js';
import type { Plan, PlannedStep } from '../../../request/compile/plan.js';
import type { STEP_OUTCOMES } from '../../../request/pipeline/explain/explanation.js';
import type { FinishedRun } from '../../../request/pipeline/explain/finished-run.js';
import { readCell } from '../../../request/pipeline/components/step-view.js';
import { degradationText } from '../../../request/pipeline/page/degraded.js';

/** A step, as messages name it. */
export type StepRef = Pick<PlannedStep, 'number' | 'as' | 'use' | 'kind'>;

/** What one step did to one candidate. */
export type Edit = { readonly step: StepRef; readonly sets: boolean } & (
  | { readonly kind: 'score'; readonly before: number; readonly after: number }
  | { readonly kind: 'pin'; readonly position: number; readonly source: PinSource }
  | { readonly kind: 'below' }
  | { readonly kind: 'place'; readonly from: number | undefined; readonly to: number }
);

/** What happened to one candidate. */
export interface RankedCase {
  readonly id: string;
  /** From 1 in the whole ranking; 0 if a filter removed it. */
  readonly place: number;
  /** After all steps; NaN if it has none. */
  readonly score: number;
  /** As answered. */
  readonly rankedScore: number;
  /** In the order that the steps ran. */
  readonly edits: readonly Edit[];
}

export interface StepOutcome {
  readonly step: StepRef;
  readonly outcome: (typeof STEP_OUTCOMES)[number];
  /** The candidates that the step saw. */
  readonly seen: number;
  /** For a filter: the ids that it removed. */
  readonly removed: readonly string[];
  /** For a rule: how many candidates it changed. */
  readonly applied: number;
}

/** The result of a request that was answered, with everything that a test can expect. */
export interface Outcome {
  /** The ids of the answered page, best first. For a pipeline that scores: the one id. */
  readonly page: readonly string[];
  /** By id: every candidate, in the order sent. */
  readonly candidates: ReadonlyMap<string, RankedCase>;
  readonly steps: readonly StepOutcome[];
  /** Whether limits or diversity fill the places around pins, slots and groups, so that any of these can lift a candidate. */
  readonly fillsAround: boolean;
  readonly degraded: readonly string[];
  /** Fields of the body that nothing declares. */
  readonly unknownFields: readonly string[];
  /** For a pipeline that scores: the answered values by name. */
  readonly answered: ReadonlyMap<string, FeatureValue>;
  /** By name: the wanted values, one for the request or by candidate id. */
  readonly values: ReadonlyMap<string, FeatureValue | ReadonlyMap<string, FeatureValue>>;
}

/** A request that failed. */
export interface FailedRequest {
  readonly error: MillraceError;
}

/** The slot of every value that a test can name, by name. */
export function slotsOf(plan: Plan): Map<string, number> {
  const slots = new Map<string, number>();
  plan.layout.columns.forEach(({ name }, slot) => name !== undefined && slots.set(name, slot));
  for (const { name, slot } of [...plan.definitions, ...plan.answer.named]) slots.set(name, slot);
  slots.delete('score');
  return slots;
}

/** Copies what a test can expect, before the frame is used again. @param wanted names of values */
export function outcomeOf(run: FinishedRun, wanted: ReadonlySet<string>): Outcome {
  const { plan, request, frame, ranking, trace, page, report } = run;
  const { ids } = request;
  const places = new Int32Array(frame.count);
  const answered = new Float64Array(frame.count);
  ranking.placeAll(places, answered);
  const edits = editsOf(run);
  const seen = new Map(trace.runs.map(({ step, rows }) => [step, rows.length]));
  const slots = slotsOf(plan);
  return {
    page: page.map(({ row }) => ids[row] ?? ''),
    candidates: new Map(
      ids.map((id, row) => [
        id,
        {
          id,
          place: places[row] ?? 0,
          score: ranking.scores[row] ?? NaN,
          rankedScore: answered[row] ?? NaN,
          edits: edits.get(row) ?? [],
        },
      ]),
    ),
    steps: run.steps.map(({ step, outcome, removed, applied }) => ({
      step,
      outcome,
      seen: seen.get(step) ?? 0,
      removed: removed.map((row) => ids[row] ?? ''),
      applied,
    })),
    fillsAround: ranking.fillsAround,
    degraded: report.degraded.map(degradationText),
    unknownFields: [...request.unknownFields.keys()],
    answered: new Map(plan.answer.values.map(({ name, slot }) => [name, readCell(frame, slot, 0)])),
    values: new Map(
      [...wanted].flatMap((name) => {
        const slot = slots.get(name);
        if (slot === undefined) return [];
        const isOfRequest = plan.layout.columns[slot]?.shape.scope === 'request';
        const value = isOfRequest
          ? readCell(frame, slot, 0)
          : new Map(ids.map((id, row) => [id, readCell(frame, slot, row)]));
        return [[name, value] as const];
      }),
    ),
  };
}

/** By row, in the order that the steps ran; the score changes of a step precede its moves. */
function editsOf({ trace, steps }: FinishedRun): Map<number, Edit[]> {
  const order = new Map(trace.runs.map(({ step }, place) => [step, place]));
  const setting = new Set(steps.flatMap(({ step, scored }) => (scored === undefined ? [] : [step])));
  const all = [
    ...trace.changes.map(({ step, row, before, after }) => ({
      row,
      edit: { step, sets: setting.has(step), kind: 'score', before, after } as const,
    })),
    ...trace.moves.map(({ row, ...move }) => ({ row, edit: { ...move, sets: false } })),
  ];
  all.sort((a, b) => (order.get(a.edit.step) ?? 0) - (order.get(b.edit.step) ?? 0));
  const edits = new Map<number, Edit[]>();
  for (const { row, edit } of all) edits.set(row, [...(edits.get(row) ?? []), edit]);
  return edits;
}
