/** The exact messages for wrong expressions. UPDATE_GOLDEN=1 writes the expected file again. */
import { expect } from 'chai';
import { readFileSync, writeFileSync } from 'node:fs';
import { compileExpression, type Expected } from '../../../../runtime/language/expression/compile.js';
import type { ElementType, ExpressionType } from '../../../../runtime/language/expression/environment.js';
import { repositoryPath } from '../../../support/repository.js';
import { Table } from './table.js';

const NUMBER: ElementType = { kind: 'number' };
const TEXT: ElementType = { kind: 'text' };
const list = (of: ElementType): ExpressionType => ({ kind: 'list', of });

const names = new Table({
  'product.price': { type: NUMBER, scope: 'candidate' },
  'product.title': { type: TEXT, scope: 'candidate' },
  'product.on_sale': { type: { kind: 'bool' }, scope: 'candidate' },
  'product.added': { type: { kind: 'time' }, scope: 'candidate' },
  'product.brand': { type: { kind: 'ref', entity: 'brand' }, scope: 'candidate' },
  'product.category': { type: { kind: 'ref', entity: 'category' }, scope: 'candidate' },
  'product.prices': { type: list(NUMBER), scope: 'candidate' },
  'product.tags': { type: list(TEXT), scope: 'candidate' },
  'product.brands': { type: list({ kind: 'ref', entity: 'brand' }), scope: 'candidate' },
  'product.embedding': { type: { kind: 'vector', size: 64 }, scope: 'candidate' },
  'user.age': { type: NUMBER, scope: 'request' },
  margin: { type: NUMBER, scope: 'candidate' },
  'stats:ctr_7d': { type: NUMBER, scope: 'candidate' },
});

