/**
 * Scores the models in a folder of vectors and compares the scores with those of the models' own libraries:
 * `node dist/test/acceptance/model-vectors.js --vectors <folder>`. LightGBM (`model.txt` and `model.json` beside
 * `input.json` and `expected.json`) must match within 1e-12, XGBoost (`NAME.model.json`, `NAME.model.ubj`) within
 * 1e-6·max(1, |expected|). ONNX (`model.onnx` beside `input_0.pb` and `output_0.pb`) must match within 1e-6, if
 * onnxruntime-node is installed. The contributions of the features must match `pred_contrib` of LightGBM within 1e-9 and
 * of XGBoost within 1e-5, both · max(1, largest contribution of the row). Prints a table of the files, and fails if a
 * number is outside its tolerance. Each form of scorer is tested.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { readBooster as readLightGbm } from '../../plugins/lightgbm/booster.js';
import { readBooster as readXgboost } from '../../plugins/xgboost/booster.js';
import type { ModelColumns } from '../../runtime/ground/sdk/model-inputs.js';
import type {
  FeatureColumn,
  SumExplainer,
  TreeEnsemble,
  TreeScorer,
} from '../../runtime/ground/api/tree-ensemble.js';
import { atOnce } from '../../runtime/ground/core/pieces.js';
import type { Transform } from '../../runtime/ground/sdk/tree-model.js';
import { ColumnScorer } from '../../runtime/language/trees/columns/column-scorer.js';
import { FlatScorer } from '../../runtime/language/trees/flat-scorer.js';
import { treeEngine } from '../../runtime/language/trees/tree-engine.js';
import { table } from '../../bench/support/measure.js';
import { findOnnxRuntime } from '../support/onnx-runtime.js';
import { onnxVectors, runOnnxVector } from '../support/onnx-vectors.js';

interface Case {
  readonly file: string;
  readonly rows: readonly (readonly (number | null)[])[];
  /** By row: one number, or one per class. */
  readonly raw: readonly (number | readonly number[])[];
  readonly predicted: readonly (number | readonly number[])[] | undefined;
  readonly columns: Columns | undefined;
  /** By row: for each output its contributions, and then its base. */
  readonly contributions: readonly (readonly number[])[] | undefined;
  readonly contributionTolerance: number;
  readonly explain: () => SumExplainer;
  readonly tolerance: (expected: number) => number;
  readonly read: (prediction: 'raw' | 'objective') => Promise<Scored>;
}

/** The names of the columns, and the categories of some columns in the order of their codes. */
interface Columns {
  readonly names: readonly string[];
  readonly categories: Readonly<Record<string, readonly (string | number)[]>>;
}

interface Scored {
  readonly columns: ModelColumns;
  readonly scorers: ReadonlyMap<string, Pick<TreeScorer, 'score'>>;
  readonly outputs: number;
  readonly transform: Transform | undefined;
}

function cases(folder: string): Case[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return files.flatMap((name) => {
    const file = join(folder, name);
    if (/model\.(txt|json)$/.test(basename(name)) && basename(dirname(dirname(file))) === 'inference')
      return [lightgbm(file)];
    return /\.model\.(json|ubj)$/.test(name) ? [xgboost(file)] : [];
  });
}

function lightgbm(file: string): Case {
  const { data } = json(join(dirname(file), 'input.json')) as { data: Case['rows'] };
  const expected = json(join(dirname(file), 'expected.json')) as Partial<Columns> & {
    raw: Case['raw'];
    proba?: Case['raw'];
    contributions?: number[][];
  };
  return {
    file,
    rows: data,
    raw: expected.raw,
    predicted: expected.proba,
    columns: columnsOf(expected),
    tolerance: () => 1e-12,
    contributions: expected.contributions,
    contributionTolerance: 1e-9,
    explain: () => treeEngine.explain(readLightGbm(readFileSync(file), 'raw', undefined, true).ensemble),
    read: async (prediction) => {
      const { ensemble, columns, transform } = readLightGbm(readFileSync(file), prediction);
      return { scorers: await formsOf(ensemble), outputs: ensemble.outputs, columns, transform };
    },
  };
}

