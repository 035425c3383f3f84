import { count, counted } from '../../ground/core/count.js';
import type { Interval } from '../../ground/core/statistics.js';
import type { MetricReport, QueryReport, ShownQuery } from '../evaluation/report.js';
import type { Evaluation } from '../judge/evaluation.js';
import type { CheckedGate } from '../judge/gates.js';
import type { RankingCounts } from '../judge/rank-judged.js';
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

const LONGEST_NAME = 32;

/** What an evaluation says. */
export function evaluationTree(evaluation: Evaluation): Report {
  const { report, gates, slice, against } = evaluation;
  const median = `(median ${evaluation.medianCandidates})`;
  return {
    title:
      'ledger' in evaluation.source
        ? `${evaluation.pipeline} reranks the candidates of ${counted(evaluation.queries, 'logged request')} ${median}: agreement with clicks`
        : `${evaluation.pipeline} reranks the judged candidates of ${counted(evaluation.queries, 'query', 'queries')} ${median}`,
    gates,
    parts: [
      metricTable(report.metrics),
      ...section('', ...countTexts(evaluation)),
      ...(against === undefined ? [] : section(`Difference to ${against}`, deltaTable(report.metrics))),
      ...(slice === undefined || report.slices.length === 0 ? [] : sliceParts(evaluation, slice)),
      ...worstParts(evaluation),
      { page: pageParts(evaluation) },
    ],
  };
}

function metricTable(metrics: readonly MetricReport[]): Part {
  return table(
    { metric: 'left', mean: 'right', '95 % interval': 'left', queries: 'right' },
    metrics.map(({ metric, mean, interval, queries }) => [
      metric,
      numberText(mean),
      intervalText(interval),
      queries,
    ]),
  );
}

function deltaTable(metrics: readonly MetricReport[]): Part {
  return table(
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

function countTexts(evaluation: Evaluation): readonly string[] {
  const { counts, baselineCounts, judgedAt, report, queries, against } = evaluation;
  const [first] = report.metrics;
  const empty = first === undefined || evaluation.empty !== 'skip' ? 0 : queries - first.queries;
  return [
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

function sliceParts({ report }: Evaluation, slice: string): readonly Part[] {
  const hasDelta = report.slices.some(({ delta }) => delta !== undefined);
  const [first] = report.slices;
  return section(
    `${first?.metric ?? ''} by ${slice}${hasDelta ? '; p corrected by Holm' : ''}`,
    table(
      [
        { title: slice, max: hasDelta ? 20 : LONGEST_NAME },
        rightColumn('queries'),
        rightColumn('mean'),
        ...(hasDelta ? [rightColumn('delta')] : []),
        { title: '95 % interval' },
        ...(hasDelta ? [rightColumn('p')] : []),
      ],
      report.slices.map(({ slice: name, queries, mean, interval, delta, correctedP }) => [
        name,
        queries,
        numberText(mean),
        ...(delta === undefined
          ? [intervalText(interval)]
          : [signed(delta.mean), intervalText(delta.interval, signed), numberText(correctedP ?? 1)]),
      ]),
    ),
  );
}

const valueOf = (one: QueryReport, metric: string): number => one.values[metric] ?? NaN;
const baselineOf = (one: QueryReport, metric: string): number => one.baseline?.[metric] ?? NaN;
const deltaOf = (one: QueryReport, metric: string): number => valueOf(one, metric) - baselineOf(one, metric);

function worstParts({ report, worst, cards }: Evaluation): readonly Part[] {
  const metric = report.metrics[0]?.metric;
  const { lowest, lost } = worst;
  if (metric === undefined || lowest.length === 0) return [];
  const first: TableColumn[] = cards.size === 0 ? [] : [{ ...CARD_COLUMN, title: 'first place' }];
  const firstOf = (one: QueryReport): string[] => first.map(() => cardCell(cards.get(one.first ?? '')));
  const query: TableColumn = { title: 'query', max: LONGEST_NAME };
  return [
    ...section(
      `Lowest ${metric}`,
      table(
        [query, rightColumn(metric), ...first],
        lowest.map((one) => [one.query, numberText(valueOf(one, metric)), ...firstOf(one)]),
      ),
    ),
    ...(lost.length === 0
      ? []
      : section(
          `Largest losses of ${metric}`,
          table(
            [query, rightColumn('before'), rightColumn('after'), rightColumn('delta'), ...first],
            lost.map((one) => [
              one.query,
              numberText(baselineOf(one, metric)),
              numberText(valueOf(one, metric)),
              signed(deltaOf(one, metric)),
              ...firstOf(one),
            ]),
          ),
        )),
  ];
}

/** The pages of the worst and best queries, the baseline's first. */
function pageParts({ report, worst, cards, pipeline, against, hasPages }: Evaluation): readonly Part[] {
  const metric = report.metrics[0]?.metric;
  if (metric === undefined || !hasPages) return [];
  const shown = (one: ShownQuery): Part => {
    const [own = [], baseline] = one.pages;
    const value = numberText(valueOf(one, metric));
    const before = numberText(baselineOf(one, metric));
    return {
      query: one.query,
      found:
        against === undefined
          ? `${metric} ${value}`
          : `${metric} ${before} → ${value} (${signed(deltaOf(one, metric))})`,
      sides: [
        ...(against === undefined || baseline === undefined ? [] : [sideOf(against, baseline, cards)]),
        sideOf(pipeline, own, cards),
      ],
    };
  };
  if (against === undefined) return section('Pages of the worst queries', ...worst.lowest.map(shown));
  return [
    ...section('Pages of the worst-lost queries', ...worst.lost.map(shown)),
    ...section('Pages of the best-won queries', ...worst.won.map(shown)),
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
