import { expect } from 'chai';
import { nearest } from '../../../../runtime/ground/core/nearest.js';

describe('nearest', () => {
  const names = [
    'price',
    'title',
    'number_in_stock',
    'brand',
    'rating',
    'user_stats',
    'id',
    'sku',
    'ProductEntity',
  ];
  const cases: [string, string | undefined][] = [
    ['prise', 'price'],
    ['pirce', 'price'],
    ['Title', 'title'],
    ['titel', 'title'],
    ['raitings', 'rating'],
    ['user_stat', 'user_stats'],
    ['userstats', 'user_stats'],
    ['stock', 'number_in_stock'],
    ['in_stock', 'number_in_stock'],
    ['ID', 'id'],
    ['Product', 'ProductEntity'],
    ['ix', undefined],
    ['colour', undefined],
    ['', undefined],
    ['__proto__', undefined],
  ];
  for (const [wrong, right] of cases) {
    it(`finds ${right ?? 'nothing'} for ${JSON.stringify(wrong)}`, () => {
      expect(nearest(wrong, names)).to.equal(right);
    });
  }

  it('does not offer the wrong name itself', () => {
    expect(nearest('price', ['price'])).to.equal(undefined);
    expect(nearest('price', ['price', 'prices'])).to.equal('prices');
  });

  it('prefers the fewest typing errors, then the first name', () => {
    expect(nearest('clicks_7d', ['clicks_70d', 'clicks_90d', 'clicks_7'])).to.equal('clicks_70d');
    expect(nearest('click', ['clack', 'clicks'])).to.equal('clack');
  });

  it('offers no name if several have the part', () => {
    expect(nearest('stock', ['stock_level', 'in_stock'])).to.equal(undefined);
  });

  it('treats `.`, `:`, `_` and `__` as one separator, and compares the part after it', () => {
    const features = ['movie_stats:votes', 'title:bm25', 'title:overlap', 'movie.year'];
    expect(nearest('votes', features)).to.equal('movie_stats:votes');
    expect(nearest('title_bm25', features)).to.equal('title:bm25');
    expect(nearest('title__bm25', features)).to.equal('title:bm25');
    expect(nearest('title.bm52', features)).to.equal('title:bm25');
    expect(nearest('year', features)).to.equal('movie.year');
    expect(nearest('title', features)).to.equal(undefined);
  });

  it('gives up on very long names instead of comparing them', () => {
    expect(nearest('x'.repeat(100_000), ['x'.repeat(100_001)])).to.equal(undefined);
  });
});
