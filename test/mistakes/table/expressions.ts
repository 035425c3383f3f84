import type { Mistake, Surface } from '../mistake.js';

const wrong = (what: string, expression: string): Mistake => ({
  what,
  edit: ['pipelines/search.yaml', 'where: product.number_in_stock <= 0', `where: ${expression}`],
});

export const EXPRESSIONS: Surface = {
  title: 'Expressions',
  mistakes: [
    wrong('A misspelt attribute', 'product.number_in_stok <= 0'),
    wrong('A field that the request does not declare', 'request.device == "phone"'),
    wrong('A misspelt entity', 'prodct.number_in_stock <= 0'),
    wrong('A feature with a dot', 'product_stats.orders_30d == 0'),
    wrong('An attribute with a colon', 'product:number_in_stock <= 0'),
    wrong('A misspelt feature', 'product_stats:order_30d == 0'),
    {
      what: 'The score of a step that sets it, as an output',
      edit: [
        'pipelines/search.yaml',
        '  - use: score\n    with: { value: relevance:score }\n',
        '  - use: score\n    as: before\n    with: { value: relevance:score }\n  - use: score\n    with: { value: before:score + product.rating }\n',
      ],
    },
    {
      what: 'An output of a filter',
      edit: [
        'pipelines/search.yaml',
        '  - use: filter\n    with: { keep: product.price > 0 }\n',
        '  - use: filter\n    as: sold\n    with: { keep: sold:kept > 0 }\n',
      ],
    },
    wrong('A misspelt output', 'text:bm52 > 1'),
    wrong('A misspelt function', 'leng(product.title) > 80'),
    wrong('Too few arguments', 'contains(product.title)'),
    wrong('One equals sign', 'product.number_in_stock = 0'),
    wrong('The and of other languages', '"product.number_in_stock <= 0 && product.price > 5"'),
    wrong('A text and a number', 'product.title > 3'),
    wrong('A text without quotes', 'product.title == tv'),
    wrong('A number where a condition belongs', 'product.number_in_stock'),
    wrong('A part of a text', 'tv in product.title'),
    wrong('A parenthesis that is not closed', 'abs(product.number_in_stock <= 0'),
    wrong('A list compared with a text', '"product.categories == \'tv\' and product.price > 1"'),
    wrong('The null of other languages', 'product.number_in_stock == null'),
    {
      what: 'A value of a candidate under when',
      edit: ['pipelines/search.yaml', '  - use: bury\n', '  - use: bury\n    when: product.price > 5\n'],
    },
    {
      what: 'A definition that uses itself',
      edit: [
        'pipelines/search.yaml',
        'popularity: log1p(product_stats:orders_30d)',
        'popularity: popularity + product_stats:orders_30d',
      ],
    },
    {
      what: 'The score in a definition',
      edit: [
        'pipelines/search.yaml',
        'popularity: log1p(product_stats:orders_30d)',
        'popularity: score * 2 + product_stats:orders_30d',
      ],
    },
  ],
};
