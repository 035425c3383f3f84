/** Elements, vectors, categories, zones and places: what the property tests of meaning.test.ts do not reach. */
import { expect } from 'chai';
import { Status } from '../../../../runtime/ground/api/status.js';
import { Missing, type Outcome } from '../../../support/interpreter.js';
import { compiled, run, shop } from './shop.js';

const absent = new Missing(Status.absent);
const gone = new Missing(Status.missing_entity);

describe('elements and vectors', () => {
  const data = {
    'product.prices': [[3, 12], [], [20, undefined], gone],
    'product.tags': [['red', 'new'], [], ['', 'x'], gone],
    'product.vector': [[3, 4], [0, -0.5], [1e38, 1e38], gone],
  };
  const cases: [string, Outcome[]][] = [
    ['product.prices[0]', [3, absent, 20, gone]],
    ['product.prices[1]', [12, absent, absent, gone]],
    ['product.prices[0] * 2', [6, absent, 40, gone]],
    ['(product.prices * 2)[0]', [6, absent, 40, gone]],
    ['product.tags[1]', ['new', absent, 'x', gone]],
    ['first(product.tags)', ['red', absent, absent, gone]],
    ['last(product.tags)', ['new', absent, 'x', gone]],
    ['last(product.prices)', [12, absent, absent, gone]],
    ['norm(product.prices)', [Math.sqrt(153), 0, 20, gone]],
    ['product.vector[1]', [4, -0.5, 1e38, gone]],
    ['-product.vector[1]', [-4, 0.5, -1e38, gone]],
    ['first(product.vector)', [3, 0, 1e38, gone]],
    ['sum(product.vector)', [7, -0.5, 2e38, gone]],
    ['mean(product.vector)', [3.5, -0.25, 1e38, gone]],
    ['min(product.vector)', [3, -0.5, 1e38, gone]],
    ['max(product.vector)', [4, 0, 1e38, gone]],
    ['norm(product.vector) == 5', [true, false, false, gone]],
    ['vector(product.prices, 2)', [[3, 12], absent, absent, gone]],
    ['sum(vector(product.prices, 2))', [15, absent, absent, gone]],
    ['vector(product.prices, 3)', [absent, absent, absent, gone]],
    ['coalesce(vector(product.prices, 2), product.vector)[0]', [3, 0, 1e38, gone]],
  ];
  for (const [text, expected] of cases)
    it(text, () => {
      expect(run(text, data, 4)).to.deep.equal(expected);
    });
});

it('a vector that is made of a list is not rounded', () => {
  expect(
    run(
      'vector(product.prices, 2)',
      {
        'product.prices': [
          [0.1, 1e-300],
          [0.5, 1],
          [1e39, 0],
        ],
      },
      3,
    ),
  ).to.deep.equal([[0.1, 1e-300], [0.5, 1], absent]);
});

