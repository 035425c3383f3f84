import type { GuessedAttribute, GuessedNumber, ProductGuess } from './product-guess.js';
import { STATISTICS_VIEW } from './guess-numbers.js';

/** The pipeline of a new project. */
export const PIPELINE = 'search';
/** A word of the title counts as much as this many of another text. */
const TITLE_WEIGHT = 3;
const LEAST_CANDIDATES = 1000;
const MOST_CANDIDATES = 10_000;
/** The retriever `words` takes so many entities. */
const MOST_FOUND_BY_WORDS = 200_000;

/** A step that searches texts, and the file of its statistics. */
export interface TextStep {
  readonly as: string;
  readonly fields: readonly GuessedAttribute[];
  readonly statistics: string;
}

/** The steps that search texts: all texts together, and the title alone. */
export function textSteps({ title, texts }: ProductGuess): readonly TextStep[] {
  if (title === undefined) return [];
  const step = (as: string, fields: readonly GuessedAttribute[]): TextStep => ({
    as,
    fields,
    statistics: `statistics/${as}.json`,
  });
  return texts.length === 1 ? [step('title', [title])] : [step('words', texts), step('title', [title])];
}

interface Param {
  readonly name: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly comment: string;
}

/**
 * A first pipeline. Each number that the score is made of is a step of its own, so that an explanation shows what it adds.
 * @param longest the most candidates of a judged query
 */
export function pipelineText(guess: ProductGuess, longest: number): string {
  const steps = textSteps(guess);
  const terms = termsOf(steps, findsByWords(guess));
  const { numbers } = guess;
  const params = [...terms.map(({ param }) => param), ...numbers.map(paramOf)];
  return [
    `# A first ranking, written by \`millrace init\`. Change a line, and run \`millrace validate\`.`,
    `pipeline: ${PIPELINE}`,
    'rank: product',
    'request:',
    '  candidates: {}',
    '  query: optional(query)',
    '  user: optional(user)',
    `limits: { candidates: ${candidatesOf(guess, longest)}, time: 2s }`,
    ...(featureLines(guess).length === 0 ? [] : ['features:', ...featureLines(guess)]),
    ...(params.length === 0
      ? []
      : [
          '# `millrace tune` looks for the best values within these ranges.',
          'params:',
          ...params.map(
            ({ name, value, min, max, comment }) =>
              `  ${name}: { value: ${value}, min: ${min}, max: ${max} } # ${comment}`,
          ),
        ]),
    ...retrieveLines(steps, guess),
    'components:',
    ...steps.flatMap((step) => stepLines(step, guess.language)),
    ...scoreLines(terms),
    ...(terms.length + numbers.length === 0
      ? ['  - { use: score, unscored: last, with: { value: 0 } } # the order sent']
      : []),
    ...numbers.flatMap(numberLines),
    ...stockLines(guess),
    'page: { size: 24, max_size: 100 }',
    'log: { unit: user, candidates: page, features: models } # what the ledger keeps of each request',
    '',
  ].join('\n');
}

/** So many that a small catalogue can be ranked whole, without a search engine. */
function candidatesOf({ rows }: ProductGuess, longest: number): number {
  return Math.max(LEAST_CANDIDATES, longest, Math.min(rows, MOST_CANDIDATES));
}

interface Term {
  readonly param: Param;
  readonly output: string;
}

/** @param isFound whether the score of a retriever replaces that of the step: it has the same scale, and knows parts of compounds */
function termsOf(steps: readonly TextStep[], isFound: boolean): readonly Term[] {
  const hasWords = steps.some(({ as }) => as === 'words');
  if (steps.length === 0) return [];
  const term = (name: string, output: string, value: number, max: number, comment: string): Term => ({
    output,
    param: { name, value, min: 0, max, comment },
  });
  const all = hasWords ? 'words' : 'title';
  return [
    term(
      'w_words',
      `${isFound ? 'found:score, ' : ''}${all}:bm25`,
      1,
      3,
      `how well the words match${hasWords ? ', in all texts' : ''}`,
    ),
    ...(hasWords ? [term('w_title', 'title:bm25', 0, 3, 'how well the words match the title')] : []),
    term('w_found', `${all}:overlap`, 1, 20, 'the share of the words that is found'),
    term('w_phrase', 'title:phrase', 0.5, 10, 'the words stand together in the title'),
  ];
}

function paramOf({ name, weight, comment }: GuessedNumber): Param {
  return { name: `w_${name}`, value: weight, min: -5, max: 5, comment: comment ?? `what ${name} adds` };
}

/** Whether the pipeline finds candidates itself. */
export function findsByWords(guess: ProductGuess): boolean {
  return textSteps(guess).length > 0 && guess.rows <= MOST_FOUND_BY_WORDS;
}

/** Only the features that a step reads. */
function featureLines({ numbers }: ProductGuess): string[] {
  return numbers.flatMap(({ feature }) =>
    feature === undefined ? [] : [`  - ${STATISTICS_VIEW}:${feature}`],
  );
}

/** What finds the candidates of a request that sends none; the first step searches all texts. */
function retrieveLines([all]: readonly TextStep[], guess: ProductGuess): string[] {
  if (all === undefined || !findsByWords(guess)) return [];
  const { language } = guess;
  return [
    'retrieve: # the candidates of a request that sends none: GET /api/v1/search?q=...',
    '  - use: words',
    '    as: found',
    '    with:',
    '      query: query.query',
    ...fieldLines(all.fields),
    ...(language === undefined ? [] : [`      language: ${language.language}`]),
  ];
}

function fieldLines(fields: readonly GuessedAttribute[]): string[] {
  return [
    '      fields:',
    ...fields.map(({ path }, at) => `        ${path}: ${at === 0 && fields.length > 1 ? TITLE_WEIGHT : 1}`),
  ];
}

function stepLines({ as, fields, statistics }: TextStep, language: ProductGuess['language']): string[] {
  const [only, ...more] = fields;
  const search = more.length === 0 ? [`      field: ${only?.path ?? ''}`] : fieldLines(fields);
  return [
    '  - use: text_match',
    `    as: ${as} # ${as}:bm25, ${as}:overlap, ${as}:phrase`,
    '    with:',
    '      query: query.query',
    ...search,
    ...(language === undefined ? [] : [`      language: ${language.language} # ${language.why}`]),
    `      statistics: { file: ${statistics} }`,
  ];
}

function scoreLines(terms: readonly Term[]): string[] {
  if (terms.length === 0) return [];
  return [
    '  - use: score',
    '    as: text',
    '    unscored: last # below all that have a score',
    '    with:',
    '      value: >-',
    ...terms.map(
      ({ param, output }, at) => `        ${at === 0 ? '' : '+ '}${param.name} * coalesce(${output}, 0)`,
    ),
  ];
}

function numberLines({ name, expression }: GuessedNumber): string[] {
  return ['  - use: boost', `    as: ${name}`, `    with: { add: "w_${name} * ${expression}" }`];
}

function stockLines({ stock }: ProductGuess): string[] {
  if (stock === undefined) return [];
  const where = stock.type.kind === 'bool' ? `not ${stock.path}` : `${stock.path} <= 0`;
  return ['  - use: bury # out of stock: last', '    as: stock', `    with: { where: ${where} }`];
}
