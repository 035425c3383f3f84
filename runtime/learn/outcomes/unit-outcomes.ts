import type { Pieces } from '../../ground/core/pieces.js';
import { UnitMoments } from '../evaluation/unit-moments.js';
import type { ExperimentMetric } from '../../project/config/model/experiments.js';
import { metricsOf, type ReportPlan } from './report-plan.js';
import type { ScannedExperiment } from './scan-experiment.js';
import type { Act, Exposed, Past, Request, Told } from './unit-lines.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';

const DAY = 86_400_000;

/** What the units of one arm did. */
export interface ArmOutcomes {
  /** All units that were exposed. */
  units: number;
  /** All their requests, and those of them that failed. A failed request exposes its unit, since the arm may be the cause. */
  requests: number;
  failedRequests: number;
  /** Each metric of the units whose window has passed. */
  readonly metrics: readonly UnitMoments[];
  /** The first metric by the day on which the windows ended: days since 1970. */
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
  readonly past: PastCounts;
  /** Mature units whose window ended after the last record, or the last row of a file of outcomes. */
  quiet: number;
  /** New units by the day of their first exposure: days since 1970. */
  readonly arrivals: Map<number, number>;
  /** The times of the first and the last first exposure. */
  first: number;
  last: number;
}

/** What became of the feedback of the kinds that the metric needs. */
interface FeedbackCounts {
  byRequest: number;
  byUnit: number;
  byFile: number;
  duplicates: number;
  /** Of requests that are not in the experiment, or of units that are not. */
  outside: number;
  /** Before the first exposure of its unit, or after the end of its window. */
  outsideWindow: number;
}

/** What is known of the time before, of mature units of metrics with `adjust`. */
interface PastCounts {
  /** Units with a row in the file, or with an act in the time before. */
  known: number;
  unknown: number;
  /** Units whose past begins before the ledger does. */
  short: number;
}

/** Joins requests and feedback of an experiment, one partition after another. The partitions are removed. */
export function* unitOutcomes(plan: ReportPlan, scanned: ScannedExperiment): Pieces<UnitOutcomes> {
  const outcomes: UnitOutcomes = {
    arms: new Map(plan.arms.map(({ name }) => [name, newArm(plan)])),
    interleaved: 0,
    preferences: { control: 0, arm: 0, neither: 0 },
    severalArms: 0,
    feedback: { byRequest: 0, byUnit: 0, byFile: 0, duplicates: 0, outside: 0, outsideWindow: 0 },
    past: { known: 0, unknown: 0, short: 0 },
    quiet: 0,
    arrivals: new Map(),
    first: Infinity,
    last: -Infinity,
  };
  for (let part = 0; part < scanned.byRequest.count; part++)
    yield* giveToUnits(scanned, part, outcomes.feedback);
  scanned.byUnit.flush();
  const longest = Math.max(0, ...metricsOf(plan).map(({ before = 0 }) => before));
  const { start, pastStart } = scanned;
  const from = plan.population === undefined ? -Infinity : Math.max(start, pastStart + longest);
  for (let part = 0; part < scanned.byUnit.count; part++) {
    for (const unit of yield* unitsOf(scanned, part, from, outcomes.feedback)) {
      addUnit(plan, scanned, unit, outcomes);
      yield;
    }
    scanned.byUnit.remove(part);
  }
  return outcomes;
}

function newArm(plan: ReportPlan): ArmOutcomes {
  return {
    units: 0,
    requests: 0,
    failedRequests: 0,
    metrics: metricsOf(plan).map(() => new UnitMoments()),
    byDay: new Map(),
    degraded: new UnitMoments(),
    failed: new UnitMoments(),
  };
}

/** Finds the unit of feedback that names its request. */
function* giveToUnits(
  { byRequest, byUnit }: ScannedExperiment,
  part: number,
  counts: FeedbackCounts,
): Pieces<void> {
  const requests = new Map<string, Asked>();
  const told: Told[] = [];
  for (const line of byRequest.readJson(part) as Iterable<Exposed | Told>) {
    yield;
    if (line.is === 'told') {
      told.push(line);
      continue;
    }
    const { unit, isOther } = line;
    let known = requests.get(line.request);
    // One page of a request can count while another does not.
    if (known === undefined || (known.isOther === true && isOther === undefined))
      requests.set(line.request, (known = { unit, isOther, teams: new Map() }));
    for (const [id, team] of Object.entries(line.teams ?? {})) known.teams.set(id, team);
  }
  for (const { request, event, subject, time, values, identity } of told) {
    yield;
    const of = requests.get(request);
    if (of === undefined) {
      counts.outside += 1;
      continue;
    }
    const { unit, isOther, teams } = of;
    const team = teams.get(subject);
    const act: Act = { is: 'act', unit, event, time, values, isOther, team, identity, by: 'byRequest' };
    byUnit.appendJson(byUnit.of(unit), act);
  }
  byRequest.remove(part);
}

interface Asked {
  readonly unit: string;
  readonly isOther: true | undefined;
  readonly teams: Map<string, string>;
}

interface Unit {
  readonly arms: Set<string>;
  first: number;
  requests: number;
  degraded: number;
  failed: number;
  readonly acts: Act[];
  /** What identifies the acts: feedback that is sent again counts once. */
  readonly seen: Set<string>;
  /** Its past as a file says it. */
  past: Past | undefined;
}

