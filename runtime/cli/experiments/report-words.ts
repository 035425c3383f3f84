import { spanText } from '../../learn/dataset/span-text.js';
import { SAMPLE_RATIO_LIMIT } from '../../learn/evaluation/experiment-tests.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { ArmReport, ExperimentReport } from '../../learn/outcomes/experiment-report.js';
import type { GuardReport } from '../../learn/outcomes/guards.js';
import type { ReportPlan } from '../../learn/outcomes/report-plan.js';

/** What the metric is, e.g. `sum(revenue) of order within 7 d, for each user`. */
export function metricText({ metric: { event, value, over, within }, unit, mode }: ReportPlan): string {
  const window = `within ${spanText(within)} of the first request`;
  if (mode === 'interleave') return `${event} by arm, ${window}, for each ${unit}`;
  const what =
    value.kind === 'sum'
      ? `sum(${value.of}) of ${event}`
      : value.kind === 'any'
        ? `any ${event}`
        : `number of ${event}`;
  return over === undefined ? `${what} ${window}, for each ${unit}` : `${what} by ${over}, ${window}`;
}

/** The decision, one sentence each. */
export function decision(report: ExperimentReport): readonly string[] {
  const { plan, isHidden, sampleRatio, preferences, arms, hasEnded } = report;
  const control = plan.arms[0]?.name ?? '';
  if (isHidden)
    return [
      `The effects are hidden: the numbers of ${plan.unit}s do not fit the weights of the arms (p ${pText(sampleRatio ?? 0)}; the limit is ${SAMPLE_RATIO_LIMIT}).`,
      `So ${plan.unit}s are lost in one arm more than in another, and the arms cannot be compared. Look for requests of one arm that fail, time out or are not logged, and for weights that changed during the experiment.`,
    ];
  if (preferences !== undefined) {
    const { arm, verdict, prefersArm, prefersControl, neither } = preferences;
    if (!hasEnded && prefersArm + prefersControl + neither === 0)
      return [
        `Not decided: no ${plan.unit} is mature yet, since ${spanText(plan.metric.within)} have not passed.`,
      ];
    const until = hasEnded ? '' : ' Decide at the end: the sign test is for a single look.';
    if (verdict === 'undecided')
      return [`Not decided: ${plan.unit}s prefer neither arm clearly enough.${until}`];
    const winner = verdict === 'better' ? arm : control;
    return [
      `More ${plan.unit}s prefer ${winner}.${until}`,
      'Interleaving tells the direction, not the size of the effect.',
    ];
  }
  return arms.slice(1).map((arm) => armDecision(arm, control, report));
}

function armDecision(
  { arm, verdict, guards, moreDays }: ArmReport,
  control: string,
  report: ExperimentReport,
): string {
  const { hasEnded, wanted } = report;
  const broken = guards.filter(({ state }) => state === 'broken').map(({ guard }) => guard);
  const unclear = guards.filter(({ state }) => state === 'unclear').map(({ guard }) => guard);
  if (verdict === 'better' && broken.length > 0)
    return `Keep ${control}: ${arm} is better in the metric, but it breaks ${broken.join(', ')}.`;
  if (verdict === 'better' && unclear.length > 0)
    return `${arm} is better than ${control}, but ${hasEnded ? 'the experiment was too short to tell' : 'it is not known yet'} whether it keeps ${unclear.join(', ')}.`;
  if (verdict === 'better') return `Take ${arm}: it is better than ${control}.`;
  if (verdict === 'worse') return `Keep ${control}: ${arm} is worse.`;
  if (broken.length > 0) return `Keep ${control}: ${arm} breaks ${broken.join(', ')}.`;
  const missing = report.arms.find((one) => Number.isNaN(one.value) && [control, arm].includes(one.arm));
  if (missing !== undefined) return absentDecision(missing, control, report);
  if (hasEnded) return `Keep ${control}: the experiment has ended, and no effect of ${arm} was found.`;
  const more = moreDays === undefined ? '' : ` ${daysText(moreDays, wanted)}`;
  return `Not decided: no effect of ${arm} was found yet.${more}`;
}

/** The decision if the metric of an arm is not known. */
function absentDecision(
  { arm, units, mature }: ArmReport,
  control: string,
  { plan: { unit, metric }, hasEnded }: ExperimentReport,
): string {
  if (mature > 0)
    return `${hasEnded ? `Keep ${control}` : 'Not decided'}: the metric of ${arm} is not known, since it had no ${metric.over ?? metric.event}.`;
  if (hasEnded) return `Keep ${control}: the experiment has ended, and ${arm} had no ${unit}.`;
  return units === 0
    ? `Not decided: ${arm} had no ${unit} yet.`
    : `Not decided: no ${unit} of ${arm} is mature yet, since ${spanText(metric.within)} have not passed.`;
}

