import { wrap, wrapAfter } from '../../ground/core/wrap.js';
import type { MetricReport, QueryReport } from '../../learn/evaluation/report.js';
import type { Interval } from '../../ground/core/statistics.js';
import { renderTable } from '../table.js';
import type { Evaluation } from './evaluation.js';
import type { CheckedGate } from './gates.js';
import type { RankingCounts } from './rank-judged.js';

const LONGEST_NAME = 32;

/** Renders an evaluation as text, at most `width` columns wide. */
export function evaluationText(evaluation: Evaluation, worst: number, width: number): string {
  const { report, gates, slice, against } = evaluation;
  const median = `(median ${evaluation.medianCandidates})`;
  const title =
    'ledger' in evaluation.source
      ? `${evaluation.pipeline} reranks the candidates of ${count(evaluation.queries, 'logged request', 'logged requests')} ${median}: agreement with clicks`
      : `${evaluation.pipeline} reranks the judged candidates of ${count(evaluation.queries, 'query', 'queries')} ${median}`;
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
    ...worstText(evaluation, worst),
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
    [
      { title: 'metric' },
      { title: 'mean', align: 'right' },
      { title: '95 % interval' },
      { title: 'queries', align: 'right' },
    ],
    metrics.map(({ metric, mean, interval, queries }) => [
      metric,
      numberText(mean),
      intervalText(interval),
      String(queries),
    ]),
  );
}

function deltaTable(metrics: readonly MetricReport[]): string {
  return renderTable(
    [
      { title: 'metric' },
      { title: 'baseline', align: 'right' },
      { title: 'delta', align: 'right' },
      { title: '95 % interval' },
      { title: 'p', align: 'right' },
    ],
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
            ? `${count(empty, 'request', 'requests')} without feedback left out`
            : `${count(empty, 'query has', 'queries have')} no relevant candidate and ${empty === 1 ? 'is' : 'are'} left out`,
        ]),
    ...degradedText(counts),
    ...(baselineCounts === undefined || against === undefined
      ? []
      : [`${against}: ${candidatesText(baselineCounts)}`, ...degradedText(baselineCounts)]),
  ];
  return lines.map((line) => wrap(line, 0, width)).join('');
}

function candidatesText({ sent, unjudged, removed, missing }: RankingCounts): string {
  const [ungraded, filtered, unknown] = [unjudged, removed, missing].map((one) => one.toLocaleString('en'));
  return `${count(sent, 'candidate', 'candidates')}, ${ungraded} unjudged, ${filtered} removed, ${unknown} not in the store`;
}

function degradedText({ degradedRankings, degraded }: RankingCounts): string[] {
  if (degradedRankings === 0) return [];
  const causes = Array.from(degraded, ([cause, times]) => `${cause} (${times})`).join(', ');
  return [`warning: ${count(degradedRankings, 'ranking is', 'rankings are')} degraded: ${causes}`];
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
      String(queries),
      numberText(mean),
      ...(delta === undefined
        ? [intervalText(interval)]
        : [signed(delta.mean), intervalText(delta.interval, signed), numberText(correctedP ?? 1)]),
    ]),
  );
  return wrap(title, 0, width) + table;
}

function worstText({ report, against }: Evaluation, worst: number): string[] {
  const metric = report.metrics[0]?.metric;
  if (metric === undefined || worst === 0) return [];
  const valueOf = (one: QueryReport): number => one.values[metric] ?? Infinity;
  const deltaOf = (one: QueryReport): number => valueOf(one) - (one.baseline?.[metric] ?? NaN);
  const known = report.queries.filter((one) => Number.isFinite(valueOf(one)));
  const lowest = [...known].sort((a, b) => valueOf(a) - valueOf(b)).slice(0, worst);
  const lost = known
    .filter((one) => deltaOf(one) < 0)
    .sort((a, b) => deltaOf(a) - deltaOf(b))
    .slice(0, worst);
  return [
    `\nLowest ${metric}\n`,
    renderTable(
      [
        { title: 'query', max: LONGEST_NAME },
        { title: metric, align: 'right' },
      ],
      lowest.map((one) => [one.query, numberText(valueOf(one))]),
    ),
    ...(against === undefined || lost.length === 0
      ? []
      : [
          `\nLargest losses of ${metric}\n`,
          renderTable(
            [
              { title: 'query', max: LONGEST_NAME },
              { title: 'before', align: 'right' },
              { title: 'after', align: 'right' },
              { title: 'delta', align: 'right' },
            ],
            lost.map((one) => [
              one.query,
              numberText(one.baseline?.[metric] ?? NaN),
              numberText(valueOf(one)),
              signed(deltaOf(one)),
            ]),
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

function count(number: number, one: string, many: string): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}
