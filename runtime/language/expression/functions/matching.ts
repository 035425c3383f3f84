import { nearest } from '../../../ground/core/nearest.js';
import {
  Analyzer,
  distinctTokens,
  editDistance,
  firstQuantity,
  jaccard,
  LANGUAGES,
  languageOf,
  overlapWith,
  remembering,
  TokenLists,
  UNIT_NAMES,
  wordCount,
  wordsOf,
  type Language,
  type Reading,
} from '../../../ground/text/index.js';
import { changing, comparing, joining, measuring } from '../kernels/texts.js';
import type { Argument } from '../domain.js';
import type { Operand } from '../operand.js';
import { operation } from '../operation.js';
import { NUMBER, TEXT } from '../types.js';
import { areAll, isKind, type Call, type FunctionEntry } from './function-entry.js';

/** Edits beyond this number cost time and say nothing about a word. */
const MOST_EDITS = 100;
const USUAL_EDITS = 8;
const NGRAM_LENGTHS = [2, 8] as const;
const AS_IT_IS: Reading<string> = { of: (text) => text };

function problemAt(call: Call, index: number, message: string, help: string): undefined {
  const { checker, node, args } = call;
  checker.problem('expression_arguments', args[index]?.node ?? node, message, help);
  return undefined;
}

/** The language of an argument: undefined if there is none, false after a problem. */
function languageAt(call: Call, index: number): Language | undefined | false {
  const arg = call.args[index];
  if (arg === undefined) return undefined;
  const value = fixed(arg);
  const language = typeof value === 'string' ? languageOf(value) : undefined;
  if (language !== undefined) return language;
  const near = typeof value === 'string' ? nearest(value, LANGUAGES) : undefined;
  problemAt(
    call,
    index,
    `\`${call.node.name}\` takes a fixed language; ${call.checker.label(arg)} is not one`,
    near === undefined ? 'name a language or its tag, e.g. "german" or "de"' : `did you mean "${near}"?`,
  );
  return false;
}

/** The words of a language are stemmed; without one, they are only folded. */
function analyzerFor(language: Language | undefined): Analyzer {
  return new Analyzer(language === undefined ? {} : { language, stemming: 'language' });
}

function numberAt(
  call: Call,
  index: number,
  fallback: number,
  [least, most]: readonly [number, number],
): number | undefined {
  const arg = call.args[index];
  if (arg === undefined) return fallback;
  const value = fixed(arg);
  if (
    typeof value === 'number' &&
    arg.type.kind === 'number' &&
    Number.isInteger(value) &&
    value >= least &&
    value <= most
  )
    return value;
  problemAt(
    call,
    index,
    `\`${call.node.name}\` takes a fixed whole number from ${least} to ${most}; ${call.checker.label(arg)} is not one`,
    `write e.g. ${fallback}`,
  );
}

function fixed(arg: Operand): string | number | undefined {
  return arg.tag === 'constant' ? arg.value : undefined;
}

function areTexts(call: Call): boolean {
  return [0, 1].map((index) => isKind(call, index, 'text')).every(Boolean);
}

function ofTwo<T>({ node, args }: Call, reading: Reading<T>, compare: (a: T, b: T) => number): Operand {
  return operation(node, NUMBER, args.slice(0, 2), comparing(reading, compare));
}

function overlap({ node, args }: Call, analyzer: Analyzer): Operand {
  const tokens = distinctTokens(analyzer);
  const kernel = comparing(tokens, jaccard, (text, dictionary) =>
    overlapWith(tokens.of(text), TokenLists.of(dictionary, analyzer)),
  );
  return operation(node, NUMBER, args.slice(0, 2), kernel);
}

const LANGUAGE: Argument = { written: ['"german"', '"ja"'] };

