import { strict as assert } from 'node:assert';
import type { SumExplainer } from '../runtime/ground/api/tree-ensemble.js';
import { inTurns } from '../runtime/ground/core/pieces.js';
import { treeEngine } from '../runtime/language/trees/tree-engine.js';
import { randomNumbers } from '../test/support/random-ensemble.js';
import { withCovers } from '../test/support/shapley.js';
import { libraries } from './libraries.js';
import { benchEnsemble } from './models.js';
import { markdownTable, writeBlocks } from './support/blocks.js';
import { measure, median, ms, table } from './support/measure.js';

const ROWS = 240;
const PAGE = 24;
/** How far the contributions of a library may be from ours. */
const SLACK: Readonly<Record<string, number>> = { lightgbm: 1e-9, xgboost: 1e-5 };

/**
 * What it takes to divide the sums of a page and the difference of a pair among the features of the model of the bench
 * `models`: CPU, and the longest time without another turn of the event loop. Each run has other rows. LightGBM and XGBoost
 * do the same by `pred_contrib`, one thread each, if `MILLRACE_PYTHON` has them, and must give the same numbers. They have no
 * pairs.
 */
export async function contributionsBench(short: boolean, write: boolean): Promise<void> {
  const ensemble = withCovers({ ...benchEnsemble(), base: [0] }, randomNumbers(3));
  const { features } = ensemble;
  const random = randomNumbers(1);
  const dense = Float64Array.from({ length: ROWS * features }, () =>
    random() < 0.1 ? NaN : Math.fround(random() * 5 - 2.5),
  );
  const rows = Array.from({ length: ROWS }, (_, row) => dense.subarray(row * features, (row + 1) * features));
  const explainer = treeEngine.explain(ensemble);
  let at = 0;
  let longest = 0;
  const next = (): Float64Array => rows[at++ % ROWS] ?? new Float64Array(features);
  const page = async (): Promise<void> => {
    const some = Array.from({ length: PAGE }, next);
    const work = divide(explainer, some);
    let turn = performance.now();
    await inTurns(work, () => {
      turn = performance.now();
    });
    longest = Math.max(longest, performance.now() - turn);
  };
  const pair = (): Promise<void> => {
    const work = explainer.difference(next(), next(), 0, new Float64Array(features));
    while (work.next().done !== true);
    return Promise.resolve();
  };
  const measured = await measure(
    [
      { name: `a page of ${PAGE}`, run: page },
      { name: 'a pair', run: pair },
    ],
    short ? 20 : 200,
  );
  const found = libraries(ensemble, dense, 'contributions', [PAGE]);
  const ours = await inTurns(divide(explainer, rows));
  for (const { name, missing, sums = [] } of found) {
    if (missing !== undefined) console.log(`${name} is left out: ${missing}`);
    for (const [i, theirs] of sums.entries()) {
      const [row, feature] = [Math.floor(i / (features + 1)), i % (features + 1)];
      const own = feature === features ? ours.base : (ours.parts[row]?.[feature] ?? NaN);
      assert(
        Math.abs(own - theirs) <= (SLACK[name] ?? 0),
        `${name}: ${row}, ${feature}: ${theirs}, not ${own}`,
      );
    }
  }
  const head = ['what', 'CPU, ms', 'p50, ms', ...found.map(({ name }) => `${name}, ms`)];
  const lines = measured.map(({ name, cpuMs, ms: times }, i) => [
    name,
    ms(cpuMs),
    ms(median(times)),
    ...found.map(({ times: theirs }) => (i === 0 ? ms((theirs?.[PAGE] ?? NaN) / 1000) : '–')),
  ]);
  const slice = `The longest turn of a page: ${ms(longest)} ms.`;
  console.log(`\n300 trees × 64 leaves × ${features} features\n\n${table(head, lines)}\n\n${slice}`);
  if (!write) return;
  const block = `${markdownTable(head, lines)}\n\n${slice}`;
  await writeBlocks('docs/performance.md', { contributions: block }, short);
}

function* divide(
  { contributions }: SumExplainer,
  rows: readonly Float64Array[],
): Generator<'own slice' | undefined, { readonly base: number; readonly parts: readonly Float64Array[] }> {
  if (typeof contributions === 'string') throw new Error(contributions);
  const parts = rows.map((row) => new Float64Array(row.length));
  const base = yield* contributions(rows, 0, parts);
  return { base, parts };
}
