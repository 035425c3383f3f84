import { freeName } from './attribute-names.js';
import { PRICE, QUALITY, RELEASED, STATISTICS } from './column-words.js';
import type { GuessedNumber, Leaf } from './product-guess.js';

/** More params need more judgments than most shops have. */
const MOST_NUMBERS = 6;
/** Above this, numbers such as counts of orders are compared by their logarithm. */
const LARGE = 20;
/** A number that few products have says little about the others. */
const LEAST_FILLED = 0.2;
/** What every request and pipeline has, and the steps that match texts. */
const TAKEN = ['product', 'user', 'query', 'request', 'score', 'words', 'title', 'text', 'stock'];

export const STATISTICS_VIEW = 'product_stats';

/** Finds the numbers that may say how good a product is: statistics first, then quality, price and age. */
export function guessNumbers(
  attributes: readonly Leaf[],
  features: readonly Leaf[],
  rows: number,
): readonly GuessedNumber[] {
  const used = new Set([
    ...TAKEN,
    STATISTICS_VIEW,
    ...attributes.flatMap(({ type }) => (type.kind === 'ref' ? [type.entity] : [])),
  ]);
  const numbers = attributes.filter(({ type }) => type.kind === 'int' || type.kind === 'float');
  const ofQuality = numbers.filter(
    ({ word }) => QUALITY.test(word) || STATISTICS.test(word.replace(/^(stats|statistics)_/, '')),
  );
  const ofPrice = numbers.filter(({ word }) => PRICE.test(word)).slice(0, 1);
  const released = attributes.find(({ word, type }) => type.kind === 'timestamp' && RELEASED.test(word));
  const scaled = (one: Leaf, path: string, weight: number): readonly GuessedNumber[] => {
    const expression = scale(one, path, rows);
    return expression === undefined ? [] : [{ name: freeName(one.name, used), expression, weight }];
  };
  return [
    ...features.flatMap((one) =>
      scaled(one, `${STATISTICS_VIEW}:${one.name}`, 0.5).map((found) => ({ ...found, feature: one.name })),
    ),
    ...ofQuality.flatMap((one) => scaled(one, one.path, 0.5)),
    ...ofPrice.flatMap((one) => scaled(one, one.path, 0)),
    ...(released === undefined
      ? []
      : [
          {
            name: freeName('newness', used),
            expression: `1 / (1 + max(age_days(${released.path}), 0) / 365)`,
            weight: 0,
            comment: 'one year old: a half',
          },
        ]),
  ].slice(0, MOST_NUMBERS);
}

/** Scales a number to at most 1; undefined if all products have the same, or few have one. */
function scale({ column: { least, most, filled } }: Leaf, path: string, rows: number): string | undefined {
  if (filled < LEAST_FILLED * rows) return undefined;
  if (!(most > least) || most <= 0) return undefined;
  const top = (value: number): string => String(Number(value.toPrecision(3)));
  if (least >= 0 && most > LARGE) return `log1p(${path}) / ${top(Math.log1p(most))}`;
  return most === 1 ? path : `${path} / ${top(most)}`;
}