/** By the type that the place wants: one expression per line. */
const WRONG: Readonly<Record<string, readonly string[]>> = {
  syntax: [
    '',
    '   ',
    '1 +',
    '1 2',
    '(1 + 2',
    '1 + 2)',
    'min(1, )',
    'min(, 1)',
    'if(1 > 2 3, 4)',
    'user.age in ()',
    'user.age = 1',
    'user.age === 1',
    'user.age <> 1',
    'user.age > 1 && user.age < 2',
    'user.age > 1 || user.age < 2',
    '!product.on_sale',
    'user.age > 1 ? 2 : 3',
    'user.age ?? 3',
    'user.age ** 2',
    'user.age ^ 2',
    'user.age in [1, 2]',
    'user.age ≤ 2',
    'product.title == “a”',
    '1 < user.age < 3',
    'user.age in (1, 2) == true',
    'user.age > 1 AND user.age < 2',
    'product.brand is null',
    'user.age between 1 and 2',
    'user.age not 1',
    '1 + not product.on_sale',
    '+1',
    "'abc",
    '"a\\d"',
    '1x',
    '1.',
    '1_000',
    '1e999',
    'product.',
    'product.1',
    'product . price',
    'stats : ctr_7d',
    'product.brand:ctr_7d',
    'stats:ctr_7d:x',
    'stats:ctr_7d.x',
    'product.title.lower()',
    'user.age # 2',
    'user.age; 1',
    'product.prices[',
    'product.prices[]',
    'product.prices[0',
  ],
  any: [
    'marginn',
    'product.prise',
    'product.prise + stats:ctr_7 > user.agee',
    'null',
    'None',
    'now',
    'lenght(product.title)',
    'avg(product.prices)',
    'days_since(product.added)',
    'median(product.price)',
    'word_count(product.title)',
    'frobnicate(1)',
    'constructor(1)',
    'log()',
    'product.price[0]',
    'product.prices[-1]',
    'product.prices[1.5]',
    'product.prices["a"]',
    'product.embedding[64]',
    'norm(product.title)',
    'first(product.price)',
    'vector(product.prices, 0)',
    'vector(product.embedding, 64)',
    'hour(product.added, "Europe/Berln")',
    'hour(product.added, "Mars/Olympus Mons")',
    'hour(product.added, 2)',
    'day(product.added)',
    'hash(product.title)',
    'hash(product.title, 0)',
    'hash(product.price, 10)',
    'cross(product.title, product.price)',
    'bucket(product.price, 50, 10)',
    'piecewise(product.price, 0, 1, 10)',
    'piecewise(product.price, 0, 1, 10, 2, 20)',
    'piecewise(product.price, 10, 1, 0, 2)',
    'platform(1)',
    'referrer_medium(product.title, 1)',
    'geo_distance(product.price, 1)',
    'position(0)',
    'position(1)',
    'log(1, 2)',
    'clamp(1, 2)',
    'now(1)',
    'coalesce(1)',
    'product.price + product.title',
    'log1p(product.on_sale)',
    'product.on_sale + now()',
    'product.on_sale + product.title',
    '-product.title',
    'not product.price',
    'product.price and product.title',
    'product.added * 2',
    'product.added + product.added',
    'product.embedding + 1',
    'product.embedding == product.embedding',
    'product.price == "10"',
    'product.brand == 7',
    'product.title < "m"',
    'product.on_sale == 1',
    'product.price == product.on_sale',
    'product.on_sale > false',
    'product.brand == product.category',
    'product.added > 1700000000',
    'product.added > "2026-01-01"',
    'product.prices > product.prices',
    'product.prices + product.title',
    'product.title in product.title',
    '"a" in product.title',
    'product.price in 3',
    'product.price in (1, "2")',
    'product.brand in (1, 2)',
    'product.price in (product.prices, 2)',
    'product.tags in product.tags',
    'product.tags in (product.title, "a")',
    'product.brands == product.category',
    'if(product.price, 1, 2)',
    'if(product.on_sale, 1, "a")',
    'if(product.prices > 1, 1, 2)',
    'coalesce(product.brand, product.category)',
    'coalesce(product.price, "none")',
    'sum(product.price)',
    'sum(product.tags)',
    'min(product.prices > 1)',
    'count(product.title)',
    'any(product.on_sale)',
    'all(product.prices)',
    'min(product.tags)',
    'min(product.title)',
    'min(product.prices, 1)',
    'max(product.added, 1)',
    'pow(product.prices, 2)',
    'lower(product.price)',
    'contains(product.tags, "a")',
    'length(7)',
    'hour(product.price)',
    'age_days("2026-01-01")',
    'time(product.title)',
    'time("31.1.2026")',
    'time("2026-02-30")',
    'days(product.added)',
    'product.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
  ],
  number: [
    'product.title',
    'product.on_sale',
    'product.price > 1',
    'product.prices',
    'product.added',
    '"7"',
    'product.embedding',
  ],
  bool: ['product.price', 'product.title', 'product.added', 'product.prices > 1'],
  text: ['product.price', '7', 'product.tags'],
  texts: ['product.title', 'product.prices'],
  request: ['product.price > 1', 'user.age > margin', 'stats:ctr_7d > 1 and product.tittle == "a"'],
};

function expectedAt(place: string): Expected {
  if (place === 'request') return { type: 'bool', scope: 'request' };
  if (place === 'number' || place === 'bool' || place === 'text' || place === 'texts') {
    return { type: place, scope: 'candidate' };
  }
  return { type: 'any', scope: 'any' };
}

function told(place: string, text: string): string {
  const result = compileExpression(text, names, expectedAt(place));
  if (result.ok) return `${text}\n  (nothing wrong)\n`;
  const lines = result.problems.flatMap(({ code, start, end, message, help }) => [
    `${' '.repeat(start)}${'^'.repeat(Math.max(1, end - start))}`,
    `  ${code}: ${message}`,
    ...(help === undefined ? [] : [`  help: ${help}`]),
  ]);
  return [text, ...lines, ''].join('\n');
}

describe('messages about expressions', () => {
  const all = Object.entries(WRONG)
    .map(([place, texts]) => [`# ${place}`, '', ...texts.map((text) => told(place, text))].join('\n'))
    .join('\n');
  const golden = repositoryPath('test/unit/language/expression/messages.golden.txt');
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, all);

  it('are those of the golden file', () => {
    expect(all).to.equal(readFileSync(golden, 'utf8'));
  });

  it('contain a fault for every expression', () => {
    expect(all).not.to.contain('(nothing wrong)');
  });
});
