import { timeText } from '../../ground/core/timestamp.js';
import type { ArmReport, DayEffect } from '../outcomes/experiment-report.js';
import { escaped } from './escaped.js';
import { frame, INNER_HEIGHT, INNER_WIDTH, LEFT, niceAbove, round, TOP } from './svg-frame.js';
import { intervalText, percent, signedValue, valueText } from './experiment-words.js';

/** The effect of the units that were mature by each day, with both intervals. */
export function daysPlot(arm: string, days: readonly DayEffect[]): string {
  const own = days.filter((day) => day.arm === arm);
  // The first intervals are so wide that the others could not be seen.
  const last = own.at(-1)?.effect;
  const widest =
    last === undefined ? 1 : 2.5 * Math.max(Math.abs(last.always.lower), Math.abs(last.always.upper));
  const most = niceAbove(Math.max(widest, Number.MIN_VALUE));
  const x = (at: number): number => round(LEFT + ((at + 0.5) / Math.max(1, own.length)) * INNER_WIDTH);
  const y = (value: number): number => {
    const within = Math.max(-most, Math.min(most, value));
    return round(TOP + ((most - within) / (2 * most)) * INNER_HEIGHT);
  };
  const bars = own.map(({ time, effect }, at) => {
    const title = `until ${timeText(time)}: ${signedValue(effect.difference)}, at any time ${intervalText(effect.always)}, one look ${intervalText(effect.fixed)}`;
    const bar = (interval: typeof effect.fixed, width: number, opacity: number): string =>
      `<rect class="mark" x="${round(x(at) - width / 2)}" y="${y(interval.upper)}" width="${width}" height="${round(Math.max(1, y(interval.lower) - y(interval.upper)))}" fill-opacity="${opacity}"><title>${escaped(title)}</title></rect>`;
    return `${bar(effect.always, 4, 0.3)}${bar(effect.fixed, 4, 0.7)}<circle class="mark" cx="${x(at)}" cy="${y(effect.difference)}" r="3"/>`;
  });
  const step = Math.max(1, Math.ceil(own.length / 4));
  const ticks = own.flatMap(({ time }, at) =>
    at % step === 0
      ? [{ at: (at + 0.5) / own.length, text: new Date(time - 1).toISOString().slice(5, 10) }]
      : [],
  );
  return frame(
    `effect of ${arm} by day`,
    { title: 'units mature by; wide: valid at any time, dark: one look', ticks },
    { title: 'difference', ticks: [0, 0.5, 1].map((at) => ({ at, text: valueText((2 * at - 1) * most) })) },
    bars.join('\n'),
  );
}

/** The units of each arm, and those of them that are mature. */
export function unitsPlot(arms: readonly ArmReport[]): string {
  const most = niceAbove(Math.max(1, ...arms.map(({ units }) => units)));
  const width = INNER_WIDTH / Math.max(1, arms.length);
  const bars = arms.map(({ arm, units, mature, share }, at) => {
    const bar = (count: number, opacity: number): string => {
      const height = (count / most) * INNER_HEIGHT;
      return `<rect class="mark" x="${round(LEFT + at * width + width * 0.2)}" y="${round(TOP + INNER_HEIGHT - height)}" width="${round(width * 0.6)}" height="${round(height)}" fill-opacity="${opacity}"><title>${escaped(`${arm}: ${units} units, ${mature} mature, weight ${percent(share)}`)}</title></rect>`;
    };
    return bar(units, 0.35) + bar(mature, 0.9);
  });
  return frame(
    'units by arm',
    {
      title: 'dark: mature',
      ticks: arms.map(({ arm }, at) => ({ at: (at + 0.5) / arms.length, text: arm.slice(0, 16) })),
    },
    { title: 'units', ticks: [0, 0.5, 1].map((at) => ({ at, text: (at * most).toLocaleString('en') })) },
    bars.join('\n'),
  );
}