describe('categories and tables', () => {
  /** By mmh3.hash(text, signed=False) of Python's mmh3. */
  const hashes: [string, number][] = [
    ['', 0],
    ['hello', 613_153_351],
    ['The quick brown fox jumps over the lazy dog', 776_992_547],
  ];
  for (const [text, hash] of hashes)
    it(`hash of ${text || 'the empty text'}`, () => {
      const data = { 'product.title': [text, text, 'x'] };
      expect(run('hash(product.title, 2147483648)', data, 2)[0]).to.equal(hash % 2 ** 31);
      expect(run('hash(product.title, 1000)', data, 2)).to.deep.equal([hash % 1000, hash % 1000]);
    });

  it('hash of long texts and of other scripts does not depend on what was hashed before', () => {
    const titles = ['é😀'.repeat(1000), 'a', 'é😀'.repeat(1000)];
    const [first, , third] = run('hash(product.title, 100000)', { 'product.title': titles }, 3);
    expect(first).to.equal(third);
  });

  it('hash of an unknown text is unknown', () => {
    expect(run('hash(product.title, 10)', { 'product.title': [gone] }, 1)).to.deep.equal([gone]);
  });

  it('cross keeps categories apart', () => {
    const data = { 'product.title': ['a|b', 'a', '\\', gone], 'user.brand': ['c'] };
    expect(run('cross(product.title, "b", user.brand)', data, 4)).to.deep.equal([
      'a\\|b|b|c',
      'a|b|c',
      '\\\\|b|c',
      gone,
    ]);
  });

  it('bucket counts the limits that are reached', () => {
    const data = { 'product.price': [-1, 10, 10.5, 50, 1e9, gone] };
    expect(run('bucket(product.price, 10, 50)', data, 6)).to.deep.equal([0, 1, 1, 2, 2, gone]);
  });

  it('piecewise joins points by lines', () => {
    const data = { 'product.price': [-5, 0, 5, 10, 15, 20, 99, gone] };
    const values = [1, 1, 1.5, 2, 1, 0, 0, gone];
    expect(run('piecewise(product.price, 0, 1, 10, 2, 20, 0)', data, 8)).to.deep.equal(values);
    const user = { ...data, 'user.budget': [-1] };
    expect(run('piecewise(product.price, 0, 1, user.budget, 2)', user, 1)).to.deep.equal([absent]);
  });
});

describe('time zones', () => {
  const zones: [string, Outcome][] = [
    ['hour(time("2026-03-29T00:59:59Z"), "Europe/Berlin")', 1],
    ['hour(time("2026-03-29T01:00:00Z"), "Europe/Berlin")', 3],
    ['minute(time("2026-06-01T00:00:00Z"), "Asia/Kathmandu")', 45],
    ['day_of_month(time("2026-01-31T23:30:00Z"), "Europe/Berlin")', 1],
    ['month(time("2026-01-31T23:30:00Z"), "Europe/Berlin")', 2],
    ['year(time("2026-12-31T23:30:00Z"), "Europe/Berlin")', 2027],
    ['weekday(time("2026-01-31T23:30:00Z"), "Europe/Berlin")', 7],
    ['is_weekend(time("2026-02-01T23:30:00Z"), "Europe/Berlin")', false],
    ['is_weekend(time("2026-02-01T23:30:00Z"))', true],
    ['second(time("1969-12-31T23:59:59Z"))', 59],
  ];
  for (const [text, value] of zones)
    it(text, () => {
      expect(run(text, {}, 0)[0]).to.deep.equal(value);
    });

  it('may come from a request, or differ between candidates', () => {
    const data = { 'product.title': ['Europe/Berlin', 'no zone', 'UTC', 'UTC', gone], 'user.brand': ['UTC'] };
    const at = 'time("2026-07-01T12:00:00Z")';
    expect(run(`hour(${at}, product.title)`, data, 5)).to.deep.equal([14, absent, 12, 12, gone]);
  });

  it('that are constant are computed at load', () => {
    expect(compiled('hour(time("2026-07-01"), "Europe/Berlin")', shop()).kernels).to.have.length(0);
  });
});

describe('geo_distance', () => {
  const cases: [string, Outcome][] = [
    ['geo_distance(52.5200, 13.4050, 48.1351, 11.5820)', 504.4],
    ['geo_distance(0, 0, 0, 180)', 20_015.1],
    ['geo_distance(89.999, 0, 89.999, 180)', 0.2],
    ['geo_distance(1, 2, 1, 2)', 0],
    ['geo_distance(91, 0, 0, 0)', absent],
    ['geo_distance(0, 181, 0, 0)', absent],
  ];
  for (const [text, kilometres] of cases)
    it(`${text} is ${kilometres instanceof Missing ? 'absent' : String(kilometres)}`, () => {
      const [found] = run(text, {}, 0);
      if (typeof kilometres === 'number') expect(found).to.be.closeTo(kilometres, 0.06);
      else expect(found).to.deep.equal(kilometres);
    });
});
