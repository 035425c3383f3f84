import { count, counted } from '../../ground/core/count.js';
import type { JsonObject } from '../../ground/api/types.js';
import { wrap } from '../../ground/core/wrap.js';
import { numberText } from '../../learn/report/evaluation-tree.js';
import type { Proof } from '../../learn/training/prove.js';

/** The card of a model, as clients/python makes it. */
export interface ModelCard {
  readonly library: string;
  readonly versions: Readonly<Record<string, string>>;
  readonly data: {
    readonly manifest: string;
    readonly labels: 'feedback' | 'judgments';
    readonly label: JsonObject | null;
    readonly requests: { readonly train: number; readonly holdout: number };
    readonly rows: { readonly train: number; readonly holdout: number };
    /** The times of the first and of the last request; null if there is none, or of judgments. */
    readonly span: Readonly<Record<'train' | 'holdout', readonly [string, string] | null>>;
  };
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly positions: { readonly method: string; readonly reason: string };
  readonly weights: string;
  readonly parameters: JsonObject;
  readonly rounds: number;
  /** `holdout` if training stopped early, by the figures of the hold-out; `folds` if a cross-validation chose. */
  readonly rounds_chosen_by: 'holdout' | 'folds' | 'option';
  readonly seed: number;
  readonly seconds: number;
  readonly holdout: Readonly<Record<string, CardMetric>> | null;
  /** What `folds`, `learning_curve`, `segments` and `worst` measure. */
  readonly measure: string;
  readonly folds?: CardMetric & { readonly count: number; readonly rounds: readonly number[] };
  readonly search?: {
    readonly points: number;
    readonly seconds: number;
    readonly interrupted: boolean;
    /** Those of the best point; none if the defaults are best. */
    readonly parameters: JsonObject;
    readonly defaults: number | null;
    readonly best: number | null;
  };
  readonly learning_curve: readonly (CardMetric & { readonly requests: number; readonly rows: number })[];
  readonly segments: Readonly<Record<string, Readonly<Record<string, CardMetric>>>>;
  readonly worst: readonly { readonly query: string; readonly requests: number; readonly mean: number }[];
  readonly importance: Readonly<Record<string, Importance>>;
}

interface Importance {
  readonly gain: number;
  readonly splits: number;
  /** With `--importance`: the loss of the measure if the values are exchanged between rows; null if undefined. */
  readonly permutation?: number | null;
  /** With `--importance`: the mean absolute part of the score. */
  readonly contribution?: number;
  /** With `--importance`: the correlation of that part with the value; null for a text. */
  readonly trend?: number | null;
}

export interface CardMetric {
  readonly queries: number;
  readonly mean: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
  readonly shown?: number | null;
  readonly delta?: number | null;
  readonly delta_lower?: number | null;
  readonly delta_upper?: number | null;
}

/** A trained model, as the outputs need it. */
export interface Training {
  readonly pipeline: string;
  readonly step: string;
  readonly card: ModelCard;
  /** The expression of each column. */
  readonly texts: Readonly<Record<string, string>>;
  readonly proof: Proof;
  readonly out: string;
  /** The path in the project that the step names. */
  readonly modelPath: string;
  /** Whether `out` is the file that the step names. */
  readonly isInPlace: boolean;
  readonly mlflow?: LoggedRun;
}

/** A run of MLflow. */
export interface LoggedRun {
  readonly run: string;
  readonly experiment: string;
}

/** Columns in the output; the card has all. */
const MOST_SHOWN = 5;
const LIBRARIES: Readonly<Record<string, string>> = { lightgbm: 'LightGBM', xgboost: 'XGBoost' };

export function libraryName(library: string): string {
  return LIBRARIES[library] ?? library;
}

