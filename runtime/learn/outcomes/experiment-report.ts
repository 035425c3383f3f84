import { adjusted, adjustmentOf, NO_ADJUSTMENT, type Adjustment } from '../evaluation/adjustment.js';
import { effectOf, type Effect } from '../evaluation/effect.js';
import {
  detectableEffect,
  SAMPLE_RATIO_LIMIT,
  sampleRatioTest,
  signTest,
  unitsNeeded,
} from '../evaluation/experiment-tests.js';
import { UnitMoments, type Moments } from '../evaluation/unit-moments.js';
import { inTurns } from '../../ground/core/pieces.js';
import { holm } from '../../ground/core/statistics.js';
import { guardReport, type GuardReport, type Side } from './guards.js';
import { metricsOf, type ReportPlan, type ReportSources } from './report-plan.js';
import { reportWarnings } from './report-warnings.js';
import { scanExperiment, type ScannedExperiment } from './scan-experiment.js';
import { unitOutcomes, type ArmOutcomes, type UnitOutcomes } from './unit-outcomes.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';
import type { ExperimentMetric } from '../../project/config/model/experiments.js';

const DAY = 86_400_000;

/** What an arm of an experiment did. */
export interface ArmReport {
  readonly arm: string;
  /** The part of the units that it should have, 0 to 1. */
  readonly share: number;
  readonly units: number;
  /** Units whose window has passed. Only they are in the metric. */
  readonly mature: number;
  readonly requests: number;
  /** Of the requests: those that failed. */
  readonly failed: number;
  /** NaN without mature units. */
  readonly value: number;
  /** The comparison with control; undefined for control, and if the effects are hidden. */
  readonly effect: Effect | undefined;
  /** The metric and the effect after the adjustment by the past; undefined if the metric has no `adjust`. */
  readonly adjusted: AdjustedArm | undefined;
  /** In the order of the plan; none for control. */
  readonly secondary: readonly SecondaryReport[];
  readonly guards: readonly GuardReport[];
  /** How many days until an effect of the asked size is found; undefined if it is not known. */
  readonly moreDays: number | undefined;
  /** The least effect, as a share of control, that would be found by now. */
  readonly detectable: number;
  readonly verdict: Verdict | undefined;
}

export interface AdjustedArm {
  readonly value: number;
  /** Undefined as that of the arm. It decides. */
  readonly effect: Effect | undefined;
}

/** What an arm did by a metric that does not decide. */
export interface SecondaryReport {
  readonly metric: ExperimentMetric;
  readonly mature: number;
  readonly control: number;
  readonly arm: number;
  /** That of `adjust`, if the metric has it. */
  readonly effect: Effect;
  /** Corrected for the number of secondary metrics and arms. */
  readonly p: number;
  /** The interval and the verdict are of a single look, once the experiment has ended. */
  readonly hasEnded: boolean;
  readonly verdict: Verdict;
}

export type Verdict = 'better' | 'worse' | 'undecided';

/** The effect up to a day, of the units whose windows had ended by then. */
export interface DayEffect {
  readonly arm: string;
  /** The end of the day, epoch milliseconds. */
  readonly time: number;
  readonly effect: Effect;
}

export interface Preferences {
  readonly arm: string;
  readonly units: number;
  readonly prefersArm: number;
  readonly prefersControl: number;
  readonly neither: number;
  /** Requests that failed. They are in no other number. */
  readonly failedRequests: number;
  /** Of the sign test, two-sided. */
  readonly p: number;
  readonly verdict: Verdict;
}

export interface ExperimentReport {
  readonly plan: ReportPlan;
  /** The time of the report. */
  readonly at: number;
  /** The past of the metric; undefined without `adjust`. */
  readonly adjustment: Adjustment | undefined;
  /** True if the experiment has ended and all its units are mature: the fixed interval then decides. */
  readonly hasEnded: boolean;
  readonly arms: readonly ArmReport[];
  readonly days: readonly DayEffect[];
  readonly preferences: Preferences | undefined;
  /** The p value of the sample-ratio test; effects are hidden below `SAMPLE_RATIO_LIMIT`. Undefined for interleaving. */
  readonly sampleRatio: number | undefined;
  readonly isHidden: boolean;
  /** The relative effect that the power is for. */
  readonly wanted: number;
  readonly outcomes: UnitOutcomes;
  readonly scanned: ScannedExperiment;
  /** What the user should know, one sentence each. */
  readonly warnings: readonly string[];
}

