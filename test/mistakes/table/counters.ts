import type { Mistake, Surface } from '../mistake.js';

const FILE = 'schemas/counters/brand_live.yaml';

/** A counter that no pipeline uses yet, with one feature. */
const feature = (what: string, text: string): Mistake => ({
  what,
  files: { [FILE]: `counter: brand_live\nof: [brand]\nby: [product.brand]\nfeatures:\n  it: ${text}\n` },
});
const counter = (what: string, text: string, more: Readonly<Record<string, string>> = {}): Mistake => ({
  what,
  files: { [FILE]: `counter: brand_live\n${text}`, ...more },
});
const CLICKS = 'features: { clicks_7d: { event: click, window: 7d } }\n';

export const COUNTERS: Surface = {
  title: 'Counters',
  mistakes: [
    feature('A window without a unit', '{ event: click, window: 7 }'),
    feature('A window of less than a minute', '{ event: click, window: 10s }'),
    feature('A window that is longer than a year', '{ event: click, window: 500d }'),
    feature('A negative window', '{ event: click, window: -7d }'),
    feature('A half-life beside a window', '{ event: click, window: 7d, half_life: 12h }'),
    feature('Neither a window nor a half-life', '{ event: click }'),
    feature('A half-life of the last time', '{ event: click, half_life: 1d, value: last(time) }'),
    feature('Different users with a half-life', '{ event: click, half_life: 1d, value: distinct(user) }'),
    feature('A misspelt kind of feedback', '{ event: clik, window: 7d }'),
    feature('A last time without its parentheses', '{ event: click, value: last }'),
    feature('A misspelt value', '{ event: click, window: 7d, value: distnct(user) }'),
    feature('The sum of an undeclared value', '{ event: order, window: 7d, value: sum(revenue) }'),
    feature('A prior without a rate', '{ event: click, window: 7d, prior: { weight: 100 } }'),
    feature(
      'A rate of different users',
      '{ event: click, over: impression, window: 7d, value: distinct(user) }',
    ),
    feature(
      'A prior that is a percentage',
      '{ event: click, over: impression, window: 7d, prior: { weight: 100, mean: 5% } }',
    ),
    feature(
      'A prior without a weight',
      '{ event: click, over: impression, window: 7d, prior: { mean: 0.05 } }',
    ),
    feature('A misspelt key', '{ event: click, windw: 7d }'),
    counter('A key that no event carries', `of: [brand]\nby: [product.brnd]\n${CLICKS}`),
    counter('A key that is no reference', `of: [brand]\nby: [product.title]\n${CLICKS}`),
    counter('A key that is an attribute of the user', `of: [brand]\nby: [user.favourite]\n${CLICKS}`, {
      'schemas/entities/user.yaml': 'entity: user\nattributes: { favourite: ref(brand) }\n',
    }),
    counter('Fewer paths than entity types', `of: [user, brand]\nby: [product.brand]\n${CLICKS}`),
    counter(
      'A time to live that is shorter than a window',
      `of: [brand]\nby: [product.brand]\nttl: 1d\n${CLICKS}`,
    ),
    counter(
      'A kind that no source posts',
      `of: [product]\nfeatures: { shown: { event: impression, window: 7d } }\n`,
      {
        'sources/web.yaml':
          'source: web\nuse: redis_stream\ninto: feedback\nmap: { user: uid, product: id }\nevent: click\nwith: { url: "redis://streams:6379", stream: web }\n',
      },
    ),
    {
      ...counter('The counts of an unknown counter', `of: [brand]\nby: [product.brand]\n${CLICKS}`),
      run: 'counters rebuild brand_liv',
    },
  ],
};
