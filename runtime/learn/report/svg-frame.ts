/** Plots as SVG, without scripts or style attributes, so that a strict policy of the page does not block them. */
import { escaped } from './escaped.js';

export const WIDTH = 420;
const HEIGHT = 260;
export const LEFT = 60;
const BOTTOM = 40;
export const TOP = 12;
const RIGHT = 12;
export const INNER_WIDTH = WIDTH - LEFT - RIGHT;
export const INNER_HEIGHT = HEIGHT - TOP - BOTTOM;

export interface Axis {
  readonly title: string;
  /** `at`: 0 to 1 along the axis. */
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** The axes of a plot and what is drawn between them. */
export function frame(label: string, x: Axis, y: Axis, content: string): string {
  const right = LEFT + INNER_WIDTH;
  const floor = TOP + INNER_HEIGHT;
  const xTicks = x.ticks.map(
    ({ at, text }) =>
      `<text x="${round(LEFT + at * INNER_WIDTH)}" y="${floor + 14}" text-anchor="middle">${escaped(text)}</text>`,
  );
  const yTicks = y.ticks.map(({ at, text }) => {
    const height = round(floor - at * INNER_HEIGHT);
    return `<line class="grid" x1="${LEFT}" x2="${right}" y1="${height}" y2="${height}"/><text x="${LEFT - 6}" y="${height + 4}" text-anchor="end">${escaped(text)}</text>`;
  });
  return [
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">`,
    ...yTicks,
    content,
    `<line class="axis" x1="${LEFT}" x2="${right}" y1="${floor}" y2="${floor}"/>`,
    ...xTicks,
    `<text x="${LEFT + INNER_WIDTH / 2}" y="${HEIGHT - 4}" text-anchor="middle">${escaped(x.title)}</text>`,
    `<text x="12" y="${TOP + INNER_HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 12 ${TOP + INNER_HEIGHT / 2})">${escaped(y.title)}</text>`,
    '</svg>',
  ].join('\n');
}

/** The least of 1, 2, 4, 5, 8 times a power of ten that is not below the value. */
export function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

export function numberTick(value: number): string {
  return String(Number(value.toPrecision(3)));
}

export function round(value: number, digits = 1): number {
  return Number(value.toFixed(digits));
}
