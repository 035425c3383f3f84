import { isJsonObject, own } from '../../../ground/core/value-fit.js';
import { languageOf, stopWordsOf } from '../../../ground/text/index.js';
import { textIn, textsIn, type MetarankFeature } from './config.js';
import { CONTEXT_MAPPERS } from './context-features.js';
import { COUNTER_MAPPERS } from './counter-features.js';
import { nameOf, type Draft, type Step } from './draft.js';
import {
  carried,
  isOfItem,
  kindOf,
  sourceOf,
  type Column,
  type MappedFeature,
  type Mapper,
} from './mapper.js';

/** Maps a feature; a text is why it is left out. */
export function mapFeature(feature: MetarankFeature, draft: Draft): MappedFeature | string {
  return (MAPPERS[feature.type] ?? unknownType)(feature, draft);
}

const unknownType: Mapper = ({ type }) => LEFT_OUT[type] ?? `the type ${type} is not known`;

/** Why features of these types have no equal. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  random: 'a model learns nothing from it; exploration is not a feature here',
  shuffle: 'a model learns nothing from it; exploration is not a feature here',
};

const number: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['float', 'int'], isOfItem(options));
  return 'problem' in field ? field.problem : carried([{ name, value: field.path }], `\`${field.path}\``);
};

const boolean: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['bool'], isOfItem(options));
  return 'problem' in field
    ? field.problem
    : carried([{ name, value: `1 * ${field.path}` }], `\`${field.path}\``);
};

const string: Mapper = ({ name, options }, draft) => {
  const values = textsIn(options, 'values');
  if (values.length === 0) return 'it has no values';
  const isOneHot = textIn(options, 'encode') === 'onehot';
  const fits = isOneHot ? ['string', 'list(string)'] : ['string'];
  const field = draft.field(sourceOf(options), fits, isOfItem(options));
  if ('problem' in field) return field.problem;
  const as = draft.step(name);
  if (!isOneHot) {
    const step = { use: 'category_index', as, with: { of: field.path, categories: values } };
    const detail = `step \`category_index\`; codes begin at 0, not at 1, so train the model again`;
    return carried([{ name, value: `${as}:code` }], detail, [step], 'changed');
  }
  const categories = new Map(values.map((value, i) => [categoryName(value, i, values), value]));
  const step = { use: 'one_hot', as, with: { of: field.path, categories: Object.fromEntries(categories) } };
  return carried(
    [...categories].map(([category, value]) => ({
      name: `${name}_${value}`,
      value: `1 * ${as}:${category}`,
    })),
    'step `one_hot`',
    [step],
  );
};

const relevancy: Mapper = ({ name }, draft) => {
  draft.carried.set('relevancy', 'float');
  return carried([{ name, value: 'product.relevancy' }], '`product.relevancy`, which candidates carry');
};

const itemAge: Mapper = ({ name, options }, draft) => {
  const source = sourceOf(options);
  if (source.endsWith('.timestamp'))
    return 'the time of an item event is not kept; send it as a field of the item';
  const field = draft.field(source, ['timestamp', 'int', 'float'], true);
  if ('problem' in field) return field.problem;
  if (field.type === 'timestamp')
    return carried(
      [{ name, value: `age_days(${field.path}) * 86400` }],
      `the age of \`${field.path}\` in seconds`,
    );
  const value = `(now() - time("1970-01-01")) / 1000 - ${field.path}`;
  return carried([{ name, value }], `the age of \`${field.path}\`, which holds seconds`);
};

const interactedWith: Mapper = ({ name, options }, draft) => {
  const fields = textsIn(options, 'field');
  const event = kindOf(textIn(options, 'interaction') ?? 'click');
  // `ttl` only says how long Metarank keeps the list.
  const window = textIn(options, 'duration') ?? '24h';
  const columns: Column[] = [];
  const steps: Step[] = [];
  for (const source of fields) {
    const field = draft.field(source, ['string', 'list(string)'], true);
    if ('problem' in field) return field.problem;
    const as = draft.step(`${name}_${source.replace(/^\w+\./, '')}`);
    steps.push({
      use: 'interaction',
      as,
      with: {
        of: 'user',
        with: field.path,
        // Metarank adds the counts of all values of a list.
        ...(field.type.startsWith('list') ? { lists: 'sum' } : {}),
        outputs: { count: { event, window } },
      },
    });
    columns.push({ name: fields.length === 1 ? name : as, value: `${as}:count` });
  }
  if (columns.length === 0) return 'it has no field';
  draft.kinds.add(event);
  const bySession = textIn(options, 'scope') === 'session';
  const detail = `step \`interaction\`: an absent field is absent, not 0${bySession ? '; by user, not by session' : ''}`;
  return carried(columns, detail, steps, 'changed');
};

const WORDS = 'words are runs of letters and digits';

const wordCount: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['string'], isOfItem(options));
  if ('problem' in field) return field.problem;
  const value = `words(${field.path})`;
  return carried(
    [{ name, value }],
    `\`${value}\`: ${WORDS}, not what stands between white space`,
    [],
    'changed',
  );
};

const fieldMatch: Mapper = ({ name, options }, draft) => {
  const method = own(options, 'method');
  const type = isJsonObject(method) ? textIn(method, 'type') : undefined;
  if (!isJsonObject(method) || (type !== 'bm25' && type !== 'term' && type !== 'ngram'))
    return `the method ${type ?? 'none'} has no equal; for embeddings, use the similarity step`;
  const types = type === 'bm25' ? ['string', 'list(string)'] : ['string'];
  const item = draft.field(textIn(options, 'itemField') ?? '', types, true);
  const query = draft.field(textIn(options, 'rankingField') ?? '', ['string'], false);
  if ('problem' in item) return item.problem;
  if ('problem' in query) return query.problem;
  const language = languageOf(textIn(method, 'language') ?? '');
  if (type === 'bm25') {
    const as = draft.step(name);
    const analyzer = {
      ...(language === undefined ? { stemming: 'none' } : { language }),
      ...(language !== undefined && stopWordsOf(language) !== undefined ? { stop_words: 'drop' } : {}),
    };
    const step = { use: 'text_match', as, with: { query: query.path, field: item.path, ...analyzer } };
    const detail =
      'step `text_match`: statistics over the candidates; `millrace text-stats` makes them of the catalogue';
    return carried([{ name, value: `${as}:bm25` }], detail, [step], 'changed');
  }
  const last = type === 'ngram' ? (textIn(method, 'n') ?? '3') : language && `"${language}"`;
  const words = [query.path, item.path, ...(last === undefined ? [] : [last])].join(', ');
  const value = `${type}_overlap(${words})`;
  return carried([{ name, value }], `\`${value}\`: ${WORDS}, and stop words count`, [], 'changed');
};

const relativeNumber: Mapper = ({ name, options }, draft) => {
  const method = own(options, 'method');
  const type = isJsonObject(method) ? textIn(method, 'type') : textIn(options, 'method');
  if (type !== 'minmax' && type !== 'estimate_minmax')
    return `the method ${type ?? 'none'} has no equal; rank_within has minmax and percentiles within the list`;
  const field = draft.field(sourceOf(options), ['float', 'int'], isOfItem(options));
  if ('problem' in field) return field.problem;
  const [least, most] = ['min', 'max'].map((limit) =>
    Number(isJsonObject(method) ? textIn(method, limit) : NaN),
  );
  if (type === 'minmax' && least !== undefined && most !== undefined && most > least) {
    const value = `(${field.path} - ${least}) / (${most} - ${least})`;
    return carried([{ name, value }], `\`${value}\``);
  }
  const as = draft.step(name);
  const detail = 'step `rank_within`: between the least and the largest of the list, not given limits';
  const step = { use: 'rank_within', as, with: { value: field.path } };
  return carried([{ name, value: `${as}:min_max` }], detail, [step], 'changed');
};

const MAPPERS: Readonly<Record<string, Mapper>> = {
  number,
  boolean,
  string,
  relevancy,
  item_age: itemAge,
  interacted_with: interactedWith,
  word_count: wordCount,
  field_match: fieldMatch,
  relative_number: relativeNumber,
  ...COUNTER_MAPPERS,
  ...CONTEXT_MAPPERS,
};

/** Names of categories are unique and in the grammar of names. */
function categoryName(value: string, position: number, values: readonly string[]): string {
  const name = nameOf(value);
  const isTaken = values.slice(0, position).some((other) => nameOf(other) === name);
  return isTaken || name === 'unnamed' || name === 'other' ? `value_${position + 1}` : name;
}
