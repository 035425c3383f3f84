import { createHash } from 'node:crypto';
import { latencyPlot, placesPlot, rboPlot } from './diff-plots.js';
import type { DiffReport, LostReport } from './diff-report.js';
import { escaped } from './escaped.js';
import { numberText } from './evaluation-text.js';

const MOST_REQUESTS = 20;

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --soft: #60646c; --back: #ffffff; --card: #f5f6f8; --rule: #dfe2e6; --mark: #2a6fdb; --a: #2a6fdb; --b: #d9541e; }
@media (prefers-color-scheme: dark) { :root { --text: #eceef0; --soft: #9ba1a6; --back: #15181b; --card: #1e2226; --rule: #33393f; --mark: #6ea8ff; --a: #6ea8ff; --b: #ff9466; } }
body { margin: 0 auto; max-width: 1100px; padding: 24px; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 22px; margin: 0 0 8px; } h2 { font-size: 16px; margin: 32px 0 8px; }
p { margin: 4px 0; } .soft { color: var(--soft); }
code { font: 13px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }
.side { display: inline-block; width: 1.4em; font-weight: 600; } .side.a { color: var(--a); } .side.b { color: var(--b); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 20px 0; }
.card { background: var(--card); border-radius: 8px; padding: 12px 14px; }
.card b { display: block; font-size: 22px; font-weight: 600; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 16px; }
figure { margin: 0; background: var(--card); border-radius: 8px; padding: 12px; } figcaption { font-weight: 600; margin-bottom: 4px; }
svg { width: 100%; height: auto; display: block; } svg text { font-size: 13px; fill: var(--soft); }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); } .mark { fill: var(--mark); }
.line { fill: none; stroke-width: 2; } .line.a { stroke: var(--a); } .line.b { stroke: var(--b); stroke-dasharray: 5 3; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; } .number { text-align: right; font-variant-numeric: tabular-nums; }
`;

/**
 * A page about a comparison: one file that loads nothing. Its policy (CSP) allows its own style sheet by hash, and no
 * script; every value is escaped.
 */
export function diffPage(report: DiffReport): string {
  const { requests, failed, a, b, k, p, overlap, rbo, tau } = report;
  const hash = createHash('sha256').update(STYLE).digest('base64');
  const same = requests.filter(({ isSame }) => isSame).length;
  const card = (title: string, value: string, more: string): string =>
    `<div class="card"><span class="soft">${escaped(title)}</span><b>${escaped(value)}</b><span class="soft">${escaped(more)}</span></div>`;
  const lowest = (value: number): string => (Number.isFinite(value) ? `lowest ${numberText(value)}` : '');
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(`${a} and ${b}`)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
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
    '</body>',
    '</html>',
    '',
  ].join('\n');
}

function figure(title: string, svg: string): string {
  return `<figure><figcaption>${escaped(title)}</figcaption>${svg}</figure>`;
}

function section(title: string, content: string): string[] {
  return [`<section><h2>${escaped(title)}</h2>`, content, '</section>'];
}

type TableCell = string | number;

function table(titles: readonly string[], rows: readonly (readonly TableCell[])[]): string {
  const isNumber = titles.map((_, at) => rows.every((row) => typeof row[at] === 'number'));
  const cell = (tag: 'th' | 'td', value: TableCell, at: number): string =>
    `<${tag}${isNumber[at] === true ? ' class="number"' : ''}>${escaped(String(value))}</${tag}>`;
  return [
    '<div class="wide"><table>',
    `<tr>${titles.map((title, at) => cell('th', title, at)).join('')}</tr>`,
    ...rows.map((row) => `<tr>${row.map((value, at) => cell('td', value, at)).join('')}</tr>`),
    '</table></div>',
  ].join('\n');
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
