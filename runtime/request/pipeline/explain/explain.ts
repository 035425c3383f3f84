import type { Pieces } from '../../../ground/core/pieces.js';
import { isKnown, Status, statusName, type StatusName, statusAt } from '../../../ground/api/status.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import type { StatusCounts } from '../../../state/index/status-counts.js';
import type { Frame } from '../../../language/frame/frame.js';
import { finiteOrNull } from '../page/answer.js';
import type {
  ExplainedCandidate,
  ExplainedChange,
  ExplainedStep,
  ExplainedValue,
  Explanation,
} from './explanation.js';
import type { RankedRow, Ranking } from '../components/ranking.js';
import type { TakenArm } from '../../experiments/live-experiments.js';
import type { RankingRequest } from '../request/read-request.js';
import type { StepReport } from '../components/run-components.js';
import { teamName, type Teams } from '../interleave/mixed-run.js';
import { readCell } from '../components/step-view.js';
import type { Move, Trace } from '../components/trace.js';
import { STAGES } from '../stages.js';
import type { RunReport } from '../types.js';
import type { PipelineAnswer } from '../answer-types.js';
import { PRIVATE } from '../page/private-value.js';

const MOST_UNKNOWN_FIELDS = 50;
const MOST_REMOVED_IDS = 20;
const MOST_DUPLICATE_IDS = 20;
const MOST_ELEMENTS = 16;
const MOST_CHARACTERS = 500;

/** A finished request. */
export interface FinishedRun {
  readonly plan: Plan;
  readonly request: RankingRequest;
  readonly frame: Frame;
  readonly ranking: Ranking;
  readonly page: readonly RankedRow[];
  readonly steps: readonly StepReport[];
  readonly trace: Trace;
  readonly statuses: StatusCounts;
  readonly report: RunReport;
  readonly answer: PipelineAnswer;
  /** Of an interleaved request. */
  readonly teams?: Teams | undefined;
}

/** Explains the answer of a request. The frame must still hold the request. */
export function* explain(run: FinishedRun): Pieces<Explanation> {
  const { plan, request, frame, ranking, report } = run;
  return {
    request_id: request.requestId,
    run_id: run.trace.runId,
    pipeline: plan.definition.name,
    route: plan.definition.route.value,
    candidates: {
      sent: request.ids.length + request.duplicates.length,
      duplicates: {
        count: request.duplicates.length,
        ids: [...new Set(request.duplicates)].slice(0, MOST_DUPLICATE_IDS),
      },
      left: ranking.rows.length,
      ...(report.indexed === undefined ? {} : { index: report.indexed }),
    },
    params: Object.fromEntries(
      Array.from(plan.definition.params.values(), ({ name, value }) => [name, value]),
    ),
    ...(report.experiments.length === 0 ? {} : { experiments: report.experiments.map(shownArm) }),
    degraded: report.degraded,
    stages: STAGES.map(({ name }) => ({ stage: name, ms: report.stageMs[name] })),
    store: { round_trips: report.roundTrips, keys_read: report.keysRead },
    outside: { round_trips: report.outside.roundTrips, keys_read: report.outside.keysRead },
    unknown_fields: [...report.unknownFields]
      .sort(([, a], [, b]) => b - a)
      .slice(0, MOST_UNKNOWN_FIELDS)
      .map(([field, times]) => ({ field, times })),
    features: run.statuses.list().map(({ view, status, cause, values }) => ({
      view,
      status,
      ...(cause === undefined ? {} : { cause }),
      values,
    })),
    steps: run.steps.map((step) => explainStep(step, run)),
    request: valuesOf(plan, plan.shown.request, frame, 0),
    ...(plan.definition.task === 'rank'
      ? {}
      : {
          answered: Object.fromEntries(
            plan.answer.values.map(({ name, slot }) => [name, explainCell(plan, frame, slot, 0)]),
          ),
        }),
    page: yield* explainPage(run),
    answer: shownAnswer(run),
  };
}

