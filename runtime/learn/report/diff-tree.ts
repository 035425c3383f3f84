import { counted } from '../../ground/core/count.js';
import type { CardsById } from '../../state/index/cards.js';
import type { DiffReport, LostReport } from '../judge/diff-report.js';
import { latencyPlot, placesPlot, rboPlot } from './diff-plots.js';
import { numberText } from './evaluation-tree.js';
import {
  CARD_COLUMN,
  cardCell,
  rightColumn,
  section,
  sideOf,
  table,
  type Part,
  type Report,
  type TableColumn,
} from './tree.js';

const MOST_FAILED = 5;
/** The most requests that the page lists. */
const MOST_REQUESTS = 20;

/** What a comparison says. */
export function diffTree(report: DiffReport, cards: CardsById): Report {
  const { requests, failed, a, b, k, p, latency, degraded } = report;
  const same = requests.filter(({ isSame }) => isSame).length;
  const measures = { [`overlap@${k}`]: report.overlap, [`rbo, p ${p}`]: report.rbo, 'tau-b': report.tau };
  return {
    title: 'How two pipelines rank the same requests',
    parts: [
      `A ${a}`,
      `B ${b}`,
      `${counted(requests.length, 'request')} compared, ${same} with the same order`,
      ...section(
        '',
        table(
          { measure: 'left', mean: 'right', lowest: 'right' },
          Object.entries(measures).map(([name, { mean, lowest }]) => [
            name,
            numberText(mean),
            numberText(Number.isFinite(lowest) ? lowest : NaN),
          ]),
        ),
      ),
      {
        plots: [
          ['Where candidates moved', placesPlot(report)],
          ['How alike the rankings are', rboPlot(report)],
          ['Latency, without HTTP', latencyPlot(report)],
        ],
      },
      ...movesOf(report, cards),
      ...lost('Only in A, removed by B', report.removed, cards),
      ...lost('Only in B, removed by A', report.added, cards),
      { page: [...changedRequests(report), ...shownPages(report, cards)] },
      ...section(
        '',
        table(
          { 'ms a request': 'left', p50: 'right', p95: 'right', p99: 'right' },
          Object.entries(latency).map(([side, { p50, p95, p99 }]) => [
            side.toUpperCase(),
            ...[p50, p95, p99].map((ms) => (Number.isFinite(ms) ? ms.toFixed(2) : 'unknown')),
          ]),
        ),
      ),
      ...(degraded.a.size + degraded.b.size === 0
        ? []
        : section('', `degraded: A ${causes(degraded.a)}; B ${causes(degraded.b)}`)),
      ...section(
        `Failed: ${new Set(failed.map(({ line }) => line)).size}`,
        ...failed
          .slice(0, MOST_FAILED)
          .map(({ line, side, message }) => `line ${line}: ${side} failed: ${message}`),
      ),
    ],
  };
}

function movesOf({ moves, allMoves, steps }: DiffReport, cards: CardsById): readonly Part[] {
  if (moves.length === 0) return [];
  const why = { title: 'moved by', max: cards.size === 0 ? 44 : 28 };
  return [
    ...section(
      `Largest moves, of ${allMoves}`,
      table(
        [rightColumn('line'), ...candidateColumns(cards), rightColumn('A'), rightColumn('B'), why],
        moves.map((one) => [one.line, ...candidateCells(one.candidate, cards), one.from, one.to, one.why]),
      ),
    ),
    ...section(
      'Steps that moved candidates',
      table(
        { step: 40, candidates: 'right' },
        steps.map(({ step = '(candidates around it)', moved }) => [step, moved]),
      ),
    ),
  ];
}

/** The columns of a candidate: its id, and if there are cards, its title. */
function candidateColumns(cards: CardsById): readonly TableColumn[] {
  return [{ title: 'candidate', max: 16 }, ...(cards.size === 0 ? [] : [CARD_COLUMN])];
}

function candidateCells(id: string, cards: CardsById): readonly string[] {
  return cards.size === 0 ? [id] : [id, cardCell(cards.get(id))];
}

function lost(title: string, { count, byFilter, first }: LostReport, cards: CardsById): readonly Part[] {
  if (count === 0) return [];
  const filters = byFilter.map(({ filter = 'not known', count: times }) => `${filter} (${times})`).join(', ');
  return section(
    `${title}: ${count}; filters: ${filters}`,
    table(
      [rightColumn('line'), ...candidateColumns(cards), rightColumn('place'), { title: 'filter', max: 24 }],
      first.map(({ line, candidate, place, filter = 'not known' }) => [
        line,
        ...candidateCells(candidate, cards),
        place,
        filter,
      ]),
    ),
  );
}

function changedRequests({ requests, k }: DiffReport): readonly Part[] {
  const changed = requests
    .filter(({ isSame }) => !isSame)
    .sort((x, y) => x.rbo - y.rbo)
    .slice(0, MOST_REQUESTS);
  if (changed.length === 0) return [];
  return section(
    'Requests with the largest differences',
    table(
      {
        ...{ line: 'right', rbo: 'right', [`overlap@${k}`]: 'right', 'tau-b': 'right' },
        ...{ 'only in A': 'right', 'only in B': 'right' },
      },
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

function shownPages({ shown, a, b, k }: DiffReport, cards: CardsById): readonly Part[] {
  return section(
    'Pages with the largest differences',
    ...shown.map(({ line, query, overlap, rbo, pages: [before = [], after = []] }) => ({
      query: query === '' ? `line ${line}` : `line ${line}: ${query}`,
      found: `rbo ${numberText(rbo)}, overlap@${k} ${numberText(overlap)}`,
      sides: [sideOf(`A ${a}`, before, cards), sideOf(`B ${b}`, after, cards)],
    })),
  );
}

function causes(counts: ReadonlyMap<string, number>): string {
  return Array.from(counts, ([cause, times]) => `${cause} (${times})`).join(', ') || 'none';
}
