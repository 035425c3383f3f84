import { strict as assert } from 'node:assert';
import { NodeRule, type TreeEnsemble, type TreeScorer } from '../runtime/ground/api/tree-ensemble.js';
import { ColumnScorer } from '../runtime/language/trees/columns/column-scorer.js';
import { FlatScorer } from '../runtime/language/trees/flat-scorer.js';
import { treeEngine } from '../runtime/language/trees/tree-engine.js';
import { randomColumns, randomEnsemble } from '../test/support/random-ensemble.js';
import { ObjectTrees } from './naive/object-trees.js';
import { FlatTrees } from './naive/flat-trees.js';
import { measure, median, ms, percentile, table, type Contestant } from './support/measure.js';
import { openOnnx, type OnnxTrees } from './support/onnx-trees.js';

const FEATURES = 40;
/** The number of features of the user or the query. All rows of a request share their values. */
const SHARED = 12;

/**
 * 300 trees of 64 leaves over 40 features with 255 bins each, as LightGBM trains them. Thresholds and leaves are
 * float32 numbers, because ONNX supports no others. All contestants except ONNX Runtime add in float64.
 */
export function benchEnsemble(): TreeEnsemble {
  const ensemble = randomEnsemble(7, {
    trees: 300,
    leaves: 64,
    features: FEATURES,
    thresholds: 255,
    precision: 'float32',
    comparison: 'less_or_equal',
    rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
  });
  return { ...ensemble, precision: 'float64' };
}

/**
 * Scores the same rows in one run with: trees of objects that look features up by name, trees in flat arrays, the
 * scalar and column forms of this runtime, and ONNX Runtime with one thread, if it is installed. All except ONNX
 * Runtime must give identical bits. ONNX Runtime must give the same numbers within the precision of float32.
 */
export async function modelsBench(short: boolean): Promise<void> {
  const ensemble = benchEnsemble();
  const start = performance.now();
  const columns = await ColumnScorer.compile(ensemble);
  const compiled = performance.now() - start;
  assert(columns !== undefined, 'expected a column form of the ensemble');
  console.log(`\n300 trees × 64 leaves × ${FEATURES} features; plane program compiled in ${ms(compiled)} ms`);
  const scorers = { scalar: new FlatScorer(ensemble), columns, engine: await treeEngine.compile(ensemble) };
  const onnx = await openOnnx(ensemble);
  if (onnx === undefined) console.log('onnxruntime-node is not installed, so it is not in the tables');
  for (const rows of [1, 2, 4, 8, 16, 24, 100, 1000]) {
    await compare(ensemble, scorers, onnx, rows, FEATURES, (short ? 30 : 200) * (rows > 100 ? 1 : 3));
  }
  console.log(
    `\n${SHARED} of the features have the same value in all rows, like features of a user or a query:`,
  );
  await compare(ensemble, scorers, onnx, 1000, FEATURES - SHARED, short ? 30 : 200);
  await onnx?.close();
}

async function compare(
  ensemble: TreeEnsemble,
  { scalar, columns, engine }: Readonly<Record<'scalar' | 'columns' | 'engine', TreeScorer>>,
  onnx: OnnxTrees | undefined,
  count: number,
  ownFeatures: number,
  rounds: number,
): Promise<void> {
  const values = randomColumns(count, ensemble, count).map((column) => column.map(Math.fround));
  const input = values.map((column, i) => ({ values: column, stride: i < ownFeatures ? 1 : 0 }) as const);
  const cell = (feature: number, row: number): number =>
    values[feature]?.[feature < ownFeatures ? row : 0] ?? NaN;
  const rows = Int32Array.from({ length: count }, (_, row) => row);
  const objects = new ObjectTrees(ensemble);
  const flat = new FlatTrees(ensemble);
  const named = Array.from(rows, (row) =>
    Object.fromEntries(values.map((_, feature) => [`f${feature}`, cell(feature, row)])),
  );
  const dense = Float64Array.from({ length: count * FEATURES }, (_, i) =>
    cell(i % FEATURES, Math.floor(i / FEATURES)),
  );
  let sums: ArrayLike<number> = [];
  const out = Array.from({ length: 5 }, () => new Float64Array(count));
  const scored = (scorer: TreeScorer, to: number) => (): Promise<void> => {
    scorer.score(rows, input, [out[to] ?? new Float64Array(count)]);
    return Promise.resolve();
  };
  const contestants: Contestant[] = [
    {
      name: 'objects, named features',
      run: () => {
        objects.score(named, out.slice(0, 1));
        return Promise.resolve();
      },
    },
    {
      name: 'flat arrays',
      run: () => {
        flat.score(dense, count, out[1] ?? []);
        return Promise.resolve();
      },
    },
    { name: 'millrace, scalar form', run: scored(scalar, 2) },
    { name: 'millrace, column form', run: scored(columns, 3) },
    { name: 'millrace, automatic choice', run: scored(engine, 4) },
  ];
  if (onnx !== undefined) {
    const features = Float32Array.from(dense);
    const run = async (): Promise<void> => {
      sums = await onnx.score(features, count);
    };
    contestants.push({ name: 'onnxruntime, 1 thread', run });
  }
  // Each measured run follows an unmeasured run of the same contestant, so that all start with warm CPU caches.
  const measured = await measure(
    contestants.map((one) => ({ ...one, prepare: () => one.run() })),
    rounds,
  );
  for (const one of out) assert.deepEqual(one, out[0], 'all scores are equal, bit for bit');
  for (const row of onnx === undefined ? [] : rows) {
    const [ours, theirs] = [out[0]?.[row] ?? NaN, sums[row] ?? NaN];
    assert(
      Math.abs(ours - theirs) <= 1e-5 * Math.max(1, Math.abs(ours)),
      `row ${row}: ${ours}, ONNX ${theirs}`,
    );
  }
  const base = median(measured[0]?.ms ?? []);
  const runtime = onnx === undefined ? NaN : median(measured.at(-1)?.ms ?? []);
  console.log(`\n${count} rows, ${rounds} rounds, milliseconds\n`);
  console.log(
    table(
      ['', 'p50', 'p99', 'objects take … times as long', 'onnxruntime takes'],
      measured.map(({ name, ms: times }) => [
        name,
        median(times).toFixed(3),
        percentile(times, 99).toFixed(3),
        (base / median(times)).toFixed(1),
        Number.isNaN(runtime) ? '–' : (runtime / median(times)).toFixed(1),
      ]),
    ),
  );
}
