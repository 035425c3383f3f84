import {
  candidatesOf,
  featuresOf,
  itemId,
  writeItemsProject,
  type ItemsProject,
} from '../../../bench/support/items-project.js';

/** The request that the proofs send: 100 candidates with 20 features each, ranked by 100 trees within 250 ms. */
export const ROUTE = '/api/v1/items';
export const LIMIT_MS = 250;
export const CANDIDATES = 100;
const ITEMS = 2_000;
const PROJECT: ItemsProject = {
  features: Array.from({ length: 20 }, (_, i) => `f${i}`),
  trees: 100,
  time: `${LIMIT_MS}ms`,
};

/** Writes a project that ranks items by a tree model. */
export const writeRankingProject = (folder: string): Promise<void> => writeItemsProject(folder, PROJECT);

/** Stores the features of all items through the service. */
export async function loadItems(url: string): Promise<void> {
  const rows = featuresOf(PROJECT, ITEMS).map((values, i) => ({
    item_id: itemId(i),
    ...Object.fromEntries(PROJECT.features.map((name, f) => [name, values[f]])),
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
export function rankingBodies(count: number, candidates = CANDIDATES): string[] {
  return Array.from({ length: count }, (_, seed) =>
    JSON.stringify({ candidates: candidatesOf(ITEMS, candidates, seed), user_page_size: 10 }),
  );
}
