import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NodeRule, type TreeEnsemble } from '../../runtime/api/tree-ensemble.js';
import { randomEnsemble, randomNumbers } from '../../test/support/random-ensemble.js';
import { lightGbmText } from '../support/lightgbm-text.js';

/** The data of the service bench: items with 40 features, scored by 300 trees of 64 leaves. */
export const FEATURES = Array.from({ length: 40 }, (_, i) => `f${i}`);

/** The thresholds are in [-2, 2), with 255 of them per feature, like a booster's bins. */
export function ensembleOf(): TreeEnsemble {
  const ensemble = randomEnsemble(7, {
    trees: 300,
    leaves: 64,
    features: FEATURES.length,
    thresholds: 255,
    precision: 'float64',
    comparison: 'less_or_equal',
    rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
  });
  return { ...ensemble, base: [0] }; // LightGBM's file format has no base score.
}

/** Returns the features of each item, in order. The same count always gives the same values. */
export function featuresOf(count: number): Float64Array[] {
  const random = randomNumbers(11);
  return Array.from({ length: count }, () => Float64Array.from(FEATURES, () => random() * 5 - 2.5));
}

export const itemId = (index: number): string => `i${index}`;

/** The naive service's key. It is as long as Millrace's. */
export const naiveKey = (id: string): string => `naivesvc:features:item:${id}`;

/** Creates request bodies with `count` different items each and a page of ten. */
export function bodiesOf(items: number, count: number, bodies: number): Buffer[] {
  return Array.from({ length: bodies }, (_, seed) => {
    const random = randomNumbers(seed + 1);
    const picked = new Set<number>();
    while (picked.size < count) picked.add(Math.floor(random() * items));
    return Buffer.from(
      JSON.stringify({
        request_id: `r${seed}`,
        candidates: Array.from(picked, (index) => ({ item_id: itemId(index) })),
        user_page: 0,
        user_page_size: 10,
      }),
    );
  });
}

/** Writes a project that ranks the items with the trees. */
export async function writeProject(folder: string): Promise<void> {
  const files = {
    'pipelines/items.yaml': [
      'pipeline: items',
      'rank: item',
      'limits: { candidates: 1000, time: 10s }',
      'features: [item_stats]',
      'components:',
      '  - use: lightgbm',
      '    as: ltr',
      '    with: { model: models/ltr.txt }',
      '  - use: score',
      "    with: { value: 'ltr:score' }",
      'page: { size: 10, max_size: 100 }',
    ],
    'schemas/entities/item.yaml': ['entity: item', 'attributes:', '  title: string'],
    'schemas/features/item_stats.yaml': [
      'view: item_stats',
      'of: [item]',
      'features:',
      ...FEATURES.map((name) => `  ${name}: float`),
    ],
    'models/ltr.txt': [
      lightGbmText(
        ensembleOf(),
        FEATURES.map((name) => `item_stats__${name}`),
      ),
    ],
  };
  for (const [path, lines] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${lines.join('\n')}\n`);
  }
}
