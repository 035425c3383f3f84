import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NodeRule, type TreeEnsemble } from '../../runtime/ground/api/tree-ensemble.js';
import { randomEnsemble, randomNumbers } from '../../test/support/random-ensemble.js';
import { lightGbmText } from './lightgbm-text.js';

/** A project that ranks items by a tree model over their stored features. */
export interface ItemsProject {
  readonly features: readonly string[];
  /** The number of trees, with 64 leaves each. */
  readonly trees: number;
  /** The time limit of a ranking, such as `10s`. */
  readonly time: string;
}

/** The thresholds are in [-2, 2), with 255 of them per feature, like a booster's bins. */
export function ensembleOf({ features, trees }: ItemsProject): TreeEnsemble {
  const ensemble = randomEnsemble(7, {
    trees,
    leaves: 64,
    features: features.length,
    thresholds: 255,
    precision: 'float64',
    comparison: 'less_or_equal',
    rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
  });
  return { ...ensemble, base: [0] }; // LightGBM's file format has no base score.
}

/** Returns the features of each item, in order. The same count always gives the same values. */
export function featuresOf({ features }: ItemsProject, count: number): Float64Array[] {
  const random = randomNumbers(11);
  return Array.from({ length: count }, () => Float64Array.from(features, () => random() * 5 - 2.5));
}

export const itemId = (index: number): string => `i${index}`;

/** Picks `count` different items as the candidates of a request. The same seed always gives the same candidates. */
export function candidatesOf(items: number, count: number, seed: number): { readonly item_id: string }[] {
  const random = randomNumbers(seed + 1);
  const picked = new Set<number>();
  while (picked.size < count) picked.add(Math.floor(random() * items));
  return Array.from(picked, (index) => ({ item_id: itemId(index) }));
}

export async function writeItemsProject(folder: string, project: ItemsProject): Promise<void> {
  const { features, time } = project;
  const files = {
    'pipelines/items.yaml': [
      'pipeline: items',
      'rank: item',
      `limits: { candidates: 1000, time: ${time} }`,
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
      ...features.map((name) => `  ${name}: float`),
    ],
    'models/ltr.txt': [
      lightGbmText(
        ensembleOf(project),
        features.map((name) => `item_stats__${name}`),
      ),
    ],
  };
  for (const [path, lines] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${lines.join('\n')}\n`);
  }
}