/** Renders a result as text, at most `width` columns wide. */
export function trainingText(training: Training, width: number): string {
  const { pipeline, step, card, proof, out, modelPath, isInPlace } = training;
  const line = (text: string): string => wrap(text, 0, width);
  const library = libraryName(card.library);
  const { requests, rows } = card.data;
  return [
    line(
      `${pipeline}:${step}: ${library} ${card.versions[card.library] ?? ''}, ${card.columns.length} columns, ${count(rows.train)} rows of ${count(requests.train)} requests, ${card.rounds} ${card.rounds === 1 ? 'round' : 'rounds'}`,
    ),
    line(`positions: ${card.positions.reason}`),
    ...[...selectionLines(card), ...metricLines(card), ...insightLines(card)].map(line),
    line(proofText(proof, library)),
    line(`wrote ${out} (version ${proof.version}) and its card, ${out}.card.md`),
    training.mlflow === undefined
      ? ''
      : line(`MLflow: run ${training.mlflow.run} of the experiment ${training.mlflow.experiment}`),
    isInPlace ? '' : line(`the step reads ${modelPath}; copy the file there to serve it`),
  ].join('');
}

export function proofText({ rows, rows_of: of, different, difference }: Proof, library: string): string {
  const what = `${count(rows)} ${of === 'holdout' ? 'hold-out' : 'training'} rows, scored by the service and by ${library}`;
  return different === 0
    ? `proof: ${what}: difference 0`
    : `proof: ${what}: ${count(different)} differ, by up to ${difference}`;
}

/** The cross-validation and the search. */
export function selectionLines({ folds, search, measure }: ModelCard): string[] {
  if (folds === undefined) return [];
  const rounds = `${Math.min(...folds.rounds)} to ${Math.max(...folds.rounds)} rounds`;
  const lines = [`${folds.count} folds of the queries: ${measure} ${meanText(folds)}, ${rounds}`];
  if (search === undefined) return lines;
  const { points, seconds, interrupted, parameters, defaults, best } = search;
  const drawn = Object.entries(parameters).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const found =
    drawn.length === 0
      ? 'none is better than the defaults'
      : `${measure} of the folds ${number(defaults)} → ${number(best)} with ${drawn.join(', ')}`;
  return [
    `search: ${counted(points, 'point')} in ${Math.round(seconds)} s${interrupted ? ', stopped' : ''}; ${found}`,
    ...lines,
  ];
}

/** The learning curve, and the columns without which the ranking is worst. */
function insightLines({ learning_curve: curve, importance, measure }: ModelCard): string[] {
  const sizes = curve.map(({ requests, mean }) => `${counted(requests, 'request')} ${number(mean)}`);
  const losses = Object.entries(importance)
    .filter(([, { permutation }]) => (permutation ?? 0) > 0)
    .sort(([, a], [, b]) => (b.permutation ?? 0) - (a.permutation ?? 0))
    .slice(0, MOST_SHOWN)
    .map(([name, { permutation }]) => `${name} ${number(permutation)}`);
  return [
    ...(sizes.length === 0 ? [] : [`learning curve, ${measure} of the hold-out: ${sizes.join(', ')}`]),
    ...(losses.length === 0 ? [] : [`loss of ${measure} without a column: ${losses.join(', ')}`]),
  ];
}

export function meanText({ mean, lower, upper }: CardMetric): string {
  return `${number(mean)} [${number(lower)}, ${number(upper)}]`;
}

export function metricLines({ holdout, data }: ModelCard): string[] {
  if (holdout === null) return ['hold-out: no request has a label above 0, so nothing is measured'];
  const [what, before] =
    data.labels === 'judgments' ? ['judgments', 'ranked before'] : ['agreement with feedback', 'shown'];
  return Object.entries(holdout).map(([name, one]) => {
    const against =
      one.delta === undefined
        ? ''
        : `; as ${before} ${number(one.shown)}, delta ${signed(one.delta)} [${signed(one.delta_lower)}, ${signed(one.delta_upper)}]`;
    return `hold-out, ${what}: ${name} ${meanText(one)} of ${count(one.queries)} requests${against}`;
  });
}

export function number(value: number | null | undefined): string {
  return numberText(value ?? NaN);
}

function signed(value: number | null | undefined): string {
  return (value ?? NaN) >= 0 ? `+${number(value)}` : number(value);
}
