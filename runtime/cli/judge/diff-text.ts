import { wrap } from '../../ground/core/wrap.js';
import { renderTable } from '../table.js';
import type { DiffReport, Latency, LostReport, Summary } from './diff-report.js';
import { numberText } from './evaluation-text.js';

const MOST_FAILED = 5;

/** Renders a comparison as text, at most `width` columns wide. */
export function diffText(report: DiffReport, width: number): string {
  const { requests, failed, moves, allMoves, removed, added, latency, degraded } = report;
  const same = requests.filter(({ isSame }) => isSame).length;
  return [
    wrap(`A  ${report.a}`, 0, width),
    wrap(`B  ${report.b}`, 0, width),
    wrap(
      `${requests.length} request${requests.length === 1 ? '' : 's'} compared, ${same} with the same order`,
      0,
      width,
    ),
    '\n',
    measures(report),
    ...(moves.length === 0
      ? []
      : [
          `\nLargest moves, of ${allMoves}\n`,
          moveTable(report),
          '\nSteps that moved candidates\n',
          stepTable(report),
        ]),
    ...lostText('Only in A, removed by B', removed),
    ...lostText('Only in B, removed by A', added),
    '\n',
    latencyTable(latency),
    ...(degraded.a.size + degraded.b.size === 0
      ? []
      : ['\n', wrap(`degraded: A ${causes(degraded.a)}; B ${causes(degraded.b)}`, 0, width)]),
    ...(failed.length === 0 ? [] : ['\n']),
    ...failed
      .slice(0, MOST_FAILED)
      .map(({ line, side, message }) => wrap(`line ${line}: ${side} failed: ${message}`, 0, width)),
  ].join('');
}

function measures({ overlap, rbo, tau, k, p }: DiffReport): string {
  const row = (name: string, { mean, lowest }: Summary): string[] => [
    name,
    numberText(mean),
    numberText(Number.isFinite(lowest) ? lowest : NaN),
  ];
  return renderTable(
    [{ title: 'measure' }, { title: 'mean', align: 'right' }, { title: 'lowest', align: 'right' }],
    [row(`overlap@${k}`, overlap), row(`rbo, p ${p}`, rbo), row('tau-b', tau)],
  );
}

function moveTable({ moves }: DiffReport): string {
  return renderTable(
    [
      { title: 'line', align: 'right' },
      { title: 'candidate', max: 16 },
      { title: 'A', align: 'right' },
      { title: 'B', align: 'right' },
      { title: 'moved by', max: 44 },
    ],
    moves.map(({ line, candidate, from, to, why }) => [
      String(line),
      candidate,
      String(from),
      String(to),
      why,
    ]),
  );
}

function stepTable({ steps }: DiffReport): string {
  return renderTable(
    [
      { title: 'step', max: 40 },
      { title: 'candidates', align: 'right' },
    ],
    steps.map(({ step, moved }) => [step ?? '(candidates around it)', String(moved)]),
  );
}

function lostText(title: string, { count, byFilter, first }: LostReport): string[] {
  if (count === 0) return [];
  const filters = byFilter
    .map(({ filter, count: times }) => `${filter ?? 'not known'} (${times})`)
    .join(', ');
  return [
    `\n${title}: ${count}; filters: ${filters}\n`,
    renderTable(
      [
        { title: 'line', align: 'right' },
        { title: 'candidate', max: 30 },
        { title: 'place', align: 'right' },
        { title: 'filter', max: 24 },
      ],
      first.map(({ line, candidate, place, filter }) => [
        String(line),
        candidate,
        String(place),
        filter ?? 'not known',
      ]),
    ),
  ];
}

function latencyTable({ a, b }: { readonly a: Latency; readonly b: Latency }): string {
  const row = (name: string, { p50, p95, p99 }: Latency): string[] => [
    name,
    ...[p50, p95, p99].map((ms) => (Number.isFinite(ms) ? ms.toFixed(2) : 'unknown')),
  ];
  return renderTable(
    [
      { title: 'ms a request' },
      { title: 'p50', align: 'right' },
      { title: 'p95', align: 'right' },
      { title: 'p99', align: 'right' },
    ],
    [row('A', a), row('B', b)],
  );
}

function causes(counts: ReadonlyMap<string, number>): string {
  return Array.from(counts, ([cause, times]) => `${cause} (${times})`).join(', ') || 'none';
}
