import { spanText } from '../dataset/span-text.js';
import type { Adjustment } from '../evaluation/adjustment.js';
import type { Effect } from '../evaluation/effect.js';
import { SAMPLE_RATIO_LIMIT } from '../evaluation/experiment-tests.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { ArmReport, ExperimentReport } from '../outcomes/experiment-report.js';
import type { GuardReport } from '../outcomes/guards.js';
import type { ReportPlan } from '../outcomes/report-plan.js';
import type { Exclusion } from '../../state/ledger/experiment-columns.js';
import type { ExperimentMetric } from '../../project/config/model/experiments.js';
import { isMixed } from '../../project/config/model/experiment-modes.js';

/** What a metric is, e.g. `sum(revenue) of order within 7 d of the first request, for each user`. */
export function metricText(
  plan: Pick<ReportPlan, 'mode' | 'unit'>,
  { event, value, over, within }: ExperimentMetric,
): string {
  const { unit } = plan;
  const window = `within ${spanText(within)} of the first request`;
  if (isMixed(plan)) return `${event} by arm, ${window}, for each ${unit}`;
  const what =
    value.kind === 'sum'
      ? `sum(${value.of}) of ${event}`
      : value.kind === 'any'
        ? `any ${event}`
        : `number of ${event}`;
  return over === undefined ? `${what} ${window}, for each ${unit}` : `${what} by ${over}, ${window}`;
}

/** The rule of the decision. It is fixed by the file, before the start. */
export function ruleText({ metric, guards, until }: ReportPlan): string {
  const better = `that ${metric.before === undefined ? 'the metric' : 'the adjusted metric'} is higher than control's`;
  const margins = guards.map(
    ({ metric: guard, margin }) => `${guard} is worse by less than ${percent(margin)}`,
  );
  const worse = margins.length === 0 ? '' : `, and that ${margins.join(' and ')}`;
  const when =
    until === Infinity
      ? 'The interval that is valid at any time decides, since the file has no `until`.'
      : 'Until the end, the interval that is valid at any time decides.';
  return `Take an arm if it is shown at 95 % ${better}${worse}. Otherwise keep control. ${when}`;
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
    return `${hasEnded ? `Keep ${control}` : 'Not decided'}: ${arm} is better in the metric, but it is not shown${hasEnded ? '' : ' yet'} that it keeps ${unclear.join(', ')}.`;
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

/** What the past changed, e.g. `by the past: +3.9 (+37 %), 38 % less variance, correlation 0.62`. */
export function adjustedText(
  better: Effect,
  raw: Effect,
  { correlation }: Pick<Adjustment, 'correlation'>,
): string {
  const change = `${signedValue(better.difference)} (${signedPercent(better.relative)})`;
  const less = 1 - (better.standardError / raw.standardError) ** 2;
  return correlation === 0
    ? `by the past: ${change}; the past is unknown or does not vary with the metric, so nothing changes`
    : `by the past: ${change}; ${percent(less)} less variance, correlation ${correlation.toFixed(2)}`;
}

/** What a guard found, e.g. `latency_p99 12.1 → 12.9 ms (-3.1 % to +9.0 %), margin +10 %: holds`. */
export function guardText({ guard, control, arm, worse, margin, state }: GuardReport): string {
  const isTime = guard.startsWith('latency');
  const values = isTime
    ? `${msText(control)} → ${msText(arm)} ms`
    : `${percent(control)} → ${percent(arm)} of requests`;
  const range = [worse.lower, worse.upper].every(Number.isFinite)
    ? ` (${signedPercent(worse.lower)} to ${signedPercent(worse.upper)})`
    : isTime
      ? ' (too few requests for an interval)'
      : '';
  return `${guard} ${values}${range}, margin +${percent(margin)}: ${state}`;
}

function msText(ms: number): string {
  return Number.isNaN(ms) ? 'unknown' : ms.toFixed(1);
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

const EXCLUDED: Readonly<Record<Exclusion, (plan: ReportPlan) => string>> = {
  no_unit: ({ unit }) => `requests without a ${unit}`,
  override: () => 'requests whose arm a header chose',
  not_interleaved: () => 'requests whose arms could not be interleaved',
  no_variant: ({ assign }) => `requests without ${assign ?? 'an arm'}`,
  unknown_variant: ({ assign }) => `requests whose ${assign ?? 'variant'} is no arm`,
};

/** What is not in the result, one part each. */
export function leftOutTexts({ scanned, outcomes, plan }: ExperimentReport): readonly string[] {
  const { feedback } = outcomes;
  const count = (name: string): number => scanned.excluded.get(name) ?? 0;
  const others = [...scanned.excluded].filter(([reason]) => !Object.hasOwn(EXCLUDED, reason));
  const parts: readonly (readonly [number, string])[] = [
    ...Object.entries(EXCLUDED).map(([reason, what]) => [count(reason), what(plan)] as const),
    [others.reduce((sum, [, number]) => sum + number, 0), 'requests excluded for other reasons'],
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
  if (Number.isNaN(p)) return 'unknown';
  return p < 1e-4 ? 'below 0.0001' : p.toFixed(4);
}
