/** Features of Metarank that are functions or statistics here. */
import { own } from '../../../ground/core/value-fit.js';
import { textIn, textsIn } from './config.js';
import { carried, sourceOf, type Column, type Mapper } from './mapper.js';

/** The parts of a time, by Metarank's names. */
const PARTS: Readonly<Record<string, string>> = {
  time_of_day: 'hour(now()) + minute(now()) / 60 + second(now()) / 3600',
  day_of_week: 'weekday(now())',
  day_of_month: 'day_of_month(now())',
  month_of_year: 'month(now())',
  year: 'year(now())',
  second: 'floor((now() - time("1970-01-01")) / 1000)',
};

const localTime: Mapper = ({ name, options }) => {
  const parse = textIn(options, 'parse') ?? 'time_of_day';
  const value = Object.hasOwn(PARTS, parse) ? PARTS[parse] : undefined;
  if (value === undefined) return `there is no function for ${parse}`;
  const detail = `\`${value}\`: of the request, in UTC; for a local time send its zone: \`hour(now(), request.zone)\``;
  return carried([{ name, value }], detail, [], 'changed');
};

const WORDS: Readonly<Record<string, readonly string[]>> = {
  platform: ['mobile', 'desktop', 'tablet'],
  os: ['windows', 'macos', 'ios', 'android', 'linux'],
  browser: ['chrome', 'firefox', 'safari', 'microsoft edge'],
};

/** One column for each word that a function can give. */
function oneHot(name: string, call: string, words: readonly string[]): Column[] {
  return words.map((word) => ({
    name: `${name}_${word.replace(' ', '_')}`,
    value: `coalesce(if(${call} == "${word}", 1, 0), 0)`,
  }));
}

const userAgent: Mapper = ({ name, options }, draft) => {
  // A value of this type reads the member `field` of the user agent.
  const field = draft.field(textIn(options, 'source') ?? '', ['string'], false);
  if ('problem' in field) return field.problem;
  const part = textIn(options, 'field');
  if (part === 'bot')
    return carried(
      [{ name, value: `coalesce(if(is_bot(${field.path}), 1, 0), 0)` }],
      '`is_bot`',
      [],
      'changed',
    );
  const words = Object.hasOwn(WORDS, part ?? '') ? WORDS[part ?? ''] : undefined;
  if (words === undefined) return `there is no function for ${part ?? 'it'}`;
  const call = `${part ?? ''}(${field.path})`;
  return carried(oneHot(name, call, words), `\`${call}\`, with the names of Bowser`, [], 'changed');
};

const MEDIA = ['search', 'social', 'email', 'paid', 'internal', 'unknown'];

const referrer: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['string'], false);
  if ('problem' in field) return field.problem;
  const call = `referrer_medium(${field.path})`;
  const detail = `\`${call}\`: of this request only; add your hosts: \`referrer_medium(${field.path}, "shop.example")\``;
  return carried(oneHot(name, call, MEDIA), detail, [], 'changed');
};

/** Metarank counts places from 0. */
const position: Mapper = ({ name, options }) => {
  const place = Number(own(options, 'position') ?? 0) + 1;
  if (!Number.isInteger(place) || place < 1) return 'its position is not a whole number';
  return carried(
    [{ name, value: `position(${place})` }],
    `\`position(${place})\`: counted from 1`,
    [],
    'changed',
  );
};

const diversity: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['float', 'int', 'string', 'list(string)'], true);
  if ('problem' in field) return field.problem;
  const as = draft.step(name);
  const isNumber = field.type === 'float' || field.type === 'int';
  const use = isNumber ? 'rank_within' : 'share_within';
  const value = isNumber ? `${field.path} - ${as}:median` : `${as}:share`;
  const detail = `step \`${use}\`: within all candidates, not the first 20`;
  return carried([{ name, value }], detail, [{ use, as, with: { value: field.path } }], 'changed');
};

const REDUCERS: Readonly<Record<string, string>> = {
  first: 'first',
  last: 'last',
  min: 'min',
  max: 'max',
  avg: 'mean',
  sum: 'sum',
  size: 'count',
  euclidean_distance: 'norm',
};

const vector: Mapper = ({ name, options }, draft) => {
  const field = draft.field(sourceOf(options), ['list(float)'], true);
  if ('problem' in field) return field.problem;
  const given = textsIn(options, 'reduce');
  const reducers = given.length > 0 ? given : ['min', 'max', 'size', 'avg'];
  const columns: Column[] = [];
  for (const reducer of reducers) {
    const size = Number(/^vector(\d+)$/.exec(reducer)?.[1] ?? NaN);
    const reduce = Object.hasOwn(REDUCERS, reducer) ? REDUCERS[reducer] : undefined;
    if (reduce !== undefined) columns.push({ name: `${name}_${reducer}`, value: `${reduce}(${field.path})` });
    else if (size >= 1 && size <= 1000)
      for (let at = 0; at < size; at++)
        columns.push({ name: `${name}_${at}`, value: `${field.path}[${at}]` });
    else return `there is no function for the reducer ${reducer}`;
  }
  return carried(columns, 'an empty list has no value, not 0', [], 'changed');
};

export const CONTEXT_MAPPERS: Readonly<Record<string, Mapper>> = {
  local_time: localTime,
  ua: userAgent,
  referer: referrer,
  position,
  diversity,
  vector,
};
