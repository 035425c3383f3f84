/** Features of Metarank that count events: they become live counters. */
import { isJsonObject, own } from '../../../ground/core/value-fit.js';
import { textIn, textsIn, type MetarankFeature } from './config.js';
import type { Draft } from './draft.js';
import { carried, kindOf, type MappedFeature, type Mapper } from './mapper.js';

/** The counter of a scope of Metarank, and its key. */
const SCOPES: Readonly<Record<string, { readonly counter: string; readonly of: readonly string[] }>> = {
  item: { counter: 'item_counters', of: ['product'] },
  user: { counter: 'user_counters', of: ['user'] },
  'ranking.query': { counter: 'query_counters', of: ['query', 'product'] },
};

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const LONGEST = 366 * UNITS.d;

/** `24h`, `24 hours`, `1d` in milliseconds; undefined for any other text. */
function durationOf(text: string): number | undefined {
  const [, number = '', unit = ''] = /^(\d+)\s*([smhd])(?:[a-z]*)$/.exec(text) ?? [];
  return Object.hasOwn(UNITS, unit) ? Number(number) * UNITS[unit as keyof typeof UNITS] : undefined;
}

/** A duration as a counter takes it, in the largest unit that divides it. */
function windowText(ms: number): string {
  const unit = (['d', 'h', 'm'] as const).find((one) => ms % UNITS[one] === 0) ?? 's';
  return `${ms / UNITS[unit]}${unit}`;
}

/** One feature of a counter for each period. @param feature what it counts, without its window */
function counted(
  { name, options }: MetarankFeature,
  draft: Draft,
  periods: readonly { readonly column: string; readonly window: string }[],
  feature: Readonly<Record<string, unknown>>,
  difference: string,
): MappedFeature | string {
  const scope = textIn(options, 'scope') ?? 'item';
  const found = Object.hasOwn(SCOPES, scope) ? SCOPES[scope] : undefined;
  if (found === undefined)
    return `counters by ${scope} need an entity type of their own: declare it, and a counter of it (docs/counters.md)`;
  if (periods.length === 0) return 'it has no periods';
  const { counter, of } = found;
  const columns = periods.map(({ column, window }) => {
    const key = draft.count(counter, of, column, { ...feature, window });
    return { name: column, value: `${counter}:${key}` };
  });
  return carried(
    columns,
    `counter \`${counter}\`, with ${name}; \`millrace feedback load\` fills it. ${difference}`,
    [],
    'changed',
  );
}

/** The windows of a feature with buckets and periods; a text is why they cannot be counted. */
function periodsOf({ name, options }: MetarankFeature): { column: string; window: string }[] | string {
  const bucket = durationOf(textIn(options, 'bucket') ?? textIn(options, 'bucket_size') ?? '1d');
  if (bucket === undefined) return 'its bucket is no duration';
  const given = [...textsIn(options, 'periods'), ...textsIn(options, 'windows')];
  const windows = given.map((period) => Number(period) * bucket);
  if (windows.some((ms) => !(ms >= UNITS.m && ms <= LONGEST)))
    return 'windows of counters have 1 minute to 366 days';
  return windows.map((ms, i) => ({ column: `${name}_${given[i] ?? ''}`, window: windowText(ms) }));
}

const interactionCount: Mapper = (feature, draft) => {
  const event = kindOf(textIn(feature.options, 'interaction') ?? 'click');
  draft.kinds.add(event);
  const periods = [{ column: feature.name, window: windowText(LONGEST) }];
  return counted(feature, draft, periods, { event }, 'It has a window, of 366 days');
};

const windowCount: Mapper = (feature, draft) => {
  const periods = periodsOf(feature);
  if (typeof periods === 'string') return periods;
  const event = kindOf(textIn(feature.options, 'interaction') ?? 'click');
  draft.kinds.add(event);
  return counted(feature, draft, periods, { event }, 'Windows end now, and have 24 buckets');
};

const rate: Mapper = (feature, draft) => {
  const periods = periodsOf(feature);
  if (typeof periods === 'string') return periods;
  const { options } = feature;
  const [event, over] = [textIn(options, 'top') ?? 'click', textIn(options, 'bottom') ?? 'impression'].map(
    kindOf,
  );
  for (const kind of [event, over]) if (kind !== undefined) draft.kinds.add(kind);
  const normalize = own(options, 'normalize');
  const weight = isJsonObject(normalize) ? Number(textIn(normalize, 'weight') ?? 10) : NaN;
  const difference =
    weight > 0
      ? 'The weight of the prior counts bottom events, not top events'
      : 'Windows end now, and have 24 buckets';
  return counted(
    feature,
    draft,
    periods,
    { event, over, ...(weight > 0 ? { prior: { weight } } : {}) },
    difference,
  );
};

export const COUNTER_MAPPERS: Readonly<Record<string, Mapper>> = {
  interaction_count: interactionCount,
  window_count: windowCount,
  rate,
};
