import { Random } from '../../runtime/ground/core/random.js';

const COLOURS = ['red', 'blue', 'green', 'black'] as const;
const THINGS = ['shoe', 'boot', 'sock', 'hat', 'scarf', 'coat'] as const;

/** Products, and queries that were graded by a taste which the files do not tell. */
export interface TuningShop {
  /** JSON lines. */
  readonly products: string;
  /** CSV, sorted by grade within a query. */
  readonly judgments: string;
}

/**
 * Makes a shop from a seed. The grade of a candidate depends on its title, its popularity and its rating, with noise.
 * @param taste how much popularity and rating count against the title
 */
export function tuningShop(queries = 60, taste = { popularity: 1.5, rating: 0.02 }, seed = 1): TuningShop {
  const random = new Random(seed);
  const products = Array.from({ length: 240 }, (_, i) => ({
    product_id: `p${i}`,
    title: `${random.pick(COLOURS)} ${random.pick(THINGS)}`,
    popularity: Number((random.next() ** 2).toFixed(3)),
    rating: random.between(10, 50) / 10,
  }));
  const rows: string[] = [];
  for (let query = 0; query < queries; query++) {
    const words = [random.pick(COLOURS), random.pick(THINGS)];
    const graded = Array.from({ length: 15 }, () => {
      const product = products[random.between(0, products.length - 1)];
      if (product === undefined) throw new Error('there is no product');
      const found = words.filter((word) => product.title.includes(word)).length / words.length;
      const worth = found + taste.popularity * product.popularity + taste.rating * product.rating;
      const grade = Math.max(0, Math.min(3, Math.round(worth + random.around(-0.4, 0.4))));
      return { id: product.product_id, grade };
    });
    const text = `${words.join(' ')} ${query}`;
    const seen = new Set<string>();
    for (const { id, grade } of graded.sort((a, b) => b.grade - a.grade)) {
      if (!seen.has(id)) rows.push(`${text},${id},${grade}\n`);
      seen.add(id);
    }
  }
  return {
    products: products.map((product) => `${JSON.stringify(product)}\n`).join(''),
    judgments: `query,product_id,grade\n${rows.join('')}`,
  };
}
