import { isJsonObject, own } from '../../../core/value-fit.js';
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
  const window = textIn(options, 'duration') ?? textIn(options, 'ttl') ?? '90d';
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

const wordCount: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['string'], isOfItem(options));
  if ('problem' in field) return field.problem;
  const value = `words(${field.path})`;
  return carried([{ name, value }], `\`${value}\`: absent for an absent text, not 0`, [], 'changed');
};

/** The functions that compare the words of two texts, by method. */
const OVERLAPS: Readonly<Record<string, (texts: string, n: number) => string>> = {
  term: (texts) => `term_overlap(${texts})`,
  ngram: (texts, n) => `ngram_overlap(${texts}, ${n})`,
};

const fieldMatch: Mapper = ({ name, options }, draft) => {
  const given = own(options, 'method');
  const method = isJsonObject(given) ? given : {};
  const type = textIn(method, 'type') ?? 'none';
  const overlap = Object.hasOwn(OVERLAPS, type) ? OVERLAPS[type] : undefined;
  if (type !== 'bm25' && overlap === undefined)
    return `the method ${type} has no equal; for embeddings, use the similarity step`;
  const fits = overlap === undefined ? ['string', 'list(string)'] : ['string'];
  const item = draft.field(textIn(options, 'itemField') ?? '', fits, true);
  const query = draft.field(textIn(options, 'rankingField') ?? '', ['string'], false);
  if ('problem' in item) return item.problem;
  if ('problem' in query) return query.problem;
  if (overlap !== undefined) {
    const value = overlap(`${query.path}, ${item.path}`, Math.floor(Number(textIn(method, 'n') ?? 3)) || 3);
    const detail = `\`${value}\`: add a language for stems; absent if a text is absent, not 0`;
    return carried([{ name, value }], detail, [], 'changed');
  }
  const as = draft.step(name);
  const detail =
    'step `text_match`: statistics over the candidates; `millrace text-stats` makes them of the catalogue';
  const step = { use: 'text_match', as, with: { query: query.path, field: item.path } };
  return carried([{ name, value: `${as}:bm25` }], detail, [step], 'changed');
};

const relativeNumber: Mapper = ({ name, options }, draft) => {
  const given = own(options, 'method');
  const method = isJsonObject(given) ? given : {};
  const type = textIn(method, 'type') ?? textIn(options, 'method');
  if (type !== 'minmax')
    return `the method ${type ?? 'none'} has no equal; rank_within has minmax within the list`;
  const field = draft.field(sourceOf(options), ['float', 'int'], isOfItem(options));
  if ('problem' in field) return field.problem;
  const [min, max] = [Number(textIn(method, 'min') ?? NaN), Number(textIn(method, 'max') ?? NaN)];
  if (min < max) {
    const value = `(${field.path} ${min < 0 ? '+' : '-'} ${Math.abs(min)}) / ${max - min}`;
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
  ...CONTEXT_MAPPERS,
  ...COUNTER_MAPPERS,
};

/** Names of categories are unique and in the grammar of names. */
function categoryName(value: string, position: number, values: readonly string[]): string {
  const name = nameOf(value);
  const isTaken = values.slice(0, position).some((other) => nameOf(other) === name);
  return isTaken || name === 'unnamed' || name === 'other' ? `value_${position + 1}` : name;
}
