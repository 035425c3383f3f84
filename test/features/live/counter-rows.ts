import {
  type EventType,
  inPeriods,
  inWindow,
  type LiveRow,
  SCOPES,
  type Scope,
  type Seen,
  type SeenEvent,
  timesOf,
} from './live-row.js';

const HOUR = 3_600_000;
/** Millrace cuts each window into so many buckets. */
const PERIODS = 24;
/** Buckets of the windows `1d` and `2d`. */
const DAY = { bucket: HOUR };
const TWO_DAYS = { bucket: 2 * HOUR };
/** Metarank's weight: top events that are added. */
const WEIGHT = 10;

/** How the counters of each scope are bound in the pipeline. */
const BINDINGS: Readonly<Record<keyof typeof SCOPES, string>> = {
  item: 'item',
  field: 'shade',
  user: 'visitor',
  session: 'visit',
  query: 'search',
  pair: 'found',
  global: 'site',
};

/** A number of events by Metarank's definition, and by Millrace's. */
interface Count {
  readonly theirs: (events: readonly SeenEvent[], type: EventType, isMeant: Meant) => number;
  readonly ours: (events: readonly SeenEvent[], type: EventType, isMeant: Meant, now: number) => number;
}

type Meant = (event: SeenEvent) => boolean;

const EVER: Count = {
  theirs: (events, type, isMeant) => timesOf(events, type, isMeant).length,
  ours: (events, type, isMeant) => timesOf(events, type, isMeant).length,
};

const within = ({ bucket }: { readonly bucket: number }): Count => ({
  theirs: (events, type, isMeant) => inPeriods(timesOf(events, type, isMeant), bucket, PERIODS),
  ours: (events, type, isMeant, now) => inWindow(timesOf(events, type, isMeant), now, bucket, PERIODS),
});

const scopes = Object.entries(SCOPES) as readonly [keyof typeof SCOPES, Scope][];

/** Both count the clicks of a scope. Metarank counts an event again that arrives again. */
const clicks = (name: string, feature: string, { theirs, ours }: Count): LiveRow[] =>
  scopes.map(([scope, meant]) => ({
    name,
    value: `${BINDINGS[scope]}:${feature}`,
    metarank: (item, seen) => {
      const isMeant = meant(item, seen);
      return isMeant && theirs(seen.arrived, 'click', isMeant);
    },
    differs: (_theirs, item, seen) => {
      const isMeant = meant(item, seen);
      return isMeant && ours(seen.once, 'click', isMeant, seen.ranking.timestamp);
    },
  }));

type Rate = (clicks: number, impressions: number, all: { clicks: number; impressions: number }) => number;

/** The events that a counter counts at all. */
const HAS_KEY = {
  item: () => true,
  field: ({ cameWithShade }: SeenEvent) => cameWithShade,
  pair: ({ query }: SeenEvent) => query !== undefined,
} as const;

/**
 * Clicks by impressions, of an item, of a field of it, and of an item for a query. The scope `ranking.query` of Metarank
 * means such pairs.
 * @param allOfCounter whether the rate of all is that of the events that the counter of Millrace counts
 */
const rate = (
  name: string,
  feature: (binding: string) => string,
  theirs: Rate,
  ours: Rate,
  period: Count,
  allOfCounter = false,
): LiveRow[] =>
  (['item', 'field', 'pair'] as const).map((scope) => {
    const computed = (
      item: string,
      seen: Seen,
      of: Rate,
      count: (type: EventType, isMeant: Meant) => number,
      isAll: Meant = () => true,
    ): number | undefined => {
      const isMeant = SCOPES[scope](item, seen);
      if (isMeant === undefined) return undefined;
      const all = { clicks: count('click', isAll), impressions: count('impression', isAll) };
      const found = of(count('click', isMeant), count('impression', isMeant), all);
      return Number.isFinite(found) ? found : undefined;
    };
    return {
      name,
      value: feature(BINDINGS[scope]),
      metarank: (item, seen) =>
        computed(item, seen, theirs, (type, isMeant) => period.theirs(seen.arrived, type, isMeant)),
      differs: (_theirs, item, seen) =>
        computed(
          item,
          seen,
          ours,
          (type, isMeant) => period.ours(seen.once, type, isMeant, seen.ranking.timestamp),
          allOfCounter ? HAS_KEY[scope] : undefined,
        ),
    };
  });

const plain: Rate = (top, bottom) => top / bottom;
/** Metarank's: `weight` top events are added, and as many bottom events as give them the rate of all items. */
const normalised: Rate = (top, bottom, all) =>
  (top + WEIGHT) / (bottom + WEIGHT + (WEIGHT * (all.impressions - all.clicks)) / all.clicks);
/** The same as an expression, in which a division by 0 has no value. */
const written: Rate = (top, bottom, all) => (all.clicks === 0 ? NaN : normalised(top, bottom, all));
/** Millrace's `prior`: `weight` bottom events are added, and as many top events as give them the rate of all items. */
const prior: Rate = (top, bottom, all) =>
  (top + (all.impressions > 0 ? (WEIGHT * all.clicks) / all.impressions : 0)) / (bottom + WEIGHT);

export const COUNTER_ROWS: readonly LiveRow[] = [
  ...clicks('interaction_count', 'clicks_ever', EVER),
  ...clicks('window_count', 'clicks_1d', within(DAY)),
  ...clicks('window_count', 'clicks_2d', within(TWO_DAYS)),
  ...rate('rate', (of) => `${of}:ctr`, plain, plain, within(TWO_DAYS)),
  ...rate('rate, normalize', (of) => `${of}:ctr_prior`, normalised, prior, within(TWO_DAYS), true),
  ...rate(
    'rate, normalize',
    (of) => `(${of}:clicks_2d + ${WEIGHT}) / (${of}:seen_2d + ${WEIGHT} * site:seen_2d / site:clicks_2d)`,
    normalised,
    written,
    within(TWO_DAYS),
  ),
];
