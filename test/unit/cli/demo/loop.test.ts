import { expect } from 'chai';
import { RandomPages } from '../../../../runtime/cli/demo/loop/propensities.js';
import { PAGE, Shoppers } from '../../../../runtime/cli/demo/loop/shoppers.js';

describe('the shoppers of the demo', () => {
  const shop = new Shoppers(7);

  it('are the same for the same seed', () => {
    const again = new Shoppers(7);
    expect(again.products).to.deep.equal(shop.products);
    expect(again.search(5)).to.deep.equal(shop.search(5));
    const { candidates } = shop.search(5);
    expect(again.visit(again.search(5), candidates, 5)).to.deep.equal(
      shop.visit(shop.search(5), candidates, 5),
    );
    expect(new Shoppers(8).products).not.to.deep.equal(shop.products);
  });

  it('click what appeals to them, and less at places further down', () => {
    const clicks = new Array<number>(PAGE).fill(0);
    let [appeal, shown] = [0, 0];
    const ofClicked: number[] = [];
    for (let number = 0; number < 4000; number++) {
      const search = shop.search(number);
      const page = search.candidates.slice(0, PAGE);
      for (const product of page) appeal += shop.appeal(search, product);
      shown += page.length;
      for (const { product, place } of shop.visit(search, page, number).clicked) {
        clicks[place - 1] = (clicks[place - 1] ?? 0) + 1;
        ofClicked.push(shop.appeal(search, product));
      }
    }
    expect(clicks[0]).to.be.above(3 * (clicks[9] ?? Infinity));
    expect(ofClicked.reduce((sum, one) => sum + one, 0) / ofClicked.length).to.be.above((2 * appeal) / shown);
  });

  it('look at places as pages in a random order show', () => {
    const random = new RandomPages();
    for (let number = 0; number < 20_000; number++) {
      const search = shop.search(number);
      random.add(shop.visit(search, search.candidates.slice(0, PAGE), number));
    }
    const propensities = random.propensities();
    expect(propensities[0]).to.equal(1);
    propensities.forEach((propensity, at) => {
      expect(propensity, `place ${at + 1}`).to.be.closeTo(1 / (at + 1) ** 0.8, 0.1);
    });
  });

  it('give propensities that fall, also without a click at some place', () => {
    const product = shop.products[0];
    if (product === undefined) throw new Error('the shop is empty');
    const random = new RandomPages();
    expect(random.propensities()).to.deep.equal(new Array(PAGE).fill(1));
    for (const place of [1, 1, 1, 3]) random.add({ clicked: [{ product, place }], ordered: [] });
    expect(random.propensities()).to.deep.equal([1, 0.167, 0.167, ...new Array<number>(7).fill(0.01)]);
  });
});
