import { expect } from 'chai';
import { DEMO_SEED, makeCatalogue } from '../../../../runtime/cli/demo/catalogue.js';
import { curlCommand, SAMPLE_USER, sampleRequest } from '../../../../runtime/cli/demo/sample-request.js';
import { pageText } from '../../../../runtime/cli/report/page-text.js';

function ids(items: readonly object[], key: string): readonly unknown[] {
  return items.map((item) => (item as Record<string, unknown>)[key]);
}

describe('the demo shop', () => {
  const catalogue = makeCatalogue(7);

  it('is the same for the same seed, and differs for another seed', () => {
    expect(makeCatalogue(7)).to.deep.equal(catalogue);
    expect(makeCatalogue(8).products).not.to.deep.equal(catalogue.products);
  });

  it('has unique product ids, and every reference leads to an existing entity', () => {
    expect(new Set(ids(catalogue.products, 'product_id')).size).to.equal(5000);
    const brands = ids(catalogue.brands, 'brand_id');
    const categories = ids(catalogue.categories, 'category_id');
    expect(brands).to.include.members([...new Set(ids(catalogue.products, 'brand'))]);
    expect(brands).to.include.members([...new Set(ids(catalogue.users, 'favourite_brand'))]);
    expect(categories).to.include.members([...new Set(ids(catalogue.products, 'category'))]);
  });

  it('has no duplicate row in a view', () => {
    for (const [, rows] of catalogue.features) {
      const keys = rows.map((row) => JSON.stringify([row.product_id, row.user_id, row.brand_id]));
      expect(new Set(keys).size).to.equal(rows.length);
    }
  });

  it('is requested with 24 different products, some of them of the brand that the user likes', () => {
    const shop = makeCatalogue(DEMO_SEED);
    const candidates = new Set(ids(sampleRequest(shop).candidates as object[], 'product_id'));
    expect(candidates.size).to.equal(24);
    const user = shop.users.find((someone) => someone.user_id === SAMPLE_USER);
    const liked = shop.products.filter((product) => product.brand === user?.favourite_brand);
    expect(liked.some((product) => candidates.has(product.product_id))).to.equal(true);
  });

  it('fits into 80 columns, and its request is the request of the curl line', () => {
    const request = sampleRequest(catalogue);
    const ranked = (request.candidates as { product_id: string }[]).map(({ product_id }, at) => ({
      candidate_id: product_id,
      ranked_score: 9 - at / 10,
    }));
    const command = curlCommand('http://127.0.0.1:5001/api/v1/ranking', request);
    const lines = [...pageText({ ranked_candidates: ranked }, catalogue).split('\n'), ...command.split('\n')];
    expect(Math.max(...lines.map((line) => line.length))).to.be.at.most(80);
    expect(JSON.parse(/-d '(.*)'$/s.exec(command)?.[1] ?? '')).to.deep.equal(request);
  });
});
