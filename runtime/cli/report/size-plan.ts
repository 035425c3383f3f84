import { timeText } from '../../ground/core/timestamp.js';
import { spanText } from '../../learn/dataset/span-text.js';
import type { Size, SizePlan } from '../../learn/outcomes/size-plan.js';
import { metricText, percent, ruleText, valueText } from '../../learn/report/experiment-words.js';
import { note, section, table, type Part } from '../../learn/report/tree.js';

/** What `experiments plan` prints. */
export function sizeParts(sized: SizePlan): readonly Part[] {
  const { plan, units, first, last, daily, mean, deviation, correlation, sizes, dated } = sized;
  const { metric, unitField: unit } = plan;
  const count = (value: number): string =>
    Number.isFinite(value) ? Math.round(value).toLocaleString('en') : 'unknown';
  const isAdjusted = correlation !== undefined;
  return [
    `${plan.experiment} (${plan.mode} by ${plan.unit}), from ${count(units)} ${unit}s of the log, ${timeText(first)} to ${timeText(last)}`,
    metricText(plan, metric),
    ...section(
      '',
      listed('metric', `mean ${valueText(mean)}, standard deviation ${valueText(deviation)}`),
      listed('traffic', `${count(daily)} new ${unit}s a day take part`),
      ...(isAdjusted
        ? [
            listed(
              'past',
              `correlation ${correlation.toFixed(2)} with the ${spanText(metric.before ?? 0)} before: ${percent(correlation ** 2)} less variance`,
            ),
          ]
        : []),
    ),
    ...section(
      '',
      table(
        {
          ...{ effect: 'right', [`${unit}s`]: 'right', days: 'right' },
          ...(isAdjusted ? { [`${unit}s, adjusted`]: 'right', 'days, adjusted': 'right' } : {}),
        },
        sizes.map(({ raw, adjusted }) => [
          percent(raw.effect),
          ...[raw, adjusted].flatMap((size) =>
            size === undefined ? [] : [count(size.units), count(size.days)],
          ),
        ]),
      ),
    ),
    ...section(
      '',
      `The power is 80 %, for one look at the end at 95 %. The last ${unit} is mature ${spanText(metric.within)} after these days.`,
      ...(dated === undefined ? [] : [listed('dates', datedText(dated.raw, dated.adjusted, unit))]),
      listed('rule', ruleText(plan)),
    ),
  ];
}

function datedText(raw: Size, adjusted: Size | undefined, unit: string): string {
  const better = adjusted === undefined ? '' : `, adjusted ${percent(adjusted.effect)}`;
  return `those of the file give ${Math.round(raw.units).toLocaleString('en')} ${unit}s, which find an effect of ${percent(raw.effect)}${better}`;
}

function listed(name: string, text: string): Part {
  return note(`${name.padEnd(9)} `, text, 10);
}

/** What `experiments plan --json` prints. */
export function sizeJson({ plan, first, last, warnings, ...rest }: SizePlan): object {
  return {
    experiment: plan.experiment,
    metric: metricText(plan, plan.metric),
    from: new Date(first).toISOString(),
    until: new Date(last).toISOString(),
    ...rest,
    rule: ruleText(plan),
    warnings,
  };
}
