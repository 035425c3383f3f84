import type { ArmReport, ExperimentReport } from '../outcomes/experiment-report.js';
import { timeText } from '../../ground/core/timestamp.js';
import { note, section, table, type Part, type Report } from './tree.js';
import { daysPlot, unitsPlot } from './experiment-plots.js';
import type { Effect } from '../evaluation/effect.js';
import {
  adjustedText,
  daysText,
  decision,
  failedText,
  guardText,
  intervalText,
  leftOutTexts,
  metricText,
  percent,
  pText,
  signedPercent,
  signedValue,
  valueText,
} from './experiment-words.js';

/** What a report says. */
export function reportTree(report: ExperimentReport): Report {
  const { plan, arms, sampleRatio, scanned, preferences, isHidden, hasEnded, warnings } = report;
  const failed = failedText(report);
  const leftOut = leftOutTexts(report).join(', ');
  const state = hasEnded
    ? 'it has ended, and all units are mature'
    : plan.until === Infinity
      ? 'it has no end'
      : `it ends ${timeText(plan.until)}`;
  return {
    title: `Experiment ${plan.experiment}`,
    parts: [
      `${plan.experiment} (${plan.mode} by ${plan.unit}), at ${timeText(report.at)}; ${state}`,
      metricText(plan, plan.metric),
      ...section('', ...(preferences === undefined ? [armTable(report)] : preferenceParts(report))),
      ...(isHidden || preferences !== undefined ? [] : [plots(report)]),
      ...(isHidden ? [] : arms.slice(1).flatMap((arm) => effectParts(arm, report))),
      ...(isHidden ? [] : secondaryParts(report)),
      ...section(
        '',
        ...(sampleRatio === undefined ? [] : [listed('units', `sample-ratio test p ${pText(sampleRatio)}`)]),
        ...(scanned.end < report.at
          ? [listed('ledger', `the last record is of ${timeText(scanned.end)}`)]
          : []),
        ...(failed === undefined ? [] : [listed('failed', failed)]),
        ...(leftOut === '' ? [] : [listed('left out', leftOut)]),
        ...decision(report).map((sentence, at) => listed(at === 0 ? 'decision' : '', sentence)),
      ),
      { page: section('Warnings', ...warnings) },
    ],
  };
}

function listed(name: string, text: string): Part {
  return note(`${name.padEnd(9)} `, text, 10);
}

function armTable({ arms, adjustment, isHidden }: ExperimentReport): Part {
  const shown = (value: number): string => (isHidden ? 'hidden' : valueText(value));
  return table(
    {
      ...{ arm: 32, weight: 'right', units: 'right', mature: 'right', metric: 'right' },
      ...(adjustment === undefined ? {} : { adjusted: 'right' }),
    },
    arms.map(({ arm, share, units, mature, value, adjusted }) => [
      arm,
      percent(share),
      units.toLocaleString('en'),
      mature.toLocaleString('en'),
      shown(value),
      ...(adjusted === undefined ? [] : [shown(adjusted.value)]),
    ]),
  );
}

function plots({ plan, arms, days }: ExperimentReport): Part {
  const control = plan.arms[0]?.name ?? '';
  const known = arms.slice(1).filter(({ effect }) => effect !== undefined);
  return {
    plots: [
      ...known.map(({ arm }) => [`${arm} − ${control}, by day`, daysPlot(arm, days)] as const),
      ['Units by arm', unitsPlot(arms)],
    ],
  };
}

function effectParts(
  { arm, effect, adjusted, guards, moreDays, detectable }: ArmReport,
  { plan, adjustment, hasEnded, wanted }: ExperimentReport,
): readonly Part[] {
  if (effect === undefined || !Number.isFinite(effect.difference)) return [];
  const better = adjusted?.effect;
  const power = [
    Number.isFinite(detectable)
      ? `an effect of ${percent(detectable)} would be found by now`
      : 'it is not known which effect would be found by now',
    ...(moreDays === undefined ? [] : [daysText(moreDays, wanted)]),
  ].join('. ');
  return section(
    `${arm} − ${plan.arms[0]?.name ?? ''}: ${signedValue(effect.difference)} (${signedPercent(effect.relative)})`,
    ...intervals('  ', effect, better === undefined ? hasEnded : undefined),
    ...(better === undefined || adjustment === undefined
      ? []
      : [
          note('  adjusted', adjustedText(better, effect, adjustment), 4),
          ...intervals('    ', better, hasEnded),
        ]),
    ...guards.map((guard) => note('  guard', guardText(guard), 4)),
    note('  power:', power, 4),
  );
}

/**
 * @param indent of the lines
 * @param hasEnded which of the intervals decides; undefined if none of them does
 */
function intervals(
  indent: string,
  { fixed, always }: Effect,
  hasEnded: boolean | undefined,
): readonly Part[] {
  const decides = (one: boolean): string => (hasEnded === one ? ' (decides)' : '');
  return [
    note(`${indent}95 % interval, one look at the end  `, `${intervalText(fixed)}${decides(true)}`, 4),
    note(`${indent}95 % interval, valid at any time    `, `${intervalText(always)}${decides(false)}`, 4),
  ];
}

function secondaryParts({ plan, arms }: ExperimentReport): readonly Part[] {
  if (plan.secondary.length === 0) return [];
  const control = plan.arms[0]?.name ?? '';
  return section(
    'Secondary metrics, which do not decide; p corrected by Holm',
    ...plan.secondary.flatMap((metric, at) => [
      note('  ', metricText(plan, metric), 4),
      ...arms.slice(1).flatMap(({ arm, secondary }) => {
        const found = secondary[at];
        if (found === undefined) return [];
        const { effect, hasEnded, p, verdict } = found;
        const interval = intervalText(hasEnded ? effect.fixed : effect.always);
        const change = `${signedValue(effect.difference)} (${signedPercent(effect.relative)})`;
        return [note(`    ${arm} − ${control}:`, `${change} ${interval}, p ${pText(p)}: ${verdict}`, 6)];
      }),
    ]),
  );
}

function preferenceParts({ preferences, plan }: ExperimentReport): readonly Part[] {
  if (preferences === undefined) return [];
  const { arm, units, prefersArm, prefersControl, neither, p } = preferences;
  const mature = prefersArm + prefersControl + neither;
  return [
    table({ [`${plan.unit}s that prefer`]: 32, number: 'right' }, [
      [arm, prefersArm.toLocaleString('en')],
      [plan.arms[0]?.name ?? '', prefersControl.toLocaleString('en')],
      ['neither', neither.toLocaleString('en')],
    ]),
    `${mature.toLocaleString('en')} of ${units.toLocaleString('en')} ${plan.unit}s are mature; sign test p ${pText(p)}`,
  ];
}
