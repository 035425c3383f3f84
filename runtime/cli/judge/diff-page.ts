import { latencyPlot, placesPlot, rboPlot } from './diff-plots.js';
import type { DiffReport, LostReport } from './diff-report.js';
import { escaped } from './escaped.js';
import { numberText } from './evaluation-text.js';
import { card, figure, htmlPage, section, table, type TableCell } from './page-parts.js';

const MOST_REQUESTS = 20;

/** A page about a comparison. */
export function diffPage(report: DiffReport): string {
  const { requests, failed, a, b, k, p, overlap, rbo, tau } = report;
  const same = requests.filter(({ isSame }) => isSame).length;
  const lowest = (value: number): string => (Number.isFinite(value) ? `lowest ${numberText(value)}` : '');
  return htmlPage(`${a} and ${b}`, [
    '<h1>How two pipelines rank the same requests</h1>',
    `<p><span class="side a">A</span><code>${escaped(a)}</code></p>`,
    `<p><span class="side b">B</span><code>${escaped(b)}</code></p>`,
    '<div class="cards">',
    card('Requests', String(requests.length), `${same} with the same order`),
    card(`Overlap@${k}`, numberText(overlap.mean), lowest(overlap.lowest)),
    card(`RBO, p = ${p}`, numberText(rbo.mean), lowest(rbo.lowest)),
    card('Kendall’s tau-b', numberText(tau.mean), lowest(tau.lowest)),
    card('Only in A', String(report.removed.count), 'candidates that B removed'),
    card('Only in B', String(report.added.count), 'candidates that A removed'),
    '</div>',
    '<div class="plots">',
    figure('Where candidates moved', placesPlot(report)),
    figure('How alike the rankings are', rboPlot(report)),
    figure('Latency, without HTTP', latencyPlot(report)),
    '</div>',
    ...movesSection(report),
    ...lostSection('Only in A', report.removed),
    ...lostSection('Only in B', report.added),
    ...requestsSection(report),
    ...section(
      'Latency',
      table(
        ['', 'p50 ms', 'p95 ms', 'p99 ms'],
        Object.entries(report.latency).map(([side, { p50, p95, p99 }]) => [
          side.toUpperCase(),
          ...[p50, p95, p99].map((ms) => (Number.isFinite(ms) ? ms.toFixed(2) : 'unknown')),
        ]),
      ),
    ),
    ...degradedSection(report),
    ...(failed.length === 0
      ? []
      : section(
          `Requests that failed: ${failed.length}`,
          table(
            ['Line', 'Side', 'Reason'],
            failed.slice(0, MOST_REQUESTS).map(({ line, side, message }) => [line, side, message]),
          ),
        )),
  ]);
}

function movesSection({ moves, allMoves, steps }: DiffReport): string[] {
  if (moves.length === 0) return section('Moves', '<p>No candidate has another place in B.</p>');
  return [
    ...section(
      `Largest moves, of ${allMoves}`,
      table(
        ['Line', 'Candidate', 'Place in A', 'Place in B', 'Moved by'],
        moves.map(({ line, candidate, from, to, why }) => [line, candidate, from, to, why]),
      ),
    ),
    ...section(
      'Steps that moved candidates',
      table(
        ['Step', 'Candidates'],
        steps.map(({ step, moved }) => [step ?? 'none: candidates around it changed', moved]),
      ),
    ),
  ];
}

function lostSection(title: string, { count, first, byFilter }: LostReport): string[] {
  if (count === 0) return [];
  const filters = byFilter
    .map(({ filter, count: times }) => `${filter ?? 'not known'} (${times})`)
    .join(', ');
  return section(
    `${title}: ${count}; filters: ${filters}`,
    table(
      ['Line', 'Candidate', 'Place', 'Filter'],
      first.map(({ line, candidate, place, filter }) => [line, candidate, place, filter ?? 'not known']),
    ),
  );
}

function requestsSection({ requests, k }: DiffReport): string[] {
  const changed = requests
    .filter(({ isSame }) => !isSame)
    .sort((x, y) => x.rbo - y.rbo)
    .slice(0, MOST_REQUESTS);
  if (changed.length === 0) return [];
  return section(
    'Requests with the largest differences',
    table(
      ['Line', 'RBO', `Overlap@${k}`, 'Tau-b', 'Only in A', 'Only in B'],
      changed.map(({ line, rbo, overlap, tau, removed, added }) => [
        line,
        numberText(rbo),
        numberText(overlap),
        tau === undefined ? 'not defined' : numberText(tau),
        removed,
        added,
      ]),
    ),
  );
}

function degradedSection({ degraded }: DiffReport): string[] {
  const rows = (['a', 'b'] as const).flatMap((side) =>
    Array.from(degraded[side], ([cause, times]): TableCell[] => [side.toUpperCase(), cause, times]),
  );
  return rows.length === 0 ? [] : section('Degraded rankings', table(['Side', 'Cause', 'Rankings'], rows));
}
