import { count } from '../../ground/core/count.js';
import { basename } from 'node:path';
import { printable } from '../../ground/core/display-width.js';
import { wrapAfter } from '../../ground/core/wrap.js';
import { shown } from '../../project/foreign/read-values.js';
import { NOT_UTF8, TO_UTF8 } from '../../project/rows/rows.js';
import { typeText } from '../../project/starter/column-type.js';
import type { GuessedAttribute, ProductGuess } from '../../project/starter/product-guess.js';
import type { ReadProducts } from '../../project/starter/read-products.js';
import { TEST, TRAIN, type SplitJudgments } from './split-judgments.js';
import { findsByWords, PIPELINE } from '../../project/starter/pipeline-text.js';
import { firstRanking, shellWord } from '../../project/starter/readme-text.js';

const MOST_SHOWN = 12;

/** What was guessed about the products, and what did not fit, for people. */
export function productsText(path: string, guess: ProductGuess, read: ReadProducts, width: number): string {
  const { key, attributes, features, undeclared, leftOut, stock } = guess;
  const parts = [
    `key ${key.from ?? key.name}${key.why === undefined ? '' : ` (text: ${key.why})`}`,
    ...some(attributes.map(attributeText), 'attributes'),
    ...(features.length === 0
      ? []
      : [
          `statistics ${some(
            features.map(({ from }) => from),
            'columns',
          ).join(', ')} → view product_stats`,
        ]),
  ];
  const searched = guess.texts.map(({ name }) => name).join(', ');
  const added = guess.numbers.map(({ name }) => name).join(', ');
  const lines = [
    `${count(guess.rows)} rows → product: ${parts.join(', ')}`,
    ...(key.from === undefined
      ? [`no column is an id, so ${key.name} is the number of the row; --key COLUMN names one`]
      : []),
    searched === ''
      ? 'no column is a text that a query can match'
      : `ranked by the words of ${searched}${added === '' ? '' : `; and by ${added}`}${stock === undefined ? '' : `; sold out last, by ${stock.name}`}`,
    ...(read.language === undefined || searched === ''
      ? []
      : [
          `the texts are ${title(read.language.language)}: ${read.language.why}${guess.language === undefined ? '' : '; if not, change `language` of the steps, and count the words again as README.md says'}`,
        ]),
    ...(undeclared.length === 0
      ? []
      : [`stored but not declared: ${some(undeclared, 'columns').join(', ')}`]),
    ...(leftOut.length === 0
      ? []
      : [`left out, as they are nested too deep: ${some(leftOut, 'fields').join(', ')}`]),
    ...(read.repeated === 0
      ? []
      : [`${count(read.repeated)} rows repeat an id; the last row of an id counts`]),
    ...(read.refused.count === 0
      ? []
      : [
          `${count(read.refused.count)} rows are left out; the first: ${read.refused.first ?? ''}`,
          ...(read.refused.first?.endsWith(NOT_UTF8) === true ? [TO_UTF8] : []),
        ]),
    ...Array.from(
      read.unfit,
      ([from, { count: times, first }]) =>
        `${from}: ${count(times)} values do not fit and are left out; the first: ${shown(first)}`,
    ),
  ];
  return block(basename(path), lines, width);
}

/** How the judgments were divided. */
export function judgmentsText(path: string, split: SplitJudgments, width: number): string {
  const { queries, found, candidates, train, test, notFound } = split;
  const parts = test === 0 ? `${TRAIN} ${train}` : `${TRAIN} ${train}, ${TEST} ${test}`;
  const share = candidates === 0 ? 0 : (100 * found) / candidates;
  const shares = found === candidates ? '100' : Math.min(share, 99.9).toFixed(1);
  return block(
    basename(path),
    [
      `${count(queries.length)} ${queries.length === 1 ? 'query' : 'queries'}, ${shares} % of ids found → ${parts}`,
      ...(notFound === undefined ? [] : [`an id that is no product: ${shown(notFound)}`]),
      ...(test === 0 ? ['too few queries to keep some for a test'] : []),
    ],
    width,
  );
}

/** What to type next. */
export function nextText(folder: string, project: Parameters<typeof firstRanking>[0]): string {
  const { guess, query, examples } = project;
  const lines = [
    ...(folder === '.' ? [] : [`cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}`]),
    ...(query === undefined
      ? firstRanking(project)
      : [`npx --no millrace rank ${PIPELINE} --judged ${shellWord(query)} --explain`]),
    'npx --no millrace dev',
  ];
  const words = new URLSearchParams({ q: query ?? examples[0]?.title ?? '' }).toString();
  const open = findsByWords(guess) ? `then open http://127.0.0.1:5001/workbench?${words}\n` : '';
  return `next:\n${lines.map((line) => `  ${line}\n`).join('')}${open}`;
}

function attributeText({ from, name, type, values }: GuessedAttribute): string {
  const renamed = from === name ? name : `${from} → ${name}`;
  if (type.kind === 'ref') return `${renamed} → ref${values === undefined ? '' : ` (${count(values)})`}`;
  const text = type.kind === 'record' || type.kind === 'records' ? type.kind : typeText(type);
  return `${renamed} ${text}${'style' in type && type.style === 'comma' ? ' (decimal comma)' : ''}`;
}

function title(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function some(all: readonly string[], what: string): readonly string[] {
  if (all.length <= MOST_SHOWN + 1) return all;
  return [...all.slice(0, MOST_SHOWN), `${all.length - MOST_SHOWN} more ${what}`];
}

/** The first line begins with the name of the file, and the others are indented. */
function block(title: string, lines: readonly string[], width: number): string {
  return lines
    .flatMap((line, at) => wrapAfter(at === 0 ? `${printable(title)}  ` : '  ', printable(line), 2, width))
    .map((line) => `${line}\n`)
    .join('');
}
