import { UnitMoments } from '../evaluation/unit-moments.js';
import type { ReportPlan } from './report-plan.js';
import type { ScannedExperiment } from './scan-experiment.js';
import type { Act, Exposed, Request, Told } from './unit-lines.js';

const DAY = 86_400_000;

/** What the units of one arm did. */
export interface ArmOutcomes {
  /** All units that were exposed. */
  units: number;
  /** All their requests, and those of them that failed. A failed request exposes its unit, since the arm may be the cause. */
  requests: number;
  failedRequests: number;
  /** The metric of the units whose window has passed. */
  readonly metric: UnitMoments;
  /** The same by the day on which the windows ended: days since 1970. */
  readonly byDay: Map<number, UnitMoments>;
  /** Requests with each fault, divided by requests, over all units. */
  readonly degraded: UnitMoments;
  readonly failed: UnitMoments;
}

export interface UnitOutcomes {
  readonly arms: ReadonlyMap<string, ArmOutcomes>;
  /** Of an interleaving: all units that were exposed. */
  interleaved: number;
  /** Of an interleaving: mature units that preferred control, the other arm, or neither. */
  readonly preferences: { control: number; arm: number; neither: number };
  /** Units that had requests in several arms. They do not count. */
  severalArms: number;
  readonly feedback: FeedbackCounts;
  /** The times of the first and the last first exposure. */
  first: number;
  last: number;
}

/** What became of the feedback of the kinds that the metric needs. */
interface FeedbackCounts {
  byRequest: number;
  byUnit: number;
  duplicates: number;
  /** Of requests that are not in the experiment, or of units that are not. */
  outside: number;
  /** Before the first exposure of its unit, or after the end of its window. */
  outsideWindow: number;
}

/** Joins requests and feedback of an experiment, one partition after another. The partitions are removed. */
export function unitOutcomes(plan: ReportPlan, scanned: ScannedExperiment): UnitOutcomes {
  const outcomes: UnitOutcomes = {
    arms: new Map(plan.arms.map(({ name }) => [name, newArm()])),
    interleaved: 0,
    preferences: { control: 0, arm: 0, neither: 0 },
    severalArms: 0,
    feedback: { byRequest: 0, byUnit: 0, duplicates: 0, outside: 0, outsideWindow: 0 },
    first: Infinity,
    last: -Infinity,
  };
  for (let part = 0; part < scanned.byRequest.count; part++) giveToUnits(scanned, part, outcomes.feedback);
  scanned.byUnit.flush();
  for (let part = 0; part < scanned.byUnit.count; part++) {
    for (const unit of unitsOf(scanned, part, outcomes.feedback)) addUnit(plan, scanned.end, unit, outcomes);
    scanned.byUnit.remove(part);
  }
  return outcomes;
}

function newArm(): ArmOutcomes {
  return {
    units: 0,
    requests: 0,
    failedRequests: 0,
    metric: new UnitMoments(),
    byDay: new Map(),
    degraded: new UnitMoments(),
    failed: new UnitMoments(),
  };
}

/** Finds the unit of feedback that names its request. Repeated feedback counts once, as in `dataset build`. */
function giveToUnits({ byRequest, byUnit }: ScannedExperiment, part: number, counts: FeedbackCounts): void {
  const requests = new Map<string, { readonly unit: string; readonly teams: Map<string, string> }>();
  const told: Told[] = [];
  for (const line of byRequest.readJson(part) as Iterable<Exposed | Told>) {
    if (line.is === 'told') {
      told.push(line);
      continue;
    }
    const known = requests.get(line.request) ?? { unit: line.unit, teams: new Map<string, string>() };
    requests.set(line.request, known);
    for (const [id, team] of Object.entries(line.teams ?? {})) known.teams.set(id, team);
  }
  const seen = new Set<string>();
  for (const { request, event, subjectType, subject, time, value } of told) {
    const of = requests.get(request);
    const identity = JSON.stringify([request, event, subjectType, subject]);
    if (of === undefined) counts.outside += 1;
    else if (seen.has(identity)) counts.duplicates += 1;
    else {
      counts.byRequest += 1;
      const { unit, teams } = of;
      const act: Act = {
        is: 'act',
        unit,
        event,
        time,
        value,
        team: teams.get(subject),
        identity: undefined,
      };
      byUnit.appendJson(byUnit.of(unit), act);
    }
    seen.add(identity);
  }
  byRequest.remove(part);
}

