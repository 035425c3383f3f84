import type { JsonObject } from '../../ground/api/types.js';
import { wrap } from '../../ground/core/wrap.js';
import { numberText } from '../judge/evaluation-text.js';
import type { Proof } from './prove.js';

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
  };
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly positions: { readonly method: string; readonly reason: string };
  readonly weights: string;
  readonly parameters: JsonObject;
  readonly rounds: number;
  /** `holdout` if training stopped early, by the figures of the hold-out. */
  readonly rounds_chosen_by: 'holdout' | 'option';
  readonly seed: number;
  readonly seconds: number;
  readonly holdout: Readonly<Record<string, CardMetric>> | null;
  readonly importance: Readonly<Record<string, { readonly gain: number; readonly splits: number }>>;
}

interface CardMetric {
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
}

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
    ...metricLines(card).map(line),
    line(proofText(proof, library)),
    line(`wrote ${out} (version ${proof.version}) and its card, ${out}.card.md`),
    isInPlace ? '' : line(`the step reads ${modelPath}; copy the file there to serve it`),
  ].join('');
}

export function proofText({ rows, rows_of: of, different, difference }: Proof, library: string): string {
  const what = `${count(rows)} ${of === 'holdout' ? 'hold-out' : 'training'} rows, scored by the service and by ${library}`;
  return different === 0
    ? `proof: ${what}: difference 0`
    : `proof: ${what}: ${count(different)} differ, by up to ${difference}`;
}

function metricLines({ holdout, data }: ModelCard): string[] {
  if (holdout === null) return ['hold-out: no request has a label above 0, so nothing is measured'];
  const what = data.labels === 'judgments' ? 'judgments' : 'agreement with feedback';
  return Object.entries(holdout).map(([name, one]) => {
    const against =
      one.delta === undefined
        ? ''
        : `; as shown ${number(one.shown)}, delta ${signed(one.delta)} [${signed(one.delta_lower)}, ${signed(one.delta_upper)}]`;
    return `hold-out, ${what}: ${name} ${number(one.mean)} [${number(one.lower)}, ${number(one.upper)}] of ${count(one.queries)} requests${against}`;
  });
}

/** The card as Markdown. */
export function cardMarkdown({ pipeline, step, card, texts, proof, out }: Training): string {
  const library = libraryName(card.library);
  const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
    [head, head.map(() => '---'), ...rows]
      .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
      .join('');
  const { data } = card;
  const isChosen = card.rounds_chosen_by === 'holdout';
  return `# ${out}

A ${library} ranker for the step \`${step}\` of the pipeline \`${pipeline}\`. Version \`${proof.version}\`.

${table(
  ['', ''],
  [
    ['data set', `manifest \`${data.manifest}\``],
    ['labels', `${data.labels}${data.label === null ? '' : `: ${JSON.stringify(data.label)}`}`],
    ['requests', `${data.requests.train} to train, ${data.requests.holdout} held out`],
    ['rows', `${data.rows.train} to train, ${data.rows.holdout} held out`],
    ['bias of positions', `${card.positions.method}: ${card.positions.reason}`],
    ['weights of rows', card.weights],
    ['rounds', `${card.rounds}${isChosen ? '; the hold-out chose the number' : ''}`],
    ['seed', String(card.seed)],
    [
      'versions',
      Object.entries(card.versions)
        .map(([name, version]) => `${name} ${version}`)
        .join(', '),
    ],
    ['proof', proofText(proof, library).replace('proof: ', '')],
  ],
)}
## Hold-out

${metricLines(card)
  .map((text) => `- ${text}\n`)
  .join('')}
${isChosen ? 'The number of rounds was chosen on the same rows, so these figures are slightly too good. ' : ''}Agreement with feedback is not the
quality of a ranking: users can only click on what was shown. Measure the model with \`millrace evaluate\` or an experiment
before it serves.

## Columns

${table(
  ['column', 'value', 'type', 'gain', 'splits'],
  Object.entries(card.importance).map(([name, { gain, splits }]) => [
    name,
    `\`${texts[name] ?? name}\``,
    card.columns.find((one) => one.name === name)?.type ?? '',
    gain.toFixed(1),
    String(splits),
  ]),
)}
## Parameters

${table(
  ['parameter', 'value'],
  Object.entries(card.parameters).map(([name, value]) => [`\`${name}\``, JSON.stringify(value)]),
)}`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function number(value: number | null | undefined): string {
  return numberText(value ?? NaN);
}

function signed(value: number | null | undefined): string {
  return (value ?? NaN) >= 0 ? `+${number(value)}` : number(value);
}
