import { strict as assert } from 'node:assert';
import { NodeRule, type TreeEnsemble } from '../runtime/ground/api/tree-ensemble.js';
import { treeEngine } from '../runtime/language/trees/tree-engine.js';
import { randomEnsemble, randomNumbers, type EnsembleShape } from '../test/support/random-ensemble.js';
import { ObjectTrees } from './naive/object-trees.js';
import { measure, median, ms, table, type Contestant } from './support/measure.js';
import { openOnnx } from './support/onnx-trees.js';

interface Shape extends Partial<EnsembleShape> {
  readonly name: string;
  readonly trees: number;
  readonly leaves: number;
  readonly features: number;
  /** The fraction of missing values. */
  readonly missing?: number;
}

const XGBOOST: Partial<EnsembleShape> = { precision: 'float32', comparison: 'less', balanced: true };

const SHAPES: readonly Shape[] = [
  { name: '100 × 31 × 20', trees: 100, leaves: 31, features: 20 },
  { name: '500 × 31 × 100', trees: 500, leaves: 31, features: 100 },
  { name: '300 × 64 × 40', trees: 300, leaves: 64, features: 40 },
  { name: '1000 × 64 × 200', trees: 1000, leaves: 64, features: 200 },
  { name: '300 × 255 × 40', trees: 300, leaves: 255, features: 40 },
  { name: '1000 × 255 × 100', trees: 1000, leaves: 255, features: 100 },
  { name: 'XGBoost, 500 of depth 6 × 40', trees: 500, leaves: 64, features: 40, ...XGBOOST },
  { name: 'XGBoost, 200 of depth 10 × 40', trees: 200, leaves: 1024, features: 40, ...XGBOOST },
  {
    name: '300 × 64 × 40, half categorical',
    trees: 300,
    leaves: 64,
    features: 40,
    categoricalFrom: 20,
    categories: 50,
  },
  { name: '300 × 64 × 40, half missing', trees: 300, leaves: 64, features: 40, missing: 0.5 },
  { name: '500 × 31 × 40, 5 classes', trees: 500, leaves: 31, features: 40, outputs: 5 },
  { name: '100 × 31 × 20, linear leaves', trees: 100, leaves: 31, features: 20, linear: 4 },
  { name: '300 × 64 × 40, linear leaves', trees: 300, leaves: 64, features: 40, linear: 5 },
];

/**
 * Compares this runtime with trees of objects and with ONNX Runtime, on ensembles of many shapes: trees × leaves ×
 * features.
 */
export async function modelShapesBench(short: boolean): Promise<void> {
  const cells: string[][] = [];
  for (const shape of SHAPES) cells.push(...(await measureShape(shape, short)));
  const head = ['', 'rows', 'objects', 'onnx', 'ours', 'objects take', 'onnx takes', 'form', 'load'];
  console.log('\nMilliseconds at the median; … times as long as ours; load: time until ready to score\n');
  console.log(table(head, cells));
}

async function measureShape(shape: Shape, short: boolean): Promise<string[][]> {
  const { missing = 0.1, name, ...rest } = shape;
  const { categories = 12, categoricalFrom = Infinity } = rest;
  const ensemble: TreeEnsemble = {
    ...randomEnsemble(7, {
      thresholds: 255,
      precision: 'float32',
      comparison: 'less_or_equal',
      rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
      ...rest,
    }),
    // Thresholds and leaves are float32 numbers, because ONNX supports no others.
    precision: rest.precision ?? 'float64',
  };
  const start = performance.now();
  const ours = await treeEngine.compile(ensemble);
  const load = performance.now() - start;
  const objects = new ObjectTrees(ensemble);
  const onnx = rest.linear === undefined ? await openOnnx(ensemble) : undefined;
  const random = randomNumbers(1);
  const valueOf = (feature: number): number =>
    random() < missing
      ? NaN
      : feature >= categoricalFrom
        ? Math.floor(random() * categories)
        : Math.fround(random() * 5 - 2.5);
  const lines: string[][] = [];
  for (const count of short ? [100] : [24, 100, 1000]) {
    const values = Array.from({ length: ensemble.features }, (_, feature) =>
      Float64Array.from({ length: count }, () => valueOf(feature)),
    );
    const rows = Int32Array.from(values[0]?.keys() ?? []);
    const columns = values.map((column) => ({ values: column, stride: 1 as const }));
    const named = Array.from(rows, (row) =>
      Object.fromEntries(values.map((column, feature) => [`f${feature}`, column[row] ?? NaN])),
    );
    const dense = Float32Array.from(
      named.flatMap((row) => values.map((_, feature) => row[`f${feature}`] ?? NaN)),
    );
    const [expected, found] = [0, 1].map(() => ensemble.base.map(() => new Float64Array(count)));
    let sums: ArrayLike<number> = [];
    const contestants: Contestant[] = [
      {
        name: 'objects',
        run: () =>
          now(() => {
            objects.score(named, expected ?? []);
          }),
      },
      {
        name: 'ours',
        run: () =>
          now(() => {
            ours.score(rows, columns, found ?? []);
          }),
      },
    ];
    if (onnx !== undefined) {
      const run = async (): Promise<void> => {
        sums = await onnx.score(dense, count);
      };
      contestants.push({ name: 'onnx', run });
    }
    const measured = await measure(
      // Each measured run follows an unmeasured run of the same contestant, so that all start with warm CPU caches.
      contestants.map((one) => ({ ...one, prepare: () => one.run() })),
      (short ? 5 : 30) * (count > 100 ? 1 : 3),
    );
    assert.deepEqual(found, expected, 'equal bits');
    for (const [index, sum] of Array.from(sums).entries()) {
      const ourSum = found?.[index % ensemble.outputs]?.[Math.floor(index / ensemble.outputs)] ?? NaN;
      assert(Math.abs(sum - ourSum) <= 1e-4 * Math.max(1, Math.abs(ourSum)), `${ourSum}, ONNX ${sum}`);
    }
    const [naive = NaN, mine = NaN, runtime = NaN] = measured.map((one) => median(one.ms));
    const times = (of: number): string => (Number.isNaN(of) ? '–' : (of / mine).toFixed(1));
    lines.push([
      name,
      String(count),
      ...[naive, runtime, mine].map(ms),
      ...[naive, runtime].map(times),
      ours.form,
      ms(load),
    ]);
  }
  await onnx?.close();
  return lines;
}

function now(run: () => void): Promise<void> {
  run();
  return Promise.resolve();
}
