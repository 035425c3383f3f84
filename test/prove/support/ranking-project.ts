import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { lightGbmText } from '../../../bench/support/lightgbm-text.js';
import { NodeRule } from '../../../runtime/api/tree-ensemble.js';
import { randomEnsemble, randomNumbers } from '../../support/random-ensemble.js';

/** The request that the proofs send: 100 candidates with 20 features each, ranked by 100 trees within 250 ms. */
export const ROUTE = '/api/v1/items';
export const LIMIT_MS = 250;
export const CANDIDATES = 100;
const ITEMS = 2_000;
const TREES = 100;
const FEATURES = Array.from({ length: 20 }, (_, i) => `f${i}`);

/** Writes a project that ranks items by a tree model. */
export async function writeRankingProject(folder: string): Promise<void> {
  const ensemble = randomEnsemble(7, {
    trees: TREES,
    leaves: 64,
    features: FEATURES.length,
    thresholds: 255,
    precision: 'float64',
    comparison: 'less_or_equal',
    rules: [NodeRule.nan, NodeRule.nan | NodeRule.defaultLeft],
  });
  const names = FEATURES.map((name) => `item_stats__${name}`);
  const files = {
    'pipelines/items.yaml': [
      'pipeline: items',
      'rank: item',
      `limits: { candidates: 1000, time: ${LIMIT_MS}ms }`,
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
    'models/ltr.txt': [lightGbmText({ ...ensemble, base: [0] }, names)],
  };
  for (const [path, lines] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), `${lines.join('\n')}\n`);
  }
}

/** Stores the features of all items through the service. */
export async function loadItems(url: string): Promise<void> {
  const random = randomNumbers(11);
  const rows = Array.from({ length: ITEMS }, (_, i) => ({
    item_id: `i${i}`,
    ...Object.fromEntries(FEATURES.map((name) => [name, random() * 5 - 2.5])),
  }));
  for (let from = 0; from < rows.length; from += 500) {
    const response = await fetch(`${url}/api/v1/features/push`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ view: 'item_stats', rows: rows.slice(from, from + 500) }),
    });
    if (response.status !== 200) throw new Error(`the features are not stored: ${await response.text()}`);
  }
}

/** Returns ranking bodies with different candidates. */
export function rankingBodies(count: number): string[] {
  return Array.from({ length: count }, (_, seed) => {
    const random = randomNumbers(seed + 1);
    const picked = new Set<number>();
    while (picked.size < CANDIDATES) picked.add(Math.floor(random() * ITEMS));
    return JSON.stringify({
      candidates: Array.from(picked, (index) => ({ item_id: `i${index}` })),
      user_page_size: 10,
    });
  });
}
