import { timeText } from '../../ground/core/timestamp.js';
import { absentKinds } from '../dataset/absent-kinds.js';
import { spanText } from '../dataset/span-text.js';
import { kindsOf, metricsOf, type ReportPlan, type ReportSources } from './report-plan.js';
import type { ScannedExperiment } from './scan-experiment.js';
import type { UnitOutcomes } from './unit-outcomes.js';

const DAY = 86_400_000;

/** What the reader of a report should know, one sentence each. */
export function reportWarnings(
  plan: ReportPlan,
  { files: { outcomes, covariates } }: ReportSources,
  scanned: ScannedExperiment,
  { past, quiet }: UnitOutcomes,
): string[] {
  const { unitField: unit, experiment } = plan;
  const { at, lastKnown, otherRule, laterRows } = scanned;
  const before = metricsOf(plan).find((one) => one.before !== undefined)?.before ?? 0;
  const warnings = scanWarnings(plan, scanned);
  if (otherRule > -Infinity)
    warnings.push(
      `the metrics in experiments/${experiment}.yaml are not those of the requests until ${timeText(otherRule)}: an error rate of 5 % does not hold for a rule that was changed after the start`,
    );
  if (laterRows > 0)
    warnings.push(
      `${laterRows} rows of ${outcomes ?? ''} are later than the report (${timeText(at)}), so they do not count`,
    );
  if (quiet > 0 && lastKnown > -Infinity && at - lastKnown > DAY)
    warnings.push(
      `${quiet} ${unit}s are mature by the clock, but their windows end after the last known event, ${timeText(lastKnown)}; if this is a copy or an old file, report as at that time: --at ${timeText(lastKnown)}`,
    );
  if (covariates !== undefined && past.unknown > 0)
    warnings.push(`${past.unknown} ${unit}s are not in ${covariates}; their past counts as 0`);
  if (past.short > 0)
    warnings.push(
      `what ${past.short} ${unit}s did is not known for all of the ${spanText(before)} before their first request, so the adjustment gains less than it could`,
    );
  return warnings;
}

/** What a scan found wrong with a log. */
export function scanWarnings(plan: ReportPlan, { kinds, report, sampled }: ScannedExperiment): string[] {
  const unit = plan.unitField;
  const warnings = absentKinds(kindsOf(plan), kinds);
  if (sampled < 1)
    warnings.push(
      `the log has ${sampled * 100} % of the requests, chosen without regard to the ${unit}: outcomes are incomplete; write log: { unit: ${unit} }`,
    );
  const lost = report.damaged + report.torn + report.skipped;
  if (lost > 0) warnings.push(`${lost} damaged, torn or unknown frames of the ledger were skipped`);
  return warnings;
}