function xgboost(file: string): Case {
  const { features } = json(file.replace(/\.model\.\w+$/, '.input.json')) as { features: Case['rows'] };
  const expected = json(file.replace(/\.model\.\w+$/, '.expected.json')) as Partial<Columns> & {
    predictions: Case['raw'];
    predictions_transformed?: Case['raw'];
    contributions?: number[][];
  };
  return {
    file,
    rows: features,
    raw: expected.predictions,
    predicted: expected.predictions_transformed,
    columns: columnsOf(expected),
    tolerance: (value) => 1e-6 * Math.max(1, Math.abs(value)),
    contributions: expected.contributions,
    contributionTolerance: 1e-5,
    explain: () => {
      const { scored } = readXgboost(readFileSync(file), 'raw', 'best', {}, true);
      return 'linear' in scored ? scored.linear : treeEngine.explain(scored.ensemble);
    },
    read: async (prediction) => {
      const { scored, outputs, columns, transform } = readXgboost(readFileSync(file), prediction, 'best');
      const scorers =
        'linear' in scored ? new Map([['linear', scored.linear]]) : await formsOf(scored.ensemble);
      return { scorers, outputs, columns, transform };
    },
  };
}

/** Vectors from other sources do not contain the columns. */
function columnsOf({ names, categories }: Partial<Columns>): Columns | undefined {
  return names === undefined || categories === undefined ? undefined : { names, categories };
}

function sameColumns(expected: Columns, { names, categories = new Map() }: ModelColumns): boolean {
  const found = Object.fromEntries(
    Array.from(categories, ([column, codes]) => [
      column,
      Array.from(codes)
        .sort(([, a], [, b]) => a - b)
        .map(([category]) => category),
    ]),
  );
  return isDeepStrictEqual({ names, categories: found }, expected);
}

async function formsOf(ensemble: TreeEnsemble): Promise<Map<string, Pick<TreeScorer, 'score'>>> {
  const columns = await ColumnScorer.compile(ensemble);
  const forms = new Map<string, Pick<TreeScorer, 'score'>>([['scalar', new FlatScorer(ensemble)]]);
  if (columns !== undefined) forms.set('columns', columns);
  return forms;
}

