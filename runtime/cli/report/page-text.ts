import type { RankingAnswer } from '../../request/pipeline/answer-types.js';
import { renderTable } from './table.js';
import type { Catalogue } from '../demo/catalogue.js';

/** Renders a page of the demo shop as a table of at most 80 columns. */
export function pageText(answer: RankingAnswer, catalogue: Catalogue): string {
  const products = new Map(catalogue.products.map((product) => [product.product_id, product]));
  const brands = new Map(catalogue.brands.map((brand) => [brand.brand_id, brand]));
  const rows = answer.ranked_candidates.map(({ candidate_id: id, ranked_score: score }, at) => {
    const product = products.get(id);
    return [
      String(at + 1),
      score.toFixed(3),
      product?.title ?? id,
      brands.get(product?.brand ?? '')?.name ?? '',
      product?.price.toFixed(2) ?? '',
      String(product?.number_in_stock ?? ''),
    ];
  });
  return renderTable(
    { '#': 'right', score: 'right', title: 40, brand: 12, price: 'right', stock: 'right' },
    rows,
  );
}
