import type { Mistake, Surface } from '../mistake.js';

const FILE = 'pipelines/search.yaml';
const OPTIONS = 'with: { query: query.query, fields: { product.title: 2 } }';

const step = (what: string, options: string, files?: Readonly<Record<string, string>>): Mistake => ({
  what,
  edit: [FILE, OPTIONS, `with: { query: query.query, field: product.title, ${options} }`],
  ...(files && { files }),
});
const fields = (analyzer: string): string =>
  `with: { query: query.query, fields: { product.title: { weight: 2, analyzer: { ${analyzer} } } } }`;
const expression = (what: string, value: string): Mistake => ({
  what,
  edit: [FILE, 'where: product.number_in_stock <= 0', `where: '${value}'`],
});
const statistics = (made: string): Readonly<Record<string, string>> => ({
  'statistics/text.json': `{"format":"millrace-text-statistics/1",${made},"documents":1,"mean_lengths":[1],"frequencies":{"tv":1}}\n`,
});

export const TEXT: Surface = {
  title: 'Text and languages',
  mistakes: [
    step('A misspelt language', 'language: germn'),
    step('The tag of a language', 'language: de'),
    step('Stemming by a language that is not named', 'stemming: language'),
    step('A misspelt form of stemming', 'language: german, stemming: languages'),
    step('A misspelt way of stop words', 'language: german, stop_words: remove'),
    step('A misspelt option of the analyzer', 'langauge: german'),
    step('A weight of length above 1', 'b: 1.5'),
    step('Stop words of no language', 'stop_words: drop'),
    step('Stop words of a language without a list', 'language: korean, stop_words: drop'),
    step('N-grams of one letter', 'ngrams: 1'),
    step('A language of each candidate', 'language_from: product.title'),
    {
      what: 'A misspelt language in the analyzer of a field',
      edit: [FILE, OPTIONS, fields('language: germn')],
    },
    {
      what: 'An unknown option in the analyzer of a field',
      edit: [FILE, OPTIONS, fields('stem: none')],
    },
    {
      what: 'Stop words of no language in the analyzer of a field',
      edit: [FILE, OPTIONS, fields('stop_words: drop')],
    },
    {
      what: 'Statistics of another analyzer than that of the field',
      edit: [FILE, OPTIONS, fields('stemming: none')],
      files: statistics('"stemming":"plural"'),
    },
    step(
      'Statistics that an older stemmer made',
      'language: german',
      statistics('"language":"german","stemming":"language","made_with":{"stemmer":"Snowball 2"}'),
    ),
    step('Statistics of another language', 'language: german', statistics('"stemming":"plural"')),
    step(
      'Statistics of one language for the language of the request',
      'language_from: query.query, statistics: { file: statistics/text.json }',
      statistics('"stemming":"plural"'),
    ),
    step(
      'Statistics of another field',
      'statistics: { file: statistics/text.json }',
      statistics('"stemming":"plural","fields":["product.brand.name"]'),
    ),
    {
      what: 'Advice for a text that is an expression',
      edit: [FILE, OPTIONS, 'with: { query: query.query, field: lower(product.title) }'],
    },
    {
      what: 'A step whose words are counted, and its text is an expression',
      edit: [FILE, OPTIONS, 'with: { query: query.query, field: lower(product.title) }'],
      run: 'text-stats search:text --from-index',
    },
    step('A rule of synonyms with one word', 'synonyms: synonyms.txt', {
      'synonyms.txt': '# devices\ntv, television\nlaptop\n',
    }),
    expression('A misspelt language in an expression', 'words(product.title, "germn") > 3'),
    expression(
      'N-grams of a length that varies',
      'ngram_overlap(product.title, query.query, product.price) > 0.5',
    ),
    expression('An unknown unit of measure', 'quantity(product.title, "litr") > 1'),
    expression('A number in a comparison of texts', 'edit_distance(product.title, product.price) < 3'),
    step(
      'Statistics of a sample that nobody can date',
      'k1: 1.2',
      statistics('"stemming":"plural","sample":{"rows":10}'),
    ),
    {
      what: 'Normalised ids of shelves',
      files: { 'schemas/entities/shelf.yaml': 'entity: shelf\nids: normalized\n' },
    },
    {
      what: 'A misspelt rule for ids',
      files: { 'schemas/entities/query.yaml': 'entity: query\nids: normalised\n' },
    },
    {
      what: 'A misspelt step whose words are counted',
      run: 'text-stats search:txt --from products.jsonl',
    },
    {
      what: 'A step whose words are counted in another language',
      run: 'text-stats search:text --from products.jsonl --language german',
    },
    { what: 'Texts to count that are not named', run: 'text-stats product.title' },
    {
      what: 'The size of a sample of a file',
      run: 'text-stats product.title --from products.jsonl --rows 100',
    },
    {
      what: 'Stop words on the command line without a language',
      run: 'text-stats product.title --from products.jsonl --no-stop-words',
    },
  ],
};
