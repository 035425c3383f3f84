import { freeName } from './attribute-names.js';
import { PRICE, QUALITY, RELEASED, SALES_RANK, STATISTICS, UNSURE } from './column-words.js';
import type { GuessedNumber, Leaf } from './product-guess.js';

/** More params need more judgments than most shops have. */
const MOST_NUMBERS = 6;
/** Above this, numbers such as counts of orders are compared by their logarithm. */
const LARGE = 20;
/** What all numbers of popularity add at most: less than one word of the query that is found. */
const POPULARITY = 1;
const MOST_EACH = 0.5;
/** A number or a text that few products have says little about the others. */
export const LEAST_FILLED = 0.2;
/** What every request and pipeline has, and the steps that match texts. */
const TAKEN = ['product', 'user', 'query', 'request', 'score', 'words', 'title', 'text', 'stock'];

export const STATISTICS_VIEW = 'product_stats';

/** Finds the numbers that may say how good a product is: statistics first, then ratings, ranks, price and age. */
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
  const isCount = ({ word }: Leaf): boolean => STATISTICS.test(word.replace(/^(stats|statistics)_/, ''));
  const ofQuality = numbers.filter((one) => QUALITY.test(one.word) || isCount(one));
  // A rank of 0 or -1 says that there is none.
  const ofRank = numbers.filter(({ word, column }) => SALES_RANK.test(word) && column.least > 0);
  const unsure = numbers.filter(({ word }) => UNSURE.test(word));
  const ofPrice = numbers.filter(({ word }) => PRICE.test(word)).slice(0, 1);
  const released = attributes.find(({ word, type }) => type.kind === 'timestamp' && RELEASED.test(word));
  const scaled = (one: Leaf, path: string): readonly GuessedNumber[] => {
    const expression = scale(one, path, rows, isCount(one));
    return expression === undefined ? [] : [{ name: freeName(one.name, used), expression, weight: 0 }];
  };
  const popular = [
    ...features.flatMap((one) =>
      scaled(one, `${STATISTICS_VIEW}:${one.name}`).map((found) => ({ ...found, feature: one.name })),
    ),
    ...ofQuality.flatMap((one) => scaled(one, one.path)),
    ...ofRank.flatMap((one) =>
      scaled(one, one.path).map((found) => ({
        ...found,
        expression: `(1 - ${found.expression})`,
        comment: 'the least is best',
      })),
    ),
  ].slice(0, MOST_NUMBERS);
  const weight = Number(Math.min(MOST_EACH, POPULARITY / popular.length).toPrecision(2));
  return [
    ...popular.map((one) => ({ ...one, weight })),
    ...unsure.flatMap((one) => scaled(one, one.path)),
    ...ofPrice.flatMap((one) => scaled(one, one.path)),
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

/**
 * Scales a number to between 0 and 1; undefined if all products have the same, or few have one.
 * @param isCount it may grow, so it is compared by its logarithm
 */
function scale(
  { column: { least, most, filled } }: Leaf,
  path: string,
  rows: number,
  isCount: boolean,
): string | undefined {
  if (filled < LEAST_FILLED * rows) return undefined;
  if (!(most > least) || most <= 0) return undefined;
  const top = (value: number): string => String(Number(value.toPrecision(3)));
  // Some catalogues write -1 where they know nothing.
  const value = least < 0 ? `max(${path}, 0)` : path;
  if (most > LARGE || (isCount && most > 1)) return `log1p(${value}) / ${top(Math.log1p(most))}`;
  return most === 1 ? value : `${value} / ${top(most)}`;
}
