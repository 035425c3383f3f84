import type { JsonObject } from '../../ground/api/types.js';
import type { InputRow } from '../../project/rows/rows.js';
import { MAX_ROWS } from '../load/batches.js';
import type { Progress } from '../../ground/core/progress.js';
import type { DataTarget } from '../load/target.js';
import type { Catalogue } from './catalogue.js';

/** Loads the shop like a user's own loader: through the upload and push endpoints, a thousand rows at a time. */
export async function loadCatalogue(
  catalogue: Catalogue,
  target: DataTarget,
  progress: Progress,
): Promise<void> {
  let done = 0;
  async function inBatches(
    items: readonly JsonObject[],
    send: (rows: readonly InputRow[]) => Promise<unknown>,
  ): Promise<void> {
    for (let from = 0; from < items.length; from += MAX_ROWS) {
      const rows = items
        .slice(from, from + MAX_ROWS)
        .map((value, at) => ({ line: from + at + 1, value, bytes: 0 }));
      await send(rows);
      done += rows.length;
      progress.update(done, done);
    }
  }

  const entities: readonly (readonly [string, readonly JsonObject[]])[] = [
    ['brand', catalogue.brands],
    ['category', catalogue.categories],
    ['product', catalogue.products],
    ['user', catalogue.users],
    ['query', catalogue.queries],
  ];
  for (const [type, items] of entities)
    await inBatches(items, (rows) => target.upload(type, undefined, rows));
  for (const [view, items] of catalogue.features) await inBatches(items, (rows) => target.push(view, rows));
  progress.stop();
}

/** Returns the number of rows that `loadCatalogue` will send. */
export function rowsOf(catalogue: Catalogue): number {
  const { brands, categories, products, users, queries, features } = catalogue;
  const entities = [brands, categories, products, users, queries].reduce(
    (sum, items) => sum + items.length,
    0,
  );
  return [...features.values()].reduce((sum, items) => sum + items.length, entities);
}