/** @param from when requests begin to expose units */
function* unitsOf(
  { byUnit }: ScannedExperiment,
  part: number,
  from: number,
  counts: FeedbackCounts,
): Pieces<Iterable<Unit>> {
  const units = new Map<string, Unit>();
  for (const line of byUnit.readJson(part) as Iterable<Request | Act | Past>) {
    yield;
    let unit = units.get(line.unit);
    if (unit === undefined) {
      unit = {
        arms: new Set(),
        first: Infinity,
        requests: 0,
        degraded: 0,
        failed: 0,
        acts: [],
        seen: new Set(),
        past: undefined,
      };
      units.set(line.unit, unit);
    }
    if (line.is === 'past') {
      unit.past = line;
      continue;
    }
    if (line.is === 'request') {
      if (line.time < from) continue;
      unit.arms.add(line.arm);
      unit.first = Math.min(unit.first, line.time);
      unit.requests += 1;
      if (line.degraded) unit.degraded += 1;
      if (line.failed) unit.failed += 1;
      continue;
    }
    if (unit.seen.has(line.identity)) {
      counts.duplicates += 1;
      continue;
    }
    unit.seen.add(line.identity);
    unit.acts.push(line);
  }
  return units.values();
}

function addUnit(plan: ReportPlan, scanned: ScannedExperiment, unit: Unit, outcomes: UnitOutcomes): void {
  const { feedback, preferences, arrivals } = outcomes;
  const metrics = metricsOf(plan);
  const { first, acts } = unit;
  if (unit.arms.size === 0) {
    feedback.outside += acts.length;
    return;
  }
  if (unit.arms.size > 1) {
    outcomes.severalArms += 1;
    return;
  }
  outcomes.first = Math.min(outcomes.first, first);
  outcomes.last = Math.max(outcomes.last, first);
  const arrival = Math.floor(first / DAY);
  arrivals.set(arrival, (arrivals.get(arrival) ?? 0) + 1);
  countActs(metrics, unit, feedback);
  const isMature = first + plan.metric.within <= scanned.at;
  if (isMature && first + plan.metric.within > scanned.lastKnown) outcomes.quiet += 1;
  if (isMixed(plan)) {
    outcomes.interleaved += 1;
    if (!isMature) return;
    const [control] = plan.arms;
    let balance = 0;
    for (const { event, team } of acts.filter((act) => isWithin(plan.metric, first, act)))
      if (event === plan.metric.event && team !== undefined) balance += team === control?.name ? -1 : 1;
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
  const adjustedFirst = metrics.find(({ before }) => before !== undefined);
  for (const [at, metric] of metrics.entries()) {
    if (first + metric.within > scanned.at) continue;
    const now = acts.filter((act) => isWithin(metric, first, act));
    const past = pastOf(metric, at, unit, scanned.hasPastFile);
    const sums = [sumOf(metric, at, now), baseOf(metric, now), ...past] as const;
    own.metrics[at]?.add(...sums);
    if (metric === adjustedFirst) countPast(metric, unit, scanned, outcomes.past);
    if (at > 0) continue;
    const day = Math.floor((first + metric.within) / DAY);
    const ofDay = own.byDay.get(day) ?? new UnitMoments();
    own.byDay.set(day, ofDay);
    ofDay.add(...sums);
  }
}

/** Counts how the acts found their unit, and those that no metric needs. */
function countActs(
  metrics: readonly ExperimentMetric[],
  { first, acts }: Unit,
  counts: FeedbackCounts,
): void {
  for (const act of acts) {
    if (act.isOther === undefined) counts[act.by] += 1;
    const isUsed = metrics.some(
      (metric) =>
        [metric.event, metric.over].includes(act.event) &&
        (isWithin(metric, first, act) || isBefore(metric, first, act)),
    );
    if (!isUsed && act.isOther === undefined) counts.outsideWindow += 1;
  }
}

function isWithin({ within }: ExperimentMetric, first: number, { time, isOther }: Act): boolean {
  return isOther === undefined && time >= first && time <= first + within;
}

function isBefore({ before = 0 }: ExperimentMetric, first: number, { time }: Act): boolean {
  return time < first && time >= first - before;
}

/** @param at the number of the metric */
function sumOf({ event: wanted, value }: ExperimentMetric, at: number, acts: readonly Act[]): number {
  const own = acts.filter(({ event }) => event === wanted);
  if (value.kind === 'any') return own.length > 0 ? 1 : 0;
  // An event without the value adds nothing to the sum.
  return own.reduce((sum, { values }) => sum + (values[at] ?? 0), 0);
}

function baseOf({ over }: ExperimentMetric, acts: readonly Act[]): number {
  return over === undefined ? 1 : acts.filter(({ event }) => event === over).length;
}

/** The metric of the time before, and its base. A unit of which nothing is known has done nothing. */
function pastOf(
  metric: ExperimentMetric,
  at: number,
  { first, acts, past }: Unit,
  isFile: boolean,
): readonly [past?: number, base?: number] {
  if (metric.before === undefined) return [];
  const before = isFile ? [] : acts.filter((act) => isBefore(metric, first, act));
  return past === undefined
    ? [sumOf(metric, at, before), baseOf(metric, before)]
    : [past.value, metric.over === undefined ? 1 : past.base];
}

function countPast(
  metric: ExperimentMetric,
  { first, acts, past }: Unit,
  { hasPastFile, pastStart }: ScannedExperiment,
  counts: PastCounts,
): void {
  const isKnown = hasPastFile ? past !== undefined : acts.some((act) => isBefore(metric, first, act));
  counts[isKnown ? 'known' : 'unknown'] += 1;
  if (!hasPastFile && first - (metric.before ?? 0) < pastStart) counts.short += 1;
}
