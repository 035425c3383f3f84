import { join } from 'node:path';
import { DEMO_SEED, makeCatalogue } from '../demo/catalogue.js';
import { writeWhole } from '../../ground/core/write-whole.js';

const FILE = 'rows/example.jsonl';

/** Writes the products of the shop that `millrace demo` shows. @returns the path of the file */
export async function exampleShop(folder: string): Promise<string> {
  const { brands, products } = makeCatalogue(DEMO_SEED);
  const names = new Map(brands.map(({ brand_id: id, name }) => [id, name]));
  const rows = products.map((product) => ({ ...product, brand: names.get(product.brand) ?? product.brand }));
  const path = join(folder, FILE);
  await writeWhole(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}
