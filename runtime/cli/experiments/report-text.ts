import { wrap, wrapAfter } from '../../ground/core/wrap.js';
import type { ArmReport, ExperimentReport } from '../../learn/outcomes/experiment-report.js';
import { renderTable } from '../table.js';
import {
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
  timeText,
  valueText,
} from './report-words.js';

/** Renders a report as text, at most `width` columns wide. */
export function reportText(report: ExperimentReport, width: number): string {
  const { plan, sampleRatio, preferences, isHidden } = report;
  const failed = failedText(report);
  const leftOut = leftOutTexts(report);
  const state = report.hasEnded
    ? 'it has ended, and all units are mature'
    : plan.until === Infinity
      ? 'it has no end'
      : `it ends ${timeText(plan.until)}`;
  return [
    wrap(
      `${plan.experiment} (${plan.mode} by ${plan.unit}), until ${timeText(report.end)}; ${state}`,
      0,
      width,
    ),
    wrap(metricText(plan), 0, width),
    '\n',
    preferences === undefined ? armTable(report) : preferenceText(report, width),
    ...(isHidden ? [] : report.arms.slice(1).map((arm) => effectText(arm, report, width))),
    '\n',
    ...(sampleRatio === undefined
      ? []
      : listed('units', [`sample-ratio test p ${pText(sampleRatio)}`], width)),
    ...(failed === undefined ? [] : listed('failed', [failed], width)),
    ...(leftOut.length === 0 ? [] : listed('left out', leftOut, width)),
    ...decision(report).flatMap((sentence, at) => listed(at === 0 ? 'decision' : '', [sentence], width)),
  ].join('');
}

function listed(name: string, texts: readonly string[], width: number): string[] {
  return wrapAfter(`${name.padEnd(9)} `, texts.join(', '), 10, width).map((line) => `${line}\n`);
}

function armTable({ arms, isHidden }: ExperimentReport): string {
  return renderTable(
    [
      { title: 'arm', max: 32 },
      { title: 'weight', align: 'right' },
      { title: 'units', align: 'right' },
      { title: 'mature', align: 'right' },
      { title: 'metric', align: 'right' },
    ],
    arms.map(({ arm, share, units, mature, value }) => [
      arm,
      percent(share),
      units.toLocaleString('en'),
      mature.toLocaleString('en'),
      isHidden ? 'hidden' : valueText(value),
    ]),
  );
}

function effectText(
  { arm, effect, guards, moreDays, detectable }: ArmReport,
  report: ExperimentReport,
  width: number,
): string {
  const { plan, hasEnded, wanted } = report;
  if (effect === undefined || !Number.isFinite(effect.difference)) return '';
  const [ended, running] = hasEnded ? [' (decides)', ''] : ['', ' (decides)'];
  const title = `${arm} − ${plan.arms[0]?.name ?? ''}: ${signedValue(effect.difference)} (${signedPercent(effect.relative)})`;
  const power = [
    Number.isFinite(detectable)
      ? `an effect of ${percent(detectable)} would be found by now`
      : 'it is not known which effect would be found by now',
    ...(moreDays === undefined ? [] : [daysText(moreDays, wanted)]),
  ].join('. ');
  return [
    '\n',
    wrap(title, 0, width),
    `  95 % interval, one look at the end   ${intervalText(effect.fixed)}${ended}\n`,
    `  95 % interval, valid at any time     ${intervalText(effect.always)}${running}\n`,
    ...guards.flatMap((guard) => wrapAfter('  guard', guardText(guard), 4, width).map((line) => `${line}\n`)),
    ...wrapAfter('  power:', power, 4, width).map((line) => `${line}\n`),
  ].join('');
}

function preferenceText({ preferences, plan }: ExperimentReport, width: number): string {
  if (preferences === undefined) return '';
  const { arm, units, prefersArm, prefersControl, neither, p } = preferences;
  const mature = prefersArm + prefersControl + neither;
  return [
    renderTable(
      [
        { title: `${plan.unit}s that prefer`, max: 32 },
        { title: 'number', align: 'right' },
      ],
      [
        [arm, prefersArm.toLocaleString('en')],
        [plan.arms[0]?.name ?? '', prefersControl.toLocaleString('en')],
        ['neither', neither.toLocaleString('en')],
      ],
    ),
    wrap(
      `${mature.toLocaleString('en')} of ${units.toLocaleString('en')} ${plan.unit}s are mature; sign test p ${pText(p)}`,
      0,
      width,
    ),
  ].join('');
}
