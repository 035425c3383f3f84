import { count, counted } from '../../ground/core/count.js';
import { wrap, wrapAfter } from '../../ground/core/wrap.js';
import type { MetricReport, QueryReport } from '../../learn/evaluation/report.js';
import type { Interval } from '../../ground/core/statistics.js';
import { CARD_COLUMN, cardCell } from './card-text.js';
import { renderTable, rightColumn, type TableColumn } from './table.js';
import type { Evaluation } from '../../learn/judge/evaluation.js';
import type { CheckedGate } from '../../learn/judge/gates.js';
import type { RankingCounts } from '../../learn/judge/rank-judged.js';

const LONGEST_NAME = 32;

/** Renders an evaluation as text, at most `width` columns wide. */
export function evaluationText(evaluation: Evaluation, width: number): string {
  const { report, gates, slice, against } = evaluation;
  const median = `(median ${evaluation.medianCandidates})`;
  const title =
    'ledger' in evaluation.source
      ? `${evaluation.pipeline} reranks the candidates of ${counted(evaluation.queries, 'logged request')} ${median}: agreement with clicks`
      : `${evaluation.pipeline} reranks the judged candidates of ${counted(evaluation.queries, 'query', 'queries')} ${median}`;
  return [
    wrap(title, 0, width),
    metricTable(report.metrics),
    '\n',
    countsText(evaluation, width),
    ...(against === undefined
      ? []
      : ['\n', wrap(`Difference to ${against}`, 0, width), deltaTable(report.metrics)]),
    ...(slice === undefined || report.slices.length === 0
      ? []
      : ['\n', slicesText(evaluation, slice, width)]),
    ...worstText(evaluation, width),
    ...(gates.length === 0
      ? []
      : [
          '\n',
          ...gates.flatMap((gate) =>
            wrapAfter(gate.passed ? 'PASS ' : 'FAIL ', gateText(gate), 6, width).map((line) => `${line}\n`),
          ),
        ]),
  ].join('');
}

function metricTable(metrics: readonly MetricReport[]): string {
  return renderTable(
    { metric: 'left', mean: 'right', '95 % interval': 'left', queries: 'right' },
    metrics.map(({ metric, mean, interval, queries }) => [
      metric,
      numberText(mean),
      intervalText(interval),
      queries,
    ]),
  );
}

function deltaTable(metrics: readonly MetricReport[]): string {
  return renderTable(
    { metric: 'left', baseline: 'right', delta: 'right', '95 % interval': 'left', p: 'right' },
    metrics.flatMap(({ metric, delta }) =>
      delta === undefined
        ? []
        : [
            [
              metric,
              numberText(delta.baseline),
              signed(delta.mean),
              intervalText(delta.interval, signed),
              numberText(delta.p),
            ],
          ],
    ),
  );
}

function countsText(evaluation: Evaluation, width: number): string {
  const { counts, baselineCounts, judgedAt, report, queries, against } = evaluation;
  const [first] = report.metrics;
  const empty = first === undefined || evaluation.empty !== 'skip' ? 0 : queries - first.queries;
  const lines = [
    `judged@${judgedAt.k} ${numberText(judgedAt.mean)}; ${candidatesText(counts)}`,
    ...(empty === 0
      ? []
      : [
          'ledger' in evaluation.source
            ? `${counted(empty, 'request')} without feedback left out`
            : `${counted(empty, 'query has', 'queries have')} no relevant candidate and ${empty === 1 ? 'is' : 'are'} left out`,
        ]),
    ...degradedText(counts),
    ...(baselineCounts === undefined || against === undefined
      ? []
      : [`${against}: ${candidatesText(baselineCounts)}`, ...degradedText(baselineCounts)]),
  ];
  return lines.map((line) => wrap(line, 0, width)).join('');
}

function candidatesText({ sent, unjudged, removed, missing }: RankingCounts): string {
  const [ungraded, filtered, unknown] = [unjudged, removed, missing].map(count);
  return `${counted(sent, 'candidate')}, ${ungraded} unjudged, ${filtered} removed, ${unknown} not in the store`;
}

function degradedText({ degradedRankings, degraded }: RankingCounts): string[] {
  if (degradedRankings === 0) return [];
  const causes = Array.from(degraded, ([cause, times]) => `${cause} (${times})`).join(', ');
  return [`warning: ${counted(degradedRankings, 'ranking is', 'rankings are')} degraded: ${causes}`];
}

function slicesText({ report }: Evaluation, slice: string, width: number): string {
  const hasDelta = report.slices.some(({ delta }) => delta !== undefined);
  const [first] = report.slices;
  const title = `${first?.metric ?? ''} by ${slice}${hasDelta ? '; p corrected by Holm' : ''}`;
  const table = renderTable(
    [
      { title: slice, max: hasDelta ? 20 : LONGEST_NAME },
      { title: 'queries', align: 'right' },
      { title: 'mean', align: 'right' },
      ...(hasDelta
        ? [
            { title: 'delta', align: 'right' as const },
            { title: '95 % interval' },
            { title: 'p', align: 'right' as const },
          ]
        : [{ title: '95 % interval' }]),
    ],
    report.slices.map(({ slice: name, queries, mean, interval, delta, correctedP }) => [
      name,
      queries,
      numberText(mean),
      ...(delta === undefined
        ? [intervalText(interval)]
        : [signed(delta.mean), intervalText(delta.interval, signed), numberText(correctedP ?? 1)]),
    ]),
  );
  return wrap(title, 0, width) + table;
}

function worstText({ report, against, worst, cards }: Evaluation, width: number): string[] {
  const metric = report.metrics[0]?.metric;
  const { lowest, lost } = worst;
  if (metric === undefined || lowest.length === 0) return [];
  const valueOf = (one: QueryReport): number => one.values[metric] ?? Infinity;
  const deltaOf = (one: QueryReport): number => valueOf(one) - (one.baseline?.[metric] ?? NaN);
  const first: TableColumn[] = cards.size === 0 ? [] : [{ ...CARD_COLUMN, title: 'first place' }];
  const firstOf = (one: QueryReport): string[] => first.map(() => cardCell(cards.get(one.first ?? '')));
  const query: TableColumn = { title: 'query', max: LONGEST_NAME };
  return [
    `\nLowest ${metric}\n`,
    renderTable(
      [query, rightColumn(metric), ...first],
      lowest.map((one) => [one.query, numberText(valueOf(one)), ...firstOf(one)]),
      width,
    ),
    ...(against === undefined || lost.length === 0
      ? []
      : [
          `\nLargest losses of ${metric}\n`,
          renderTable(
            [query, rightColumn('before'), rightColumn('after'), rightColumn('delta'), ...first],
            lost.map((one) => [
              one.query,
              numberText(one.baseline?.[metric] ?? NaN),
              numberText(valueOf(one)),
              signed(deltaOf(one)),
              ...firstOf(one),
            ]),
            width,
          ),
        ]),
  ];
}

/** A condition with the value that was found. */
export function gateText({ text, value, problem }: CheckedGate): string {
  return `${text}, found ${numberText(value)}${problem === undefined ? '' : ` of ${problem}`}`;
}

/** A number with four decimals; a whole number without. */
export function numberText(value: number): string {
  if (Number.isNaN(value)) return 'unknown';
  return Number.isInteger(value) && Math.abs(value) > 1 ? String(value) : value.toFixed(4);
}

function signed(value: number): string {
  return value >= 0 ? `+${numberText(value)}` : numberText(value);
}

function intervalText({ lower, upper }: Interval, text: (value: number) => string = numberText): string {
  return `[${text(lower)}, ${text(upper)}]`;
}
