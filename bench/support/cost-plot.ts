import { mkdir, writeFile } from 'node:fs/promises';
import { repositoryPath } from '../../test/support/repository.js';
import { escaped } from '../../runtime/learn/report/escaped.js';
import {
  frame,
  INNER_HEIGHT,
  INNER_WIDTH,
  LEFT,
  numberTick,
  round,
  TOP,
} from '../../runtime/learn/report/svg-frame.js';

/** One line of a plot. */
export interface CostLine {
  readonly name: string;
  readonly points: readonly { readonly candidates: number; readonly ms: number }[];
}

/** Of Okabe and Ito: people who see few colours can tell them apart, on white and on black. */
const COLOURS = ['#d55e00', '#0072b2', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];
const STYLE =
  'text { font: 12px sans-serif; fill: #555; } .grid { stroke: #8884; } .axis { stroke: #888; } ' +
  '@media (prefers-color-scheme: dark) { text { fill: #bbb; } }';

/** Writes a file of SVG into docs/images: the cost of a request by the number of its candidates. Both axes are logarithmic. */
export async function writeCostPlot(file: string, label: string, lines: readonly CostLine[]): Promise<void> {
  await mkdir(repositoryPath('docs', 'images'), { recursive: true });
  await writeFile(repositoryPath('docs', 'images', `${file}.svg`), costPlot(label, lines));
}

function costPlot(label: string, lines: readonly CostLine[]): string {
  const all = lines.flatMap(({ points }) => points);
  const x = scaleOf(all.map(({ candidates }) => candidates));
  const y = scaleOf(all.map(({ ms }) => ms));
  const drawn = lines.map(({ name, points }, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? '';
    const places = points.map(({ candidates, ms }) => ({
      left: round(LEFT + x.at(candidates) * INNER_WIDTH),
      top: round(TOP + (1 - y.at(ms)) * INNER_HEIGHT),
      title: `${name}, ${candidates} candidates: ${ms.toFixed(3)} ms`,
    }));
    const dots = places.map(
      ({ left, top, title }) =>
        `<circle cx="${left}" cy="${top}" r="3" fill="${colour}"><title>${escaped(title)}</title></circle>`,
    );
    const legend = TOP + 10 + 15 * i;
    return [
      `<polyline points="${places.map(({ left, top }) => `${left},${top}`).join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      `<rect x="${LEFT + 8}" y="${legend - 9}" width="10" height="10" fill="${colour}"/>`,
      `<text x="${LEFT + 24}" y="${legend}">${escaped(name)}</text>`,
    ].join('\n');
  });
  const svg = frame(
    label,
    { title: 'candidates', ticks: x.ticks },
    { title: 'CPU ms a request', ticks: y.ticks },
    drawn.join('\n'),
  );
  return svg
    .replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ')
    .replace('>', `>\n<style>${STYLE}</style>`);
}

interface Scale {
  /** Where a value is, from 0 to 1. */
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** A logarithmic scale from the power of ten below all values to the one above. */
function scaleOf(values: readonly number[]): Scale {
  const from = Math.floor(Math.log10(Math.min(...values)));
  const to = Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value: number): number => (Math.log10(value) - from) / (to - from);
  const powers = Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
  return {
    at,
    ticks: powers.map((power) => ({
      at: at(power),
      text: power < 1000 ? numberTick(power) : `${power / 1000}k`,
    })),
  };
}