interface Unit {
  readonly arms: Set<string>;
  first: number;
  requests: number;
  degraded: number;
  failed: number;
  readonly acts: Act[];
}

function unitsOf({ byUnit }: ScannedExperiment, part: number, counts: FeedbackCounts): Iterable<Unit> {
  const units = new Map<string, Unit>();
  const seen = new Map<string, Set<string>>();
  for (const line of byUnit.readJson(part) as Iterable<Request | Act>) {
    let unit = units.get(line.unit);
    if (unit === undefined) {
      unit = { arms: new Set(), first: Infinity, requests: 0, degraded: 0, failed: 0, acts: [] };
      units.set(line.unit, unit);
    }
    if (line.is === 'request') {
      unit.arms.add(line.arm);
      unit.first = Math.min(unit.first, line.time);
      unit.requests += 1;
      if (line.degraded) unit.degraded += 1;
      if (line.failed) unit.failed += 1;
      continue;
    }
    if (line.identity !== undefined) {
      const known = seen.get(line.unit) ?? new Set();
      seen.set(line.unit, known);
      if (known.has(line.identity)) {
        counts.duplicates += 1;
        continue;
      }
      known.add(line.identity);
      counts.byUnit += 1;
    }
    unit.acts.push(line);
  }
  return units.values();
}

function addUnit(plan: ReportPlan, end: number, unit: Unit, outcomes: UnitOutcomes): void {
  const { feedback, preferences } = outcomes;
  if (unit.arms.size === 0) {
    feedback.byUnit -= unit.acts.length;
    feedback.outside += unit.acts.length;
    return;
  }
  if (unit.arms.size > 1) {
    outcomes.severalArms += 1;
    return;
  }
  outcomes.first = Math.min(outcomes.first, unit.first);
  outcomes.last = Math.max(outcomes.last, unit.first);
  const { metric } = plan;
  const windowEnd = unit.first + metric.within;
  const acts = unit.acts.filter(({ time }) => time >= unit.first && time <= windowEnd);
  feedback.outsideWindow += unit.acts.length - acts.length;
  const isMature = windowEnd <= end;
  if (plan.mode === 'interleave') {
    outcomes.interleaved += 1;
    if (!isMature) return;
    const [control] = plan.arms;
    let balance = 0;
    for (const { event, team } of acts)
      if (event === metric.event && team !== undefined) balance += team === control?.name ? -1 : 1;
    preferences[balance > 0 ? 'arm' : balance < 0 ? 'control' : 'neither'] += 1;
    return;
  }
  const [arm = ''] = unit.arms;
  const own = outcomes.arms.get(arm);
  if (own === undefined) return;
  own.units += 1;
  own.requests += unit.requests;
  own.failedRequests += unit.failed;
  own.degraded.add(unit.degraded, unit.requests);
  own.failed.add(unit.failed, unit.requests);
  if (!isMature) return;
  const day = Math.floor(windowEnd / DAY);
  const ofDay = own.byDay.get(day) ?? new UnitMoments();
  own.byDay.set(day, ofDay);
  const [outcome, base] = [outcomeOf(plan, acts), baseOf(plan, acts)];
  for (const moments of [own.metric, ofDay]) moments.add(outcome, base);
}

function outcomeOf({ metric }: ReportPlan, acts: readonly Act[]): number {
  const own = acts.filter(({ event }) => event === metric.event);
  if (metric.value.kind === 'any') return own.length > 0 ? 1 : 0;
  // An event without the value adds nothing to the sum.
  return own.reduce((sum, { value }) => sum + (Number.isFinite(value) ? value : 0), 0);
}

function baseOf({ metric }: ReportPlan, acts: readonly Act[]): number {
  return metric.over === undefined ? 1 : acts.filter(({ event }) => event === metric.over).length;
}
