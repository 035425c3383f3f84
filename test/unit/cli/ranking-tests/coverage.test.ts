import { expect } from 'chai';
import { runIn, SHOP } from '../../../support/ranking-tests.js';

/** The parts that no case fired, as `step: what`. */
async function neverFired(test: string, files = SHOP, covers = false): Promise<string[]> {
  const { coverage } = await runIn({ ...files, 'tests/t.yaml': test }, { covers });
  return coverage.parts
    .filter(({ fired }) => fired === 0)
    .map(({ pipeline, as, what }) => `${pipeline} ${as}: ${what}`);
}

const test = (products: string, request: string): string =>
  `test: t\npipeline: search\ngiven: { entities: { product: [${products}] }, outputs: { ltr:score: 1 } }\nrequest: { ${request} }\nexpect: { degraded: [] }\n`;

describe('coverage', () => {
  it('lists every part that no case fires', async () => {
    expect(await neverFired(test('', 'candidates: [{ product_id: p1 }]'))).to.deep.equal([
      'search priced: removes a candidate',
      'search liked: applies to a candidate',
      'search bury: applies to a candidate',
      'search pin: `when` is true',
      'search pin: pins position 1',
    ]);
  });

  it('is complete if the cases fire everything', async () => {
    const products =
      '{ product_id: p9, price: 1, rating: 5, number_in_stock: 0 }, { product_id: free, price: 0 }';
    const more = 'cases:\n  - { name: kiosk, request: { device: kiosk } }\n';
    const request =
      'device: app, candidates: [{ product_id: p9 }, { product_id: free }, { product_id: other }]';
    expect(await neverFired(test(products, request) + more)).to.deep.equal([]);
  });

  it('lists a filter that keeps nothing, and a condition that holds for every candidate', async () => {
    const products = '{ product_id: p9, price: 0 }';
    expect(await neverFired(test(products, 'candidates: [{ product_id: p9 }]'))).to.include(
      'search priced: keeps a candidate',
    );
    const liked = '{ product_id: p9, price: 1, rating: 5, number_in_stock: 0 }';
    expect(await neverFired(test(liked, 'candidates: [{ product_id: p9 }]'))).to.include.members([
      'search liked: `where` leaves a candidate out',
      'search bury: `where` leaves a candidate out',
    ]);
  });

  it('has the place of each part, and pipelines without a test if asked for', async () => {
    const text = test('', 'candidates: [{ product_id: p1 }]');
    expect(await neverFired(text, SHOP, true)).to.include('worth score: applies to a candidate');
    const { coverage } = await runIn({ ...SHOP, 'tests/t.yaml': text });
    const pin = coverage.parts.find(({ what }) => what === 'pins position 1');
    expect(pin?.at.file.text.slice(pin.at.start, pin.at.end)).to.equal('1');
    expect(pin?.at.file.path).to.equal('pipelines/search.yaml');
  });
});
