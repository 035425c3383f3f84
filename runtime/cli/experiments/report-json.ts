import type { ExperimentReport } from '../../learn/outcomes/experiment-report.js';
import { decision } from './report-words.js';

/** What `--json` prints. Numbers that are not known are null. */
export function reportJson(report: ExperimentReport): object {
  const { plan, arms, preferences, scanned, outcomes, days } = report;
  const { metric } = plan;
  const timeOf = (time: number): string | null =>
    Number.isFinite(time) ? new Date(time).toISOString() : null;
  return {
    experiment: plan.experiment,
    mode: plan.mode,
    unit: plan.unit,
    metric: { event: metric.event, value: metric.value, over: metric.over, within_ms: metric.within },
    from: timeOf(plan.from),
    until: timeOf(plan.until),
    ledger_end: timeOf(report.end),
    ended: report.hasEnded,
    sample_ratio_p: report.sampleRatio,
    effects_hidden: report.isHidden,
    arms: arms.map(
      ({
        arm,
        share,
        units,
        mature,
        requests,
        failed,
        value,
        effect,
        guards,
        verdict,
        detectable,
        moreDays,
      }) => ({
        arm,
        share,
        units,
        mature,
        requests,
        failed_requests: failed,
        ...(report.isHidden ? {} : { value }),
        ...(effect === undefined
          ? {}
          : {
              difference: effect.difference,
              relative: effect.relative,
              standard_error: effect.standardError,
              fixed: effect.fixed,
              always_valid: effect.always,
              verdict,
              guards,
              detectable,
              wanted: report.wanted,
              more_days: moreDays,
            }),
      }),
    ),
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
    warnings: report.warnings,
    decision: decision(report),
  };
}