/**
 * Reports on an experiment from a ledger. It reads the ledger once and divides it into partitions on disk, so its memory
 * does not grow with the ledger.
 * @param wanted the relative effect that the experiment should find, such as 0.05
 * @throws DataSetProblem if the ledger has no request of the experiment; InputError for a file
 */
export async function experimentReport(
  plan: ReportPlan,
  sources: ReportSources,
  wanted: number,
): Promise<ExperimentReport> {
  const { at } = sources;
  const scanned = await scanExperiment(plan, sources);
  const outcomes = await inTurns(unitOutcomes(plan, scanned), sources.checkStopped);
  const hasEnded = at >= plan.until + plan.metric.within;
  const isSplit = !isMixed(plan);
  const sampleRatio = isSplit
    ? sampleRatioTest(
        plan.arms.map(({ name }) => outcomes.arms.get(name)?.units ?? 0),
        plan.arms.map(({ weight }) => weight),
      )
    : undefined;
  const isHidden = sampleRatio !== undefined && sampleRatio < SAMPLE_RATIO_LIMIT;
  const adjustments = metricsOf(plan).map(({ before }, metric) =>
    before === undefined
      ? NO_ADJUSTMENT
      : adjustmentOf([...outcomes.arms.values()].flatMap(({ metrics }) => metrics[metric] ?? [])),
  );
  const context: Context = { plan, scanned, outcomes, adjustments, at, wanted, hasEnded, isHidden };
  return {
    plan,
    at,
    adjustment: plan.metric.before === undefined ? undefined : adjustments[0],
    hasEnded,
    arms: isSplit ? corrected(plan.arms.map((arm) => armReport(arm, context))) : [],
    days: isSplit && !isHidden ? daysOf(plan, outcomes) : [],
    preferences: isSplit ? undefined : preferencesOf(plan, outcomes, scanned),
    sampleRatio,
    isHidden,
    wanted,
    outcomes,
    scanned,
    warnings: reportWarnings(plan, sources, scanned, outcomes),
  };
}

interface Context {
  readonly plan: ReportPlan;
  readonly scanned: ScannedExperiment;
  readonly outcomes: UnitOutcomes;
  /** Of each metric. */
  readonly adjustments: readonly Adjustment[];
  readonly at: number;
  readonly wanted: number;
  readonly hasEnded: boolean;
  readonly isHidden: boolean;
}

function armReport({ name, weight }: ReportPlan['arms'][number], context: Context): ArmReport {
  const { plan, outcomes, scanned, hasEnded, isHidden } = context;
  const control = plan.arms[0]?.name ?? '';
  const own = armOf(outcomes, name);
  const raw = metricOf(own, 0);
  const better = momentsOf(own, 0, context);
  const adjustedArm = (effect: Effect | undefined): AdjustedArm | undefined =>
    plan.metric.before === undefined ? undefined : { value: better.value, effect };
  const base = {
    arm: name,
    share: weight / plan.arms.reduce((sum, one) => sum + one.weight, 0),
    units: own.units,
    mature: raw.units,
    requests: own.requests,
    failed: own.failedRequests,
    value: raw.value,
  };
  if (name === control || isHidden)
    return {
      ...base,
      effect: undefined,
      adjusted: adjustedArm(undefined),
      secondary: [],
      guards: [],
      moreDays: undefined,
      detectable: NaN,
      verdict: undefined,
    };
  const theirs = armOf(outcomes, control);
  const effect = effectOf(raw, metricOf(theirs, 0));
  const deciding = effectOf(better, momentsOf(theirs, 0, context));
  const sideOf = (arm: string, of: ArmOutcomes): Side => ({
    outcomes: of,
    latencies: scanned.latencies.get(arm),
  });
  return {
    ...base,
    effect,
    adjusted: adjustedArm(deciding),
    secondary: plan.secondary.map((metric, at) => secondaryReport(metric, at + 1, own, context)),
    guards: plan.guards.map((guard) =>
      guardReport(guard, sideOf(name, own), sideOf(control, theirs), hasEnded),
    ),
    moreDays: moreDays(deciding, own, theirs, context),
    // Without any variation, it is not known what would be found.
    detectable:
      deciding.standardError > 0
        ? detectableEffect(deciding.standardError) / Math.abs(metricOf(theirs, 0).value)
        : NaN,
    verdict: verdictOf(hasEnded ? deciding.fixed : deciding.always),
  };
}

