import type { Pieces } from '../../../ground/core/pieces.js';
import { isKnown, Status, statusName, type StatusName, statusAt } from '../../../ground/api/status.js';
import type { NamedColumn, Plan } from '../../compile/plan.js';
import type { Frame } from '../../../language/frame/frame.js';
import { Accounts } from './accounts.js';
import { changesOf } from './changes.js';
import { comparePair } from './compare-pair.js';
import { explainCell } from './explain-cell.js';
import type { FinishedRun } from './finished-run.js';
import type {
  ExplainedCandidate,
  ExplainedFate,
  ExplainedStep,
  ExplainedValue,
  Explanation,
} from './explanation.js';
import type { Ranking } from '../../ordering/ranking.js';
import type { TakenArm } from '../../experiments/live-experiments.js';
import type { StepReport } from '../components/run-components.js';
import { teamName, type Teams } from '../interleave/mixed-run.js';
import { readCell } from '../components/step-view.js';
import { STAGES } from '../stages.js';
import { finiteOrNull, type PipelineAnswer } from '../answer-types.js';
import { PRIVATE } from '../page/private-value.js';

const MOST_FIELDS = 50;
const MOST_REMOVED_IDS = 20;
const MOST_DUPLICATE_IDS = 20;

/** Explains the answer of a request. The frame must still hold the request. */
export function* explain(run: FinishedRun): Pieces<Explanation> {
  const { plan, request, frame, ranking, report } = run;
  const missing = report.missingEntities.get(plan.candidateType.name) ?? 0;
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
      ...(missing === 0 ? {} : { missing }),
      left: ranking.rows.length,
      ...(report.indexed === undefined ? {} : { index: report.indexed }),
      ...(report.brought === undefined ? {} : { brought: report.brought }),
      ...(report.retrieval === undefined ? {} : { retrieval: report.retrieval }),
    },
    ...(run.why === undefined ? {} : { why: fateOf(run.why, run) }),
    params: Object.fromEntries(
      Array.from(plan.definition.params.values(), ({ name, value }) => [name, value]),
    ),
    ...(report.experiments.length === 0 ? {} : { experiments: report.experiments.map(shownArm) }),
    degraded: report.degraded,
    stages: STAGES.map(({ name }) => ({ stage: name, ms: report.stageMs[name] })),
    store: { round_trips: report.roundTrips, keys_read: report.keysRead },
    outside: {
      round_trips: report.outside.roundTrips,
      keys_read: report.outside.keysRead,
      ...(report.outside.reads === undefined ? {} : { reads: report.outside.reads }),
    },
    unknown_fields: mostOften(report.unknownFields),
    ...(report.coerced === undefined ? {} : { coerced_fields: mostOften(report.coerced.fields) }),
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
            plan.answer.values.map(({ name, slot }) => [name, explainCell(plan.layout, frame, slot, 0)]),
          ),
        }),
    page: yield* explainPage(run),
    ...(run.compare === undefined ? {} : { compared: yield* comparePair(run, run.compare) }),
    answer: shownAnswer(run),
  };
}

function mostOften(fields: ReadonlyMap<string, number>): Explanation['unknown_fields'] {
  return [...fields]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MOST_FIELDS)
    .map(([field, times]) => ({ field, times }));
}

function fateOf(id: string, { request, ranking, steps, report }: FinishedRun): ExplainedFate {
  const found = report.retrieval?.sought;
  const of = { candidate_id: id, ...(found === undefined ? {} : { found }) };
  const row = request.ids.indexOf(id);
  if (row < 0)
    return {
      ...of,
      fate: found === undefined ? 'not_sent' : found.merged === undefined ? 'not_found' : 'cut',
    };
  const removing = steps.find(({ removed }) => removed.includes(row));
  if (removing === undefined) {
    const at = ranking.slice(0, ranking.rows.length).findIndex((one) => one.row === row);
    return at < 0 ? { ...of, fate: 'removed' } : { ...of, fate: 'ranked', place: at + 1 };
  }
  const { step, causes, reason } = removing;
  const rules = causes?.of(row, 'hidden') ?? [];
  return {
    ...of,
    fate: 'removed',
    step: step.number,
    as: step.as,
    ...(rules.length === 0 ? {} : { rules }),
    ...(reason === '' ? {} : { reason }),
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

function* explainPage(run: FinishedRun): Pieces<ExplainedCandidate[]> {
  const { plan, request, frame, ranking, page, teams } = run;
  const rows = Int32Array.from(page, ({ row }) => row);
  const accounts = run.contributions ? yield* new Accounts(run).of(rows) : undefined;
  const changes = changesOf(run, rows);
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
      ...(accounts === undefined ? {} : { contributions: accounts.get(row) ?? [] }),
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

/** The values that the plan reads and computes for one row; `score` is shown separately. */
function valuesOf(
  plan: Plan,
  columns: readonly NamedColumn[],
  frame: Frame,
  row: number,
): Record<string, ExplainedValue> {
  const values: Record<string, ExplainedValue> = {};
  for (const { name, slot } of columns) values[name] = explainCell(plan.layout, frame, slot, row);
  return values;
}