/** Functions of words, and of two texts. Each call has an analyzer of its own, which remembers texts. */
export const MATCHING_FUNCTIONS: readonly FunctionEntry[] = [
  {
    name: 'concat',
    group: 'text',
    signature: 'concat(a, b, …)',
    summary: 'The texts one after another, as one text; absent if one of them is.',
    arity: [2, Infinity],
    domain: [
      ['text', 'text'],
      ['text', 'text', 'text'],
    ],
    check: (call) =>
      areAll(call, 'text')
        ? operation(call.node, TEXT, call.args, joining('concat', '', AS_IT_IS))
        : undefined,
  },
  {
    name: 'normalize',
    group: 'text',
    signature: 'normalize(text)',
    summary:
      'The words of the text without case, accents and punctuation, with one space between. With a language, as in `normalize(text, "german")`, their stems.',
    arity: [1, 2],
    domain: [['text'], ['text', LANGUAGE]],
    check: (call) => {
      const isText = isKind(call, 0, 'text');
      const language = languageAt(call, 1);
      if (!isText || language === false) return undefined;
      return operation(call.node, TEXT, call.args.slice(0, 1), changing(wordsOf(analyzerFor(language))));
    },
  },
  {
    name: 'words',
    group: 'text',
    signature: 'words(text)',
    summary:
      'The number of words. With a language, as in `words(text, "japanese")`, also in scripts without spaces.',
    arity: [1, 2],
    domain: [['text'], ['text', LANGUAGE]],
    check: (call) => {
      const isText = isKind(call, 0, 'text');
      const language = languageAt(call, 1);
      if (!isText || language === false) return undefined;
      return operation(call.node, NUMBER, call.args.slice(0, 1), measuring(wordCount(analyzerFor(language))));
    },
  },
  {
    name: 'term_overlap',
    group: 'text',
    signature: 'term_overlap(a, b)',
    summary:
      'The share of the distinct words of both texts that both have, 0 to 1; absent if neither has words. With a language, as in `term_overlap(a, b, "german")`, of their stems.',
    arity: [2, 3],
    domain: [
      ['text', 'text'],
      ['text', 'text', LANGUAGE],
    ],
    check: (call) => {
      const isText = areTexts(call);
      const language = languageAt(call, 2);
      if (!isText || language === false) return undefined;
      return overlap(call, analyzerFor(language));
    },
  },
  {
    name: 'ngram_overlap',
    group: 'text',
    signature: 'ngram_overlap(a, b, n)',
    summary:
      'Like `term_overlap`, of runs of n letters within words; n is 3 if it is not given. A shorter word counts as one run.',
    arity: [2, 3],
    domain: [
      ['text', 'text'],
      ['text', 'text', { written: ['2', '8'] }],
    ],
    check: (call) => {
      const isText = areTexts(call);
      const ngrams = numberAt(call, 2, 3, NGRAM_LENGTHS);
      if (!isText || ngrams === undefined) return undefined;
      return overlap(call, new Analyzer({ ngrams }));
    },
  },
  {
    name: 'edit_distance',
    group: 'text',
    signature: 'edit_distance(a, b, most)',
    summary:
      'How many characters must be inserted, deleted or replaced to make b of a, at most `most`, which is 8 if it is not given. Case matters.',
    arity: [2, 3],
    domain: [
      ['text', 'text'],
      ['text', 'text', { written: ['100', '1'] }],
    ],
    check: (call) => {
      const isText = areTexts(call);
      const most = numberAt(call, 2, USUAL_EDITS, [1, MOST_EDITS]);
      if (!isText || most === undefined) return undefined;
      return ofTwo(call, AS_IT_IS, (a, b) => editDistance(a, b, most));
    },
  },
  {
    name: 'quantity',
    group: 'text',
    signature: 'quantity(text, "ml")',
    summary:
      'The first amount in the text that the unit measures, in that unit: `quantity("Cola 1,5 l", "ml")` is 1500; absent if there is none.',
    arity: [2, 2],
    domain: [[{ like: ['12.000,5 ml ', '1,5 l '] }, { written: ['"ml"', '"kg"'] }]],
    check: (call) => {
      const isText = isKind(call, 0, 'text');
      const arg = call.args[1];
      const unit = arg && fixed(arg);
      if (typeof unit !== 'string' || !UNIT_NAMES.includes(unit.toLowerCase())) {
        if (arg === undefined) return undefined;
        const near = typeof unit === 'string' ? nearest(unit, UNIT_NAMES) : undefined;
        problemAt(
          call,
          1,
          `\`quantity\` takes a unit of measure; ${call.checker.label(arg)} is not one`,
          near === undefined ? `the units are ${UNIT_NAMES.join(', ')}` : `did you mean "${near}"?`,
        );
        return;
      }
      if (!isText) return undefined;
      const amount = remembering({ of: (text) => firstQuantity(text, unit) });
      return operation(call.node, NUMBER, call.args.slice(0, 1), measuring(amount));
    },
  },
];
