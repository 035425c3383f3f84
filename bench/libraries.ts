import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NodeRule, type TreeEnsemble } from '../runtime/ground/api/tree-ensemble.js';
import { treeEngine } from '../runtime/language/trees/tree-engine.js';
import { treeModel } from '../test/support/onnx-writer.js';
import { randomNumbers } from '../test/support/random-ensemble.js';
import { lightGbmText } from './support/lightgbm-text.js';
import { median, table } from './support/measure.js';
import { benchEnsemble } from './models.js';

const ROWS = 1000;
const COUNTS = [1, 2, 4, 8, 12, 16, 23, 24, 100, 1000];
const SCRIPT = fileURLToPath(new URL('../../bench/support/tree-libraries.py', import.meta.url));

/** What the script says about a library. */
interface Library {
  readonly name: string;
  readonly missing?: string;
  /** By row: its score, or its contributions and then the base. */
  readonly sums?: readonly number[];
  /** Microseconds by number of rows. */
  readonly times?: Readonly<Record<string, number>>;
}

/**
 * Compares this runtime with LightGBM (its C functions, for one row `PredictForMatSingleRowFast`), XGBoost (its C
 * functions) and ONNX Runtime, one thread each, on the model of the bench `models`. Each call has other rows than the
 * one before, so that no branch can be learnt. `MILLRACE_PYTHON` names the Python that has the libraries. A library that is not
 * installed is left out. LightGBM has to give the same bits.
 */
export async function librariesBench(): Promise<void> {
  // The text of LightGBM has no base.
  const ensemble = { ...benchEnsemble(), base: [0] };
  const random = randomNumbers(1);
  const dense = Float64Array.from({ length: ROWS * ensemble.features }, () =>
    random() < 0.1 ? NaN : Math.fround(random() * 5 - 2.5),
  );
  const [sums, times] = await ours(ensemble, dense);
  const found = libraries(ensemble, dense, 'scores', COUNTS).filter(
    ({ name, missing, sums: theirs = [] }) => {
      if (missing !== undefined) console.log(`${name} is left out: ${missing}`);
      for (const [row, sum] of theirs.entries()) {
        const [own = NaN, slack] = [sums[row], name === 'lightgbm' ? 0 : 1e-4];
        assert(
          Math.abs(sum - own) <= slack * Math.max(1, Math.abs(own)),
          `${name}: row ${row}: ${sum}, not ${own}`,
        );
      }
      return missing === undefined;
    },
  );
  console.log(
    '\nMicroseconds of a call at the median, 300 trees × 64 leaves × 40 features, one thread each\n',
  );
  const us = (value: number | undefined): string => value?.toFixed(1) ?? '–';
  console.log(
    table(
      ['rows', 'millrace', ...found.map(({ name }) => name), 'the best takes'],
      COUNTS.map((count) => {
        const theirs = found.map((one) => one.times?.[count] ?? NaN);
        const own = times.get(count) ?? NaN;
        const best = found.length === 0 ? '–' : `${(Math.min(...theirs) / own).toFixed(2)} ×`;
        return [String(count), us(own), ...theirs.map(us), best];
      }),
    ),
  );
}

async function ours(
  ensemble: TreeEnsemble,
  dense: Float64Array,
): Promise<readonly [Float64Array, ReadonlyMap<number, number>]> {
  const scorer = await treeEngine.compile(ensemble);
  const sums = new Float64Array(ROWS);
  const columns = Array.from({ length: ensemble.features }, (_, feature) => ({
    values: Float64Array.from({ length: ROWS }, (_, row) => dense[row * ensemble.features + feature] ?? NaN),
    stride: 1 as const,
  }));
  const times = new Map<number, number>();
  for (const count of COUNTS) {
    const calls = Math.max(1, Math.floor(400 / count));
    const batches = Array.from({ length: calls }, (_, call) =>
      Int32Array.from({ length: count }, (_, row) => (call * count + row) % ROWS),
    );
    const took: number[] = [];
    for (let round = 0; round < 200; round++) {
      const start = performance.now();
      for (const rows of batches) scorer.score(rows, columns, [sums]);
      took.push(((performance.now() - start) * 1000) / calls);
    }
    // V8 optimises the code during the first rounds.
    times.set(count, median(took.slice(-100).sort((a, b) => a - b)));
  }
  return [sums, times];
}

/** @param what what the libraries compute; contributions need covers */
export function libraries(
  ensemble: TreeEnsemble,
  dense: Float64Array,
  what: 'scores' | 'contributions',
  counts: readonly number[],
): Library[] {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  try {
    const names = Array.from({ length: ensemble.features }, (_, feature) => `f${feature}`);
    writeFileSync(join(folder, 'model.txt'), lightGbmText(ensemble, names));
    if (what === 'scores') writeFileSync(join(folder, 'model.onnx'), treeModel(ensemble));
    writeFileSync(join(folder, 'rows.f64'), dense);
    const trees = ensemble.trees.map((tree) => ({
      feature: [...tree.feature],
      threshold: [...tree.threshold],
      left: [...tree.left],
      right: [...tree.right],
      leaves: [...tree.leaves],
      ...(tree.cover && { cover: { nodes: [...tree.cover.nodes], leaves: [...tree.cover.leaves] } }),
      default_left: Array.from(tree.rule, (rule) => Number((rule & NodeRule.defaultLeft) !== 0)),
    }));
    const model = { features: ensemble.features, base: ensemble.base[0], trees };
    writeFileSync(join(folder, 'trees.json'), JSON.stringify(model));
    const python = process.env['MILLRACE_PYTHON'] ?? 'python3';
    const output = execFileSync(python, [SCRIPT, what, folder, ...counts.map(String)], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    return output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Library);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [{ name: 'every library', missing: 'there is no Python' }];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
