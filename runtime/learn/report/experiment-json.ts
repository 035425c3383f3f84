import type { ArmReport, ExperimentReport } from '../outcomes/experiment-report.js';
import type { Effect } from '../evaluation/effect.js';
import type { ExperimentMetric } from '../../project/config/model/experiments.js';
import { decision, ruleText } from './experiment-words.js';

/** What `--json` prints. Numbers that are not known are null. */
export function reportJson(report: ExperimentReport): object {
  const { plan, arms, preferences, scanned, outcomes, days } = report;
  const timeOf = (time: number): string | null =>
    Number.isFinite(time) ? new Date(time).toISOString() : null;
  return {
    experiment: plan.experiment,
    mode: plan.mode,
    unit: plan.unit,
    metric: metricJson(plan.metric),
    from: timeOf(plan.from),
    until: timeOf(plan.until),
    at: timeOf(report.at),
    ledger_end: timeOf(scanned.end),
    ended: report.hasEnded,
    sample_ratio_p: report.sampleRatio,
    effects_hidden: report.isHidden,
    arms: arms.map((arm) => armJson(arm, report)),
    ...(preferences === undefined ? {} : { preferences: preferences }),
    days: days.map(({ arm, time, effect }) => ({
      arm,
      until: timeOf(time),
      difference: effect.difference,
      fixed: effect.fixed,
      always_valid: effect.always,
    })),
    excluded: Object.fromEntries(scanned.excluded),
    units_in_several_arms: outcomes.severalArms,
    feedback: { ...outcomes.feedback, orphans: scanned.orphans },
    ...(report.adjustment === undefined
      ? {}
      : { past: { ...outcomes.past, correlation: report.adjustment.correlation } }),
    warnings: report.warnings,
    rule: ruleText(plan),
    decision: decision(report),
  };
}

function armJson(found: ArmReport, { isHidden, wanted }: ExperimentReport): object {
  const { arm, share, units, mature, requests, failed, value, effect, adjusted } = found;
  return {
    ...{ arm, share, units, mature, requests, failed_requests: failed },
    ...(isHidden ? {} : { value }),
    ...(isHidden || adjusted === undefined
      ? {}
      : { adjusted: { value: adjusted.value, ...effectJson(adjusted.effect) } }),
    ...(effect === undefined
      ? {}
      : {
          ...effectJson(effect),
          verdict: found.verdict,
          secondary: found.secondary.map((one) => ({
            metric: metricJson(one.metric),
            ...{ mature: one.mature, control: one.control, value: one.arm },
            ...effectJson(one.effect),
            ...{ p: one.p, verdict: one.verdict },
          })),
          guards: found.guards,
          detectable: found.detectable,
          wanted,
          more_days: found.moreDays,
        }),
  };
}

function metricJson({ event, value, over, within, before }: ExperimentMetric): object {
  return { event, value, over, within_ms: within, before_ms: before };
}

function effectJson(effect: Effect | undefined): object {
  if (effect === undefined) return {};
  const { difference, relative, standardError, fixed, always } = effect;
  return { difference, relative, standard_error: standardError, fixed, always_valid: always };
}
