/** Plots as SVG, without scripts or style attributes, so that a strict policy of the page does not block them. */
import { PLOTTED_PLACES, type DiffReport } from '../judge/diff-report.js';
import {
  frame,
  INNER_HEIGHT,
  INNER_WIDTH,
  LEFT,
  niceAbove,
  numberTick,
  round,
  TOP,
  WIDTH,
} from './svg-frame.js';

/** Places in A against places in B: a candidate on the diagonal did not move. */
export function placesPlot({ places }: DiffReport): string {
  const reached = Math.max(
    5,
    ...places.flatMap((row, a) => row.map((count, b) => (count > 0 ? Math.max(a, b) + 1 : 0))),
  );
  const most = Math.max(1, ...places.flat());
  const width = INNER_WIDTH / reached;
  const height = INNER_HEIGHT / reached;
  const cells = places.slice(0, reached).flatMap((row, a) =>
    row.slice(0, reached).flatMap((count, b) => {
      if (count === 0) return [];
      // Place 1 is at the top left.
      const title = `place ${a + 1} in A, place ${b + 1} in B: ${count}`;
      const opacity = round(0.12 + 0.88 * Math.sqrt(count / most), 2);
      return [
        `<rect class="mark" x="${round(LEFT + a * width)}" y="${round(TOP + b * height)}" width="${round(width * 0.94)}" height="${round(height * 0.94)}" fill-opacity="${opacity}"><title>${title}</title></rect>`,
      ];
    }),
  );
  const ticks = ticksOf(reached).map((place) => ({ at: (place - 0.5) / reached, text: String(place) }));
  return frame(
    'places of candidates in A and in B',
    { title: `place in A${reached === PLOTTED_PLACES ? `, up to ${PLOTTED_PLACES}` : ''}`, ticks },
    { title: 'place in B', ticks: ticks.map(({ at, text }) => ({ at: 1 - at, text })) },
    cells.join('\n'),
  );
}

function ticksOf(most: number): number[] {
  const step = Math.max(1, Math.ceil(most / 8));
  return Array.from({ length: Math.ceil(most / step) }, (_, at) => (at === 0 ? 1 : at * step));
}

const BINS = 20;

/** How many requests have which similarity. */
export function rboPlot({ requests, p }: DiffReport): string {
  const counts = new Array<number>(BINS).fill(0);
  for (const { rbo } of requests) {
    const bin = Math.min(BINS - 1, Math.floor(rbo * BINS));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  const most = niceAbove(Math.max(1, ...counts));
  const width = INNER_WIDTH / BINS;
  const bars = counts.flatMap((count, bin) => {
    if (count === 0) return [];
    const height = (count / most) * INNER_HEIGHT;
    const title = `${(bin / BINS).toFixed(2)} to ${((bin + 1) / BINS).toFixed(2)}: ${count} requests`;
    return [
      `<rect class="mark" x="${round(LEFT + bin * width + 1)}" y="${round(TOP + INNER_HEIGHT - height)}" width="${round(width - 2)}" height="${round(height)}"><title>${title}</title></rect>`,
    ];
  });
  return frame(
    'requests by rank-biased overlap',
    {
      title: `rank-biased overlap, p = ${p}`,
      ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: String(at) })),
    },
    { title: 'requests', ticks: [0, 0.5, 1].map((at) => ({ at, text: numberTick(at * most) })) },
    bars.join('\n'),
  );
}

const POINTS = 100;

/** The share of requests that were answered within a time. */
export function latencyPlot({ times }: DiffReport): string {
  const longest = niceAbove(
    Math.max(...[times.a, times.b].map((sorted) => sorted[Math.floor(sorted.length * 0.99)] ?? 0), 0.1),
  );
  const line = (sorted: Float64Array): string => {
    const points = Array.from({ length: POINTS + 1 }, (_, at) => {
      const ms = (at / POINTS) * longest;
      const within = sorted.length === 0 ? 0 : countUpTo(sorted, ms) / sorted.length;
      return `${round(LEFT + (at / POINTS) * INNER_WIDTH)},${round(TOP + (1 - within) * INNER_HEIGHT)}`;
    });
    return points.join(' ');
  };
  const legend = ['A', 'B'].map(
    (side, at) =>
      `<line class="line ${side.toLowerCase()}" x1="${WIDTH - 90 + at * 42}" x2="${WIDTH - 74 + at * 42}" y1="${TOP + INNER_HEIGHT - 12}" y2="${TOP + INNER_HEIGHT - 12}"/><text x="${WIDTH - 70 + at * 42}" y="${TOP + INNER_HEIGHT - 8}">${side}</text>`,
  );
  return frame(
    'share of requests answered within a time',
    {
      title: 'milliseconds',
      ticks: [0, 0.25, 0.5, 0.75, 1].map((at) => ({ at, text: numberTick(at * longest) })),
    },
    { title: 'share of requests', ticks: [0, 0.5, 1].map((at) => ({ at, text: `${at * 100} %` })) },
    `<polyline class="line a" points="${line(times.a)}"/><polyline class="line b" points="${line(times.b)}"/>${legend.join('')}`,
  );
}

function countUpTo(sorted: Float64Array, most: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) <= most) low = middle + 1;
    else high = middle;
  }
  return low;
}
