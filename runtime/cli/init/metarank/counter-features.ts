/** Features of Metarank that count events, which are counters here. */
import { parseDuration } from '../../../api/duration.js';
import { isJsonObject, own } from '../../../core/value-fit.js';
import { textIn, textsIn, type MetarankFeature } from './config.js';
import { counterOf, type CountedFeature, type CountedType, type Draft } from './draft.js';
import { carried, kindOf, type Column, type MappedFeature, type Mapper } from './mapper.js';

const TYPES: Readonly<Record<string, CountedType>> = { item: 'product', user: 'user' };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The longest window of a counter. Metarank counts without an end. */
const LONGEST = 366 * DAY;

const interactionCount: Mapper = ({ name, options }, draft) => {
  const event = kindOf(textIn(options, 'interaction') ?? 'click');
  return counted(draft, options, [{ name, definition: { event, window: windowText(LONGEST) } }], [event]);
};

const windowCount: Mapper = ({ name, options }, draft) => {
  const event = kindOf(textIn(options, 'interaction') ?? 'click');
  return inPeriods(draft, name, options, 'windows', { event }, [event]);
};

const rate: Mapper = ({ name, options }, draft) => {
  const [top, bottom] = [textIn(options, 'top'), textIn(options, 'bottom')];
  if (top === undefined || bottom === undefined) return 'it has no top or no bottom';
  const [event, over] = [kindOf(top), kindOf(bottom)];
  const normalize = own(options, 'normalize');
  const weight = isJsonObject(normalize) ? Number(textIn(normalize, 'weight') ?? NaN) : NaN;
  const prior = weight > 0 ? { prior: { weight } } : {};
  return inPeriods(draft, name, options, 'periods', { event, over, ...prior }, [event, over]);
};

/** One feature for each number of buckets. @param list the option that has these numbers */
function inPeriods(
  draft: Draft,
  name: string,
  options: MetarankFeature['options'],
  list: 'windows' | 'periods',
  definition: CountedFeature,
  kinds: readonly string[],
): MappedFeature | string {
  const bucket = parseDuration(textIn(options, 'bucket') ?? '1d');
  if (bucket === undefined) return `its bucket ${textIn(options, 'bucket') ?? ''} is no time here`;
  const numbers = textsIn(options, list);
  if (numbers.length === 0) return `it has no ${list}`;
  const windows = numbers.map((number) => Number(number) * bucket);
  if (!windows.every((window) => window >= 60_000 && window <= LONGEST))
    return 'a window of a counter has 1 minute to 366 days';
  const features = numbers.map((number, i) => ({
    name: `${name}_${number}`,
    definition: { ...definition, window: windowText(windows[i] ?? DAY) },
  }));
  return counted(draft, options, features, kinds);
}

/** @param features by the names of their columns */
function counted(
  draft: Draft,
  options: MetarankFeature['options'],
  features: readonly { readonly name: string; readonly definition: CountedFeature }[],
  kinds: readonly string[],
): MappedFeature | string {
  const scope = textIn(options, 'scope') ?? 'item';
  const type = Object.hasOwn(TYPES, scope) ? TYPES[scope] : undefined;
  if (type === undefined)
    return `declare a counter of an entity type for ${scope} (docs/counters.md); its type and its ids are not in this configuration`;
  for (const kind of kinds) draft.kinds.add(kind);
  const columns = features.map(({ name, definition }): Column => ({
    name,
    value: draft.counter(type, name, definition),
  }));
  const has = (test: (definition: CountedFeature) => boolean): boolean =>
    features.some(({ definition }) => test(definition));
  const differences = [
    'counts the feedback that arrives from now on',
    ...(has(({ window }) => window === windowText(LONGEST)) ? ['of at most 366 days'] : []),
    ...(has(({ prior }) => prior !== undefined) ? ['`prior` counts impressions, not clicks'] : []),
    ...(has(({ over, prior }) => over !== undefined && prior === undefined)
      ? ['without events of `over` it is missing, not 0']
      : []),
  ];
  const detail = `counter \`${counterOf(type)}\`: ${differences.join('; ')}`;
  return carried(columns, detail, [], 'changed');
}

function windowText(window: number): string {
  if (window % DAY === 0) return `${window / DAY}d`;
  return window % HOUR === 0 ? `${window / HOUR}h` : `${Math.round(window / 60_000)}m`;
}

export const COUNTER_MAPPERS: Readonly<Record<string, Mapper>> = {
  interaction_count: interactionCount,
  window_count: windowCount,
  rate,
};
