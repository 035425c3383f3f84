import { absentKinds } from '../dataset/absent-kinds.js';
import { effectOf, type Effect } from '../evaluation/effect.js';
import {
  detectableEffect,
  SAMPLE_RATIO_LIMIT,
  sampleRatioTest,
  signTest,
  unitsNeeded,
} from '../evaluation/experiment-tests.js';
import { UnitMoments } from '../evaluation/unit-moments.js';
import { guardReport, type GuardReport } from './guards.js';
import type { ReportPlan } from './report-plan.js';
import { scanExperiment, type ScannedExperiment } from './scan-experiment.js';
import { unitOutcomes, type ArmOutcomes, type UnitOutcomes } from './unit-outcomes.js';

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
  readonly guards: readonly GuardReport[];
  /** How many days until an effect of the asked size is found; undefined if it is not known. */
  readonly moreDays: number | undefined;
  /** The least effect, as a share of control, that would be found by now. */
  readonly detectable: number;
  readonly verdict: Verdict | undefined;
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
  /** The time of the last record of the ledger. */
  readonly end: number;
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
 * @param work a folder for the partitions
 * @param wanted the relative effect that the experiment should find, such as 0.05
 * @throws DataSetProblem if the ledger has no request of the experiment
 */
export async function experimentReport(
  ledger: string,
  work: string,
  plan: ReportPlan,
  wanted: number,
  progress: (fraction: number) => void = () => undefined,
): Promise<ExperimentReport> {
  const scanned = await scanExperiment(ledger, work, plan, progress);
  const outcomes = unitOutcomes(plan, scanned);
  const hasEnded = scanned.end >= plan.until + plan.metric.within;
  const isSplit = plan.mode === 'split';
  const sampleRatio = isSplit
    ? sampleRatioTest(
        plan.arms.map(({ name }) => outcomes.arms.get(name)?.units ?? 0),
        plan.arms.map(({ weight }) => weight),
      )
    : undefined;
  const isHidden = sampleRatio !== undefined && sampleRatio < SAMPLE_RATIO_LIMIT;
  const context: Context = { plan, scanned, outcomes, wanted, hasEnded, isHidden };
  return {
    plan,
    end: scanned.end,
    hasEnded,
    arms: isSplit ? plan.arms.map((arm) => armReport(arm, context)) : [],
    days: isSplit && !isHidden ? daysOf(plan, outcomes) : [],
    preferences: isSplit ? undefined : preferencesOf(plan, outcomes, scanned),
    sampleRatio,
    isHidden,
    wanted,
    outcomes,
    scanned,
    warnings: warningsOf(plan, scanned),
  };
}

interface Context {
  readonly plan: ReportPlan;
  readonly scanned: ScannedExperiment;
  readonly outcomes: UnitOutcomes;
  readonly wanted: number;
  readonly hasEnded: boolean;
  readonly isHidden: boolean;
}

function armReport({ name, weight }: ReportPlan['arms'][number], context: Context): ArmReport {
  const { plan, outcomes, scanned, hasEnded, isHidden } = context;
  const [control] = plan.arms;
  const own = armOf(outcomes, name);
  const base = {
    arm: name,
    share: weight / plan.arms.reduce((sum, one) => sum + one.weight, 0),
    units: own.units,
    mature: own.metric.units,
    requests: own.requests,
    failed: own.failedRequests,
    value: own.metric.value,
  };
  if (name === control?.name || isHidden)
    return {
      ...base,
      effect: undefined,
      guards: [],
      moreDays: undefined,
      detectable: NaN,
      verdict: undefined,
    };
  const theirs = armOf(outcomes, control?.name ?? '');
  const effect = effectOf(own.metric, theirs.metric);
  const latenciesOf = (arm: string): { readonly latencies: ReturnType<typeof scanned.latencies.get> } => ({
    latencies: scanned.latencies.get(arm),
  });
  return {
    ...base,
    effect,
    guards: plan.guards.map((guard) =>
      guardReport(
        guard,
        { outcomes: own, ...latenciesOf(name) },
        { outcomes: theirs, ...latenciesOf(control?.name ?? '') },
        hasEnded,
      ),
    ),
    moreDays: moreDays(effect, own, theirs, context),
    // Without any variation, it is not known what would be found.
    detectable:
      effect.standardError > 0 ? detectableEffect(effect.standardError) / Math.abs(theirs.metric.value) : NaN,
    verdict: verdictOf(hasEnded ? effect.fixed : effect.always),
  };
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
  const effect = wanted * Math.abs(control.metric.value);
  const units = arm.units + control.units;
  const needed = (arm.metric.units + control.metric.units) * unitsNeeded(standardError, effect);
  const days = Math.max(last - first, DAY / 24) / DAY;
  const more = ((needed - units) / units) * days;
  return Number.isFinite(more) ? Math.max(0, Math.ceil(more)) : undefined;
}

function daysOf({ arms }: ReportPlan, outcomes: UnitOutcomes): DayEffect[] {
  const [control, ...others] = arms.map(({ name }) => ({ name, byDay: armOf(outcomes, name).byDay }));
  const all = [...new Set([...outcomes.arms.values()].flatMap(({ byDay }) => [...byDay.keys()]))];
  const found: DayEffect[] = [];
  for (const other of others) {
    const [own, theirs] = [new UnitMoments(), new UnitMoments()];
    for (const day of all.sort((a, b) => a - b)) {
      own.merge(other.byDay.get(day) ?? new UnitMoments());
      theirs.merge(control?.byDay.get(day) ?? new UnitMoments());
      const effect = effectOf(own, theirs);
      if (effect.standardError > 0 && effect.standardError < Infinity)
        found.push({ arm: other.name, time: (day + 1) * DAY, effect });
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

function warningsOf(
  { metric, unitField: unit }: ReportPlan,
  { kinds, report, sampled }: ScannedExperiment,
): string[] {
  const needed = [metric.event, ...(metric.over === undefined ? [] : [metric.over])];
  const warnings = [...absentKinds(needed, kinds)];
  if (sampled < 1)
    warnings.push(
      `the log has ${sampled * 100} % of the requests, chosen without regard to the ${unit}: outcomes are incomplete; write log: { unit: ${unit} }`,
    );
  const lost = report.damaged + report.torn + report.skipped;
  if (lost > 0) warnings.push(`${lost} damaged, torn or unknown frames of the ledger were skipped`);
  return warnings;
}
