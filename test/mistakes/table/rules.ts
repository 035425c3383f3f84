import type { Mistake, Surface } from '../mistake.js';

const FILE = 'pipelines/search.yaml';
const LAST = '    with: { where: product.number_in_stock <= 0 }\n';

/** A rule that is used wrongly, as the last step. */
function rule(what: string, use: string, options: string, more: Omit<Mistake, 'what'> = {}): Mistake {
  return { what, edit: [FILE, LAST, `${LAST}  - use: ${use}\n    with: ${options}\n`], ...more };
}

export const RULES: Surface = {
  title: 'Rules',
  mistakes: [
    rule('A limit by a list', 'limit', '{ by: product.categories, most: 2 }'),
    rule('A limit by a value of the request', 'limit', '{ by: query.query, most: 2 }'),
    rule('Duplicates by a value of the request', 'dedupe', '{ by: query.query }'),
    rule('Groups by a value of the request', 'group', '{ by: query.query }'),
    rule('A share of places', 'limit', '{ by: product.brand, most: 2, within: 20% }'),
    rule('A limit that never acts', 'limit', '{ by: product.brand, most: 3, within: 3 }'),
    rule('A limit on the wrong page', 'limit', '{ by: product.brand, most: 3, within: pages }'),
    rule('A limit by another word', 'limit', '{ by: product.brand, max: 3 }'),
    rule('A filter by another word', 'filter', '{ where: product.price > 5 }'),
    rule('A boost by a factor', 'boost', '{ where: product.price > 5, factor: 2 }'),
    rule('Positions by another word', 'slot', '{ places: [3], where: product.rating > 4 }'),
    rule('A limit by a misspelt attribute', 'limit', '{ by: product.brnd, most: 2 }'),
    rule('Diversity by a number', 'diversify', '{ by: product.price }'),
    rule('A weight of relevance above 1', 'diversify', '{ by: product.brand, relevance: 70 }'),
    rule('Duplicates by a list', 'dedupe', '{ by: product.categories }'),
    rule('A limit of no candidate', 'limit', '{ by: product.brand, most: 0 }'),
    rule('A misspelt rule', 'dedup', '{ by: product.brand }'),
    rule('A boost without an amount', 'boost', '{ where: product.price > 1 }'),
    rule('A slot by a misspelt feature', 'slot', '{ positions: [3], where: product_stats:ctr > 0.1 }'),
    rule('A pin of an id twice', 'pin', '{ positions: { 1: p1, 2: p1 } }'),
    rule('A group that shows a text', 'group', '{ by: product.brand, show: product.title }'),
    rule('Two steps that pin to one position', 'pin', '{ positions: { 1: p1 } }', {
      edit: [
        FILE,
        LAST,
        `${LAST}  - { use: pin, as: stars, with: { positions: { 1: p1, 2: p2 } } }\n  - { use: pin, as: partners, with: { positions: { 1: p7, 3: p2 } } }\n`,
      ],
    }),
    rule('A slot at the position of a pin', 'slot', '', {
      edit: [
        FILE,
        LAST,
        `${LAST}  - { use: pin, as: stars, with: { positions: { 3: p1 } } }\n  - { use: slot, with: { positions: [2, 3], where: product.rating > 4 } }\n`,
      ],
    }),
    rule('A slot at position 0', 'slot', '{ positions: [0], where: product.rating > 4 }'),
    rule('A slot that is on no first page', 'slot', '{ positions: [120], where: product.rating > 4 }'),
    rule('A slot whose condition is a number', 'slot', '{ positions: [3], where: product.rating }'),
    rule('Pins without pins', 'pin', '{}'),
    rule(
      'Two ways of pinning',
      'pin',
      '{ positions: { 1: p1 }, table: { by: query.query, file: pins.csv } }',
      {
        files: { 'pins.csv': 'key,position,id\n' },
      },
    ),
    rule('A table of pins with a wrong position', 'pin', '{ table: { by: query.query, file: pins.csv } }', {
      files: { 'pins.csv': 'key,position,id\ntv,first,p1\n' },
    }),
    rule(
      'A table of boosts without the column of a key',
      'boost',
      '{ table: { keys: { brand: product.brand, user: user }, file: boosts.csv } }',
      { files: { 'boosts.csv': 'brand,amount\nlumen,2\n' } },
    ),
    rule(
      'A table of boosts with the amount as a key',
      'boost',
      '{ table: { keys: { amount: product.brand }, file: boosts.csv } }',
      { files: { 'boosts.csv': 'amount\n2\n' } },
    ),
    rule('A table of boosts with semicolons', 'boost', '{ table: { by: product.brand, file: boosts.csv } }', {
      files: { 'boosts.csv': 'key;amount\nlumen;1,5\n' },
    }),
    rule('A table of pins with semicolons', 'pin', '{ table: { by: query.query, file: pins.csv } }', {
      files: { 'pins.csv': 'key;position;id\ntv;1;p1\n' },
    }),
    rule('Bounds around the boosted score', 'boost_bounds', '{ base: score, add: [-1, 2] }'),
    {
      what: 'A draw over places that a limit arranges',
      edit: [
        FILE,
        LAST,
        `${LAST}  - use: limit
    with: { by: product.brand, most: 1, within: 3 }
  - use: explore
    with: { method: swap, probability: 0.2, top: 10 }
`,
      ],
      env: { MILLRACE_EXPLORE_SALT: '0123456789abcdef' },
    },
    rule(
      'Bounds of boosts in the wrong order',
      'boost_bounds',
      '{ base: relevance:score, multiply: [2, 0.5] }',
    ),
    rule(
      'Bounds that exclude a score without boosts',
      'boost_bounds',
      '{ base: relevance:score, add: [1, 2] }',
    ),
  ],
};
