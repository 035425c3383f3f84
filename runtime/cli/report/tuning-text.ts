import { wrap } from '../../ground/core/wrap.js';
import type { TuneResult } from '../../learn/tuning/tune.js';
import { numberText } from '../../learn/report/evaluation-tree.js';

/** The result of `millrace tune`, as its outputs need it. */
export interface Tuning {
  readonly pipeline: string;
  /** The file of judgments, or the folder of a data set. */
  readonly source: { readonly judgments: string } | { readonly data: string };
  readonly metric: string;
  readonly seed: number;
  readonly params: readonly {
    readonly name: string;
    readonly min: number;
    readonly max: number;
    readonly before: number;
    readonly after: number;
  }[];
  /** Queries in the file. */
  readonly queries: number;
  readonly result: TuneResult;
  readonly seconds: number;
  /** The path in the project of the pipeline's file. */
  readonly file: string;
  /** The changed lines of the file. */
  readonly diff: readonly string[];
  /** Whether the values should be written, and whether they were. */
  readonly isWanted: boolean;
  readonly isWritten: boolean;
}

/** Renders a result as text, at most `width` columns wide. The lines of the file are not wrapped. */
export function tuningText(tuning: Tuning, width: number): string {
  const { pipeline, params, metric, result, diff, file } = tuning;
  const { outOfFold, fitted, queries } = result;
  const left = tuning.queries - queries;
  const isLogged = 'data' in tuning.source;
  const line = (text: string): string => wrap(text, 0, width);
  const names = params.map(({ name }) => name).join(', ');
  return [
    line(
      isLogged
        ? `${pipeline}: agreement with feedback, ${metric} of ${queries} requests, tuning ${names}`
        : `${pipeline}: ${metric} of ${queries} queries, tuning ${names}`,
    ),
    left === 0 ? '' : line(leftText(left, isLogged)),
    result.isStopped ? line('the search was stopped: these are the best values so far') : '',
    line(
      outOfFold.folds === 0
        ? 'out of fold: not measured'
        : `out of fold: ${numberText(outOfFold.before)} → ${numberText(outOfFold.after)}, delta ${signed(outOfFold.delta)} [${signed(outOfFold.interval.lower)}, ${signed(outOfFold.interval.upper)}]`,
    ),
    line(`on all queries: ${numberText(fitted.before)} → ${numberText(fitted.after)}`),
    ...(diff.length === 0 ? [] : [`${file}\n`, ...diff.map((one) => `${one}\n`)]),
    line(verdict(tuning)),
    isLogged
      ? line(
          'users can only click on what was shown: measure the change with judgments or an experiment before it serves',
        )
      : '',
  ].join('');
}

function leftText(left: number, isLogged: boolean): string {
  const what = isLogged ? (left === 1 ? 'request' : 'requests') : left === 1 ? 'query' : 'queries';
  return `${left} ${what} ${left === 1 ? 'has' : 'have'} no relevant candidate and are left out`;
}

/** What the figures mean, and what was done. */
function verdict({ result, diff, isWanted, isWritten, file }: Tuning): string {
  const { outOfFold } = result;
  const { delta, interval } = outOfFold;
  if (outOfFold.folds === 0)
    return 'stopped before the gain was measured on other queries; nothing is written';
  if (diff.length === 0) return 'no better values found; the file stays as it is';
  if (delta <= 0) return 'the gain does not hold for queries that were not tuned on; nothing is written';
  const chance = interval.lower > 0 ? '' : 'the interval contains 0, so the gain may be chance; ';
  if (isWritten) return `${chance}written to ${file}`;
  return isWanted ? `${chance}nothing is written` : `${chance}add --write to write these values`;
}

function signed(value: number): string {
  return value >= 0 ? `+${numberText(value)}` : numberText(value);
}

/** The JSON that `--json` prints. */
export function tuningJson(tuning: Tuning): unknown {
  const { fitted, outOfFold, queries, evaluations, isStopped } = tuning.result;
  const { before, after, delta, interval, folds } = outOfFold;
  return {
    pipeline: tuning.pipeline,
    ...tuning.source,
    metric: tuning.metric,
    seed: tuning.seed,
    queries: tuning.queries,
    measured_queries: queries,
    params: tuning.params,
    out_of_fold: { before, after, delta, lower: interval.lower, upper: interval.upper, folds },
    fitted,
    evaluations,
    stopped: isStopped,
    seconds: tuning.seconds,
    file: tuning.file,
    diff: tuning.diff,
    written: tuning.isWritten,
  };
}