function shownArm({
  experiment,
  arm,
  excluded,
  problem,
}: TakenArm): NonNullable<Explanation['experiments']>[number] {
  return {
    experiment,
    arm,
    ...(excluded === undefined ? {} : { excluded }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** Who placed a candidate, and its places in the orders of both arms. */
function shownTeam(teams: Teams, row: number): NonNullable<ExplainedCandidate['interleaved']> {
  const places = teams.order.placesOf(row);
  return {
    team: teamName(teams, row) ?? null,
    places: Object.fromEntries(teams.arms.map((arm, at) => [arm, places[at] ?? null])),
  };
}

/** The answer, without the private values of `answer:`. The route itself answers with them. */
function shownAnswer({ plan, answer }: FinishedRun): PipelineAnswer {
  const hidden = plan.answer.values.filter(({ slot }) => plan.layout.columns[slot]?.isPrivate === true);
  return hidden.length === 0
    ? answer
    : { ...answer, ...Object.fromEntries(hidden.map(({ name }) => [name, PRIVATE])) };
}

function explainStep(report: StepReport, run: FinishedRun): ExplainedStep {
  const { request, frame, ranking } = run;
  const { step, outcome, removed, applied, skipped, notFinite = 0 } = report;
  const ran = outcome === 'ran';
  const reason = outcome === 'not_asked_for' && report.reason === '' ? whyNot(step, frame) : report.reason;
  const hidden = hiddenBy(report, request.ids);
  const unknown = ran && skipped > 0 ? notKnown(step, run) : {};
  return {
    step: step.number,
    use: step.use,
    as: step.as,
    kind: step.kind,
    ...(step.version === undefined ? {} : { version: step.version }),
    ...(step.component.notes === undefined ? {} : { notes: step.component.notes }),
    ...(step.when === undefined ? {} : { when: step.when.text }),
    ...(step.top === undefined ? {} : { top: step.top }),
    outcome,
    ...(reason === '' ? {} : { reason }),
    ...(ran && (step.kind === 'filter' || removed.length > 0)
      ? {
          removed: {
            count: removed.length,
            ids: removed.slice(0, MOST_REMOVED_IDS).map((row) => request.ids[row] ?? ''),
          },
        }
      : {}),
    ...(ran && step.kind === 'filter' ? { undecided: skipped } : {}),
    ...(ran && step.kind === 'rule' ? { applied, skipped } : {}),
    ...(notFinite === 0 ? {} : { not_finite: notFinite }),
    ...(Object.keys(unknown).length === 0 ? {} : { not_known: unknown }),
    ...(hidden.size === 0 ? {} : { hidden: Object.fromEntries(hidden) }),
    reads: step.reads,
    ...(step.outputs.size === 0
      ? {}
      : {
          outputs: Object.fromEntries(
            [...step.outputs].map(([name, slot]) => [name, statusesOf(frame, slot, ranking.rows)]),
          ),
        }),
  };
}

/** The ids that the rules inside a step removed, by rule. */
function hiddenBy({ removed, causes }: StepReport, ids: readonly string[]): Map<string, string[]> {
  const hidden = new Map<string, string[]>();
  for (const row of causes === undefined ? [] : removed)
    for (const rule of causes?.of(row, 'hidden') ?? []) {
      const known = hidden.get(rule) ?? [];
      if (known.length < MOST_REMOVED_IDS) hidden.set(rule, [...known, ids[row] ?? '']);
    }
  return hidden;
}

/** The reason why the `when:` of a step was not true. */
function whyNot({ when }: StepReport['step'], frame: Frame): string {
  if (when === undefined) return '';
  const { value, status } = readCell(frame, when.slot, 0);
  return value === undefined ? `when: is not known (${status})` : 'when: is false';
}

/** The names that a step reads and that are unknown for some remaining candidates, with their statuses. */
function notKnown(
  step: StepReport['step'],
  { plan, frame, ranking }: FinishedRun,
): Record<string, Partial<Record<StatusName, number>>> {
  const slots = new Map(plan.definitions.map(({ name, slot }) => [name, slot]));
  plan.layout.columns.forEach(({ name }, slot) => name !== undefined && slots.set(name, slot));
  const found: Record<string, Partial<Record<StatusName, number>>> = {};
  for (const name of step.reads) {
    const slot = slots.get(name);
    if (slot === undefined || name === 'score') continue;
    const counts = Object.entries(statusesOf(frame, slot, ranking.rows)).filter(
      ([status]) => status !== 'defaulted' && !isKnown(Status[status as keyof typeof Status]),
    );
    if (counts.length > 0) found[name] = Object.fromEntries(counts);
  }
  return found;
}

function statusesOf(frame: Frame, slot: number, rows: Int32Array): Partial<Record<StatusName, number>> {
  const column = frame.columns[slot];
  const counts: Partial<Record<StatusName, number>> = {};
  if (column === undefined) return counts;
  for (const row of rows) {
    const name = statusName(statusAt(column.status, row * column.stride));
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function* explainPage({
  plan,
  request,
  frame,
  ranking,
  page,
  trace,
  teams,
}: FinishedRun): Pieces<ExplainedCandidate[]> {
  const changes = new Map<number, ExplainedChange[]>(page.map(({ row }) => [row, []]));
  // Both lists are in execution order; the score changes of a step precede its moves.
  const edits = [
    ...trace.changes.map(({ step, row, before, after }) => ({
      row,
      step,
      change: { step: step.number, as: step.as, before: finiteOrNull(before), after: finiteOrNull(after) },
    })),
    ...trace.moves.map((move) => ({ row: move.row, step: move.step, change: explainMove(move) })),
  ];
  const order = new Map(trace.runs.map(({ step }, place) => [step, place]));
  edits.sort((a, b) => (order.get(a.step) ?? 0) - (order.get(b.step) ?? 0));
  for (const { row, step, change } of edits) {
    const rules = trace.causes.get(step)?.of(row, 'before' in change ? 'score' : 'place');
    changes.get(row)?.push(rules === undefined ? change : { ...change, rules });
  }
  const places = new Map(ranking.slice(0, ranking.rows.length).map(({ row }, place) => [row, place + 1]));
  const explained: ExplainedCandidate[] = [];
  for (const { row, score } of page) {
    explained.push({
      candidate_id: request.ids[row] ?? '',
      place: places.get(row) ?? 0,
      ranked_score: finiteOrNull(score),
      score: finiteOrNull(ranking.scores[row] ?? 0),
      ...(teams === undefined ? {} : { interleaved: shownTeam(teams, row) }),
      changes: changes.get(row) ?? [],
      ...drawnOf(ranking, (places.get(row) ?? 0) - 1),
      values: valuesOf(plan, plan.shown.candidate, frame, row),
    });
    yield;
  }
  return explained;
}

/** What was drawn at a place, from 0. */
function drawnOf({ explored }: Ranking, place: number): Pick<ExplainedCandidate, 'drawn'> {
  const propensity = explored?.propensity[place] ?? NaN;
  if (explored === undefined || Number.isNaN(propensity)) return {};
  return {
    drawn: {
      place_before: explored.before.indexOf(explored.order[place] ?? 0) + 1,
      propensity,
      marginal: explored.marginals[place] ?? NaN,
    },
  };
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

/** The values that the plan reads and computes for one row; `score` is shown separately. */
function valuesOf(
  plan: Plan,
  columns: readonly NamedColumn[],
  frame: Frame,
  row: number,
): Record<string, ExplainedValue> {
  const values: Record<string, ExplainedValue> = {};
  for (const { name, slot } of columns) values[name] = explainCell(plan, frame, slot, row);
  return values;
}

function explainCell(plan: Plan, frame: Frame, slot: number, row: number): ExplainedValue {
  const { value, status, cause } = readCell(frame, slot, row);
  const more = cause === undefined ? {} : { cause };
  if (value === undefined) return { value: null, status, ...more };
  if (plan.layout.columns[slot]?.isPrivate === true) return { value: PRIVATE, status, ...more };
  if (typeof value === 'number') return { value, status, ...more };
  const most = typeof value === 'string' ? MOST_CHARACTERS : MOST_ELEMENTS;
  const length = value.length > most ? { length: value.length } : {};
  const cut = value.slice(0, most);
  // Unknown list elements are NaN, which JSON cannot represent.
  const shown = typeof cut === 'string' ? cut : cut.map((one) => (Number.isNaN(one) ? null : one));
  return { value: shown, status, ...more, ...length };
}