/** Nobody waits longer. */
const MOST_DAYS = 1000;

/** What the power says. */
export function daysText(moreDays: number, wanted: number): string {
  const effect = `an effect of ${percent(wanted)}`;
  if (moreDays === 0) return `There are enough units to find ${effect}, once they are mature.`;
  const days =
    moreDays > MOST_DAYS
      ? `more than ${MOST_DAYS.toLocaleString('en')} days`
      : `${moreDays.toLocaleString('en')} more ${moreDays === 1 ? 'day' : 'days'}`;
  return `It takes ${days} to find ${effect} with a probability of 80 %.`;
}

/** What a guard found, e.g. `latency_p99 12.1 → 12.9 ms (-3.1 % to +9.0 %), bound +10 %: holds`. */
export function guardText(guard: GuardReport): string {
  return `${guardValues(guard)}: ${guard.state}`;
}

/** The same without the verdict. */
export function guardValues({ guard, control, arm, worse, bound }: GuardReport): string {
  const isTime = guard.startsWith('latency');
  const values = isTime
    ? `${control.toFixed(1)} → ${arm.toFixed(1)} ms`
    : `${percent(control)} → ${percent(arm)} of requests`;
  const range = [worse.lower, worse.upper].every(Number.isFinite)
    ? ` (${signedPercent(worse.lower)} to ${signedPercent(worse.upper)})`
    : isTime
      ? ' (too few requests for an interval)'
      : '';
  return `${guard} ${values}${range}, bound +${percent(bound)}`;
}

/** The requests that failed; undefined if none did. */
export function failedText({ arms, preferences }: ExperimentReport): string | undefined {
  const shown = (count: number): string => count.toLocaleString('en');
  if (preferences !== undefined) {
    const { failedRequests: failed } = preferences;
    return failed === 0
      ? undefined
      : `${shown(failed)} ${failed === 1 ? 'request' : 'requests'}, which showed no page and do${failed === 1 ? 'es' : ''} not count`;
  }
  if (arms.every(({ failed }) => failed === 0)) return undefined;
  return arms
    .map(({ arm, failed, requests }) => `${arm} ${shown(failed)} of ${shown(requests)} requests`)
    .join(', ');
}

/** What is not in the result, one part each. */
export function leftOutTexts({ scanned, outcomes, plan }: ExperimentReport): readonly string[] {
  const { feedback } = outcomes;
  const count = (name: string): number => scanned.excluded.get(name) ?? 0;
  const known = count('no_unit') + count('override') + count('not_interleaved');
  const others = [...scanned.excluded.values()].reduce((sum, one) => sum + one, 0) - known;
  const parts: readonly (readonly [number, string])[] = [
    [count('no_unit'), `requests without a ${plan.unit}`],
    [count('override'), 'requests whose arm a header chose'],
    [count('not_interleaved'), 'requests whose arms could not be interleaved'],
    [others, 'requests excluded for other reasons'],
    [outcomes.severalArms, `${plan.unit}s that were in several arms`],
    [feedback.outsideWindow, 'events outside the window'],
    [feedback.outside, `events of other requests and ${plan.unit}s`],
    [scanned.orphans, `events without a request and a ${plan.unit}`],
    [feedback.duplicates, 'repeated events'],
  ];
  return parts
    .filter(([number]) => number > 0)
    .map(([number, what]) => `${number.toLocaleString('en')} ${what}`);
}

export function intervalText({ lower, upper }: Interval): string {
  if (!Number.isFinite(lower) || !Number.isFinite(upper)) return 'unknown';
  return `[${signedValue(lower)}, ${signedValue(upper)}]`;
}

/** Four digits. */
export function valueText(value: number): string {
  if (!Number.isFinite(value)) return 'unknown';
  return value === 0
    ? '0'
    : Math.abs(value) >= 1e6 && Math.abs(value) < 1e15
      ? value.toFixed(0)
      : String(Number(value.toPrecision(4)));
}

export function signedValue(value: number): string {
  return value > 0 ? `+${valueText(value)}` : valueText(value);
}

/** A share in percent, with two digits. */
export function percent(share: number): string {
  if (!Number.isFinite(share)) return 'unknown';
  return `${Number((100 * share).toPrecision(3))} %`;
}

export function signedPercent(share: number): string {
  return share > 0 ? `+${percent(share)}` : percent(share);
}

export function pText(p: number): string {
  return p < 1e-4 ? 'below 0.0001' : p.toFixed(4);
}

/** A day and a minute, UTC. */
export function timeText(time: number): string {
  return Number.isFinite(time) ? `${new Date(time).toISOString().slice(0, 16)}Z` : 'unknown';
}