function json(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Returns the largest difference, and the number of values outside the tolerance. */
function compare(one: Case, { scorers, outputs, transform }: Scored, expected: Case['raw']): Result {
  const width = one.rows[0]?.length ?? 0;
  const columns: FeatureColumn[] = Array.from({ length: width }, (_, feature) => ({
    values: Float64Array.from(one.rows, (row) => row[feature] ?? NaN),
    stride: 1,
  }));
  const rows = Int32Array.from(one.rows.keys());
  const result: Result = { largest: 0, outside: 0, numbers: 0 };
  for (const scorer of scorers.values()) {
    const found = Array.from({ length: outputs }, () => new Float64Array(rows.length));
    scorer.score(rows, columns, found);
    transform?.(found, rows);
    for (const row of rows) {
      const wanted = [expected[row] ?? NaN].flat();
      for (const [output, value] of wanted.entries()) {
        const given = found[output]?.[row] ?? NaN;
        const difference = given === value ? 0 : Math.abs(given - value);
        result.largest = Math.max(result.largest, difference);
        result.numbers++;
        if (!(difference <= one.tolerance(value))) result.outside++;
      }
    }
  }
  return result;
}

/** Compares the contributions with those of the library, and the differences of rows with differences of scores. */
function compareContributions(one: Case, outputs: number): Result {
  const result: Result = { largest: 0, outside: 0, numbers: 0 };
  const explainer = one.explain();
  if (typeof explainer.contributions === 'string' || one.contributions === undefined) {
    // The library has contributions where Millrace has none.
    if (one.contributions !== undefined) result.outside++;
    return result;
  }
  const rows = one.rows.map((row) => Float64Array.from(row, (value) => value ?? NaN));
  for (let output = 0; output < outputs; output++) {
    const parts = rows.map((row) => new Float64Array(row.length));
    const base = atOnce(explainer.contributions(rows, output, parts));
    for (const [row, own] of parts.entries()) {
      const from = output * (own.length + 1);
      const wanted = one.contributions[row]?.slice(from, from + own.length + 1) ?? [];
      const most = Math.max(1, ...wanted.map(Math.abs));
      for (const [i, value] of [...own, base].entries()) {
        const difference = Math.abs(value - (wanted[i] ?? NaN)) / most;
        result.largest = Math.max(result.largest, difference);
        result.numbers++;
        if (!(difference <= one.contributionTolerance)) result.outside++;
      }
    }
  }
  return result;
}

interface Result {
  largest: number;
  outside: number;
  numbers: number;
}

const { values } = parseArgs({ options: { vectors: { type: 'string' } } });
if (values.vectors === undefined) throw new Error('--vectors is missing: the folder of the vectors');
const found = cases(values.vectors);
const onnx = onnxVectors(values.vectors);
if (found.length + onnx.length === 0) throw new Error(`${values.vectors} contains no vectors`);
const lines: string[][] = [];
let [outside, contributions] = [0, 0];
for (const one of found) {
  for (const prediction of ['raw', 'objective'] as const) {
    const expected = prediction === 'raw' ? one.raw : one.predicted;
    if (expected === undefined) continue;
    const scored = await one.read(prediction).catch((error: unknown) => String(error));
    if (typeof scored === 'string') {
      outside++;
      lines.push([relative(values.vectors, one.file), prediction, '', '', '', `REFUSED: ${scored}`]);
      continue;
    }
    const result = compare(one, scored, expected);
    if (one.columns !== undefined && !sameColumns(one.columns, scored.columns)) {
      outside++;
      lines.push([relative(values.vectors, one.file), 'columns', '', '', '', 'NAMES OR CATEGORIES DIFFER']);
    }
    if (prediction === 'raw' && one.contributions !== undefined) {
      const divided = compareContributions(one, scored.outputs);
      contributions += divided.numbers;
      outside += divided.outside;
      const told = divided.outside === 0 ? 'within' : `${divided.outside} OUTSIDE`;
      lines.push([
        ...[relative(values.vectors, one.file), 'contributions', '', String(divided.numbers)],
        ...[divided.largest.toExponential(1), told],
      ]);
    }
    outside += result.outside;
    lines.push([
      relative(values.vectors, one.file),
      prediction,
      [...scored.scorers.keys()].join(' '),
      String(result.numbers),
      result.largest.toExponential(1),
      result.outside === 0 ? 'within' : `${result.outside} OUTSIDE`,
    ]);
  }
}
const withOnnx = findOnnxRuntime() !== undefined;
for (const file of withOnnx ? onnx : []) {
  const { numbers, largest } = await runOnnxVector(file);
  const within = largest <= 1e-6;
  if (!within) outside++;
  lines.push([
    relative(values.vectors, file),
    'output',
    'onnxruntime',
    String(numbers),
    largest.toExponential(1),
    within ? 'within' : 'OUTSIDE',
  ]);
}
console.log(table(['file', 'prediction', 'forms', 'numbers', 'largest difference', ''], lines));
if (onnx.length > 0 && !withOnnx)
  console.log(`\nonnxruntime-node is not installed: ${onnx.length} ONNX models were not tested`);
console.log(
  `\n${found.length + (withOnnx ? onnx.length : 0)} files, ${contributions} contributions, ${outside} numbers outside their tolerance`,
);
if (outside > 0) process.exitCode = 1;