/** `p` is that of the comparison alone, and there is no verdict yet; see `corrected`. */
function secondaryReport(
  metric: ExperimentMetric,
  at: number,
  own: ArmOutcomes,
  context: Context,
): SecondaryReport {
  const { plan, outcomes } = context;
  const arm = momentsOf(own, at, context);
  const control = momentsOf(armOf(outcomes, plan.arms[0]?.name ?? ''), at, context);
  const effect = effectOf(arm, control);
  const hasEnded = context.at >= plan.until + metric.within;
  return {
    metric,
    mature: arm.units,
    control: control.value,
    arm: arm.value,
    effect,
    p: hasEnded ? effect.fixedP : effect.alwaysP,
    hasEnded,
    verdict: 'undecided',
  };
}

const ALPHA = 0.05;

/**
 * Corrects the p values of all secondary comparisons together, so that the probability of any wrong one stays below 5 %.
 * The primary metric is one comparison, and needs no correction.
 */
function corrected(arms: readonly ArmReport[]): ArmReport[] {
  const all = arms.flatMap(({ secondary }) => secondary);
  const p = holm(all.map((one) => (Number.isNaN(one.p) ? 1 : one.p)));
  const ofOne = new Map(all.map((one, at) => [one, p[at] ?? 1]));
  return arms.map((arm) => ({
    ...arm,
    secondary: arm.secondary.map((one) => {
      const own = Number.isNaN(one.p) ? NaN : (ofOne.get(one) ?? 1);
      const found = one.effect.difference > 0 ? 'better' : 'worse';
      return { ...one, p: own, verdict: own < ALPHA ? found : 'undecided' };
    }),
  }));
}

/** A metric of an arm, without what is due to the past if it has `adjust`. */
function momentsOf(arm: ArmOutcomes, at: number, { adjustments }: Context): Moments {
  return adjusted(metricOf(arm, at), adjustments[at] ?? NO_ADJUSTMENT);
}

function metricOf({ metrics }: ArmOutcomes, at: number): UnitMoments {
  const found = metrics[at];
  if (found === undefined) throw new RangeError(`there is no metric ${at}`);
  return found;
}

function armOf({ arms }: UnitOutcomes, name: string): ArmOutcomes {
  const found = arms.get(name);
  if (found === undefined) throw new RangeError(`there is no arm ${name}`);
  return found;
}

function verdictOf({ lower, upper }: Effect['fixed']): Verdict {
  return lower > 0 ? 'better' : upper < 0 ? 'worse' : 'undecided';
}

/** How many days of new units are missing, if units come as often as until now. */
function moreDays(
  { standardError }: Effect,
  arm: ArmOutcomes,
  control: ArmOutcomes,
  { wanted, outcomes: { first, last } }: Context,
): number | undefined {
  if (!(standardError > 0)) return undefined;
  const [own, theirs] = [metricOf(arm, 0), metricOf(control, 0)];
  const effect = wanted * Math.abs(theirs.value);
  const units = arm.units + control.units;
  const needed = (own.units + theirs.units) * unitsNeeded(standardError, effect);
  const days = Math.max(last - first, DAY / 24) / DAY;
  const more = ((needed - units) / units) * days;
  return Number.isFinite(more) ? Math.max(0, Math.ceil(more)) : undefined;
}

/** The effects that decide, by day. */
function daysOf({ arms, metric }: ReportPlan, outcomes: UnitOutcomes): DayEffect[] {
  const sums = arms.map(({ name }) => ({
    arm: name,
    byDay: armOf(outcomes, name).byDay,
    all: new UnitMoments(),
  }));
  const [control, ...others] = sums;
  const days = new Set(sums.flatMap(({ byDay }) => [...byDay.keys()]));
  const found: DayEffect[] = [];
  for (const day of [...days].sort((a, b) => a - b)) {
    for (const { byDay, all } of sums) all.merge(byDay.get(day) ?? new UnitMoments());
    const adjustment = metric.before === undefined ? NO_ADJUSTMENT : adjustmentOf(sums.map(({ all }) => all));
    for (const { arm, all } of others) {
      if (control === undefined) continue;
      const effect = effectOf(adjusted(all, adjustment), adjusted(control.all, adjustment));
      if (effect.standardError > 0 && effect.standardError < Infinity)
        found.push({ arm, time: (day + 1) * DAY, effect });
    }
  }
  return found;
}

function preferencesOf(
  { arms }: ReportPlan,
  { preferences: { arm, control, neither }, interleaved }: UnitOutcomes,
  { failed }: ScannedExperiment,
): Preferences {
  const p = signTest(arm, control);
  return {
    arm: arms[1]?.name ?? '',
    units: interleaved,
    prefersArm: arm,
    prefersControl: control,
    neither,
    failedRequests: failed,
    p,
    verdict: p >= 0.05 ? 'undecided' : arm > control ? 'better' : 'worse',
  };
}
