import { createHash } from 'node:crypto';
import type { CounterDefinition, CounterFeature, CounterValue } from '../../project/config/model/counters.js';
import { SeriesKind } from '../store/codec/counter-record.js';

/**
 * What a record keeps for a part of a feature: the events of one kind, of one window or half-life, and perhaps of some
 * positions. Features of one counter that need the same series share it.
 */
export interface Series {
  /** First and second half of its id. */
  readonly low: number;
  readonly high: number;
  /** A number of SeriesKind. */
  readonly kind: number;
  readonly event: string;
  readonly value: CounterValue;
  /** Milliseconds; the ttl for times of last events without a window. */
  readonly window: number;
  /** Milliseconds; 0 if it has a window. */
  readonly halfLife: number;
  /** Only events of this number of `positionClass`; undefined: of any. */
  readonly place: number | undefined;
  /** How long the series is kept after its last event, in milliseconds. */
  readonly ttl: number;
}

/** The series of a feature. */
export interface FeatureSeries {
  readonly feature: CounterFeature;
  readonly counted: Series;
  /** For a rate: what it divides by. With `expected`, by class of position. */
  readonly over: readonly Series[];
  /** In the record of all entities, if the feature compares with all: the counted events … */
  readonly allCounted: readonly Series[];
  /** … and the events of `over`, by the same classes. */
  readonly allOver: readonly Series[];
}

/** The first position of each class; class 0 holds events without a position. */
const CLASS_STARTS = [1, 2, 3, 4, 6, 9, 13, 21] as const;

/** The number of classes of positions. */
export const POSITION_CLASSES = CLASS_STARTS.length + 1;

/** The class of a position: 1, 2, 3, 4 to 5, 6 to 8, 9 to 12, 13 to 20, 21 and more; 0 if it is not known. */
export function positionClass(position: number | undefined): number {
  if (position === undefined) return 0;
  let found = 0;
  for (const start of CLASS_STARTS) if (position >= start) found++;
  return found;
}

/** Whether the series is of one entity, or of all entities together. */
type Part = 'entity' | 'all';

/** What a series counts. */
interface Counted extends Pick<Series, 'event' | 'value' | 'place'> {
  readonly part: Part;
}

/**
 * Returns the series of each feature of a counter.
 * @param generation a rebuild gives all series of a counter new ids
 */
export function seriesOf(counter: CounterDefinition, generation: number): FeatureSeries[] {
  const make = (feature: CounterFeature, event: string, value: CounterValue, part: Part, place?: number) =>
    seriesOfPart(counter, feature, generation, { event, value, part, place });
  const classes = Array.from({ length: POSITION_CLASSES }, (_, place) => place);
  const count: CounterValue = { kind: 'count' };
  return [...counter.features.values()].map((feature): FeatureSeries => {
    const { event, value, over, expected, prior } = feature;
    const counted = make(feature, event, value, 'entity');
    if (over === undefined) return { feature, counted, over: [], allCounted: [], allOver: [] };
    if (expected)
      return {
        feature,
        counted,
        over: classes.map((place) => make(feature, over, count, 'entity', place)),
        allCounted: classes.map((place) => make(feature, event, count, 'all', place)),
        allOver: classes.map((place) => make(feature, over, count, 'all', place)),
      };
    const isGlobal = prior?.mean === 'global';
    return {
      feature,
      counted,
      over: [make(feature, over, count, 'entity')],
      allCounted: isGlobal ? [make(feature, event, value, 'all')] : [],
      allOver: isGlobal ? [make(feature, over, count, 'all')] : [],
    };
  });
}

/** Every series of a counter once: those of its entities, and those of all entities together. */
export function distinctSeries(features: readonly FeatureSeries[]): {
  readonly entity: readonly Series[];
  readonly all: readonly Series[];
} {
  const once = (all: readonly Series[]): Series[] => [
    ...new Map(all.map((one) => [`${one.low} ${one.high}`, one])).values(),
  ];
  return {
    entity: once(features.flatMap(({ counted, over }) => [counted, ...over])),
    all: once(features.flatMap(({ allCounted, allOver }) => [...allCounted, ...allOver])),
  };
}

function seriesOfPart(
  counter: CounterDefinition,
  { window, halfLife = 0 }: CounterFeature,
  generation: number,
  { event, value, part, place }: Counted,
): Series {
  const length = window ?? counter.ttl;
  const identity = [
    counter.name,
    generation,
    // What an event counts for is a part of the identity: another path makes another counter.
    counter.of,
    counter.by.map((path) => path.join('.')),
    part,
    event,
    value,
    // Times of last events do not depend on the window.
    value.kind === 'last' ? 0 : halfLife === 0 ? length : -halfLife,
    place ?? null,
  ];
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest();
  const kind =
    value.kind === 'last'
      ? SeriesKind.last
      : value.kind === 'distinct'
        ? SeriesKind.distinct
        : halfLife > 0
          ? SeriesKind.decay
          : SeriesKind.buckets;
  return {
    low: digest.readInt32LE(0),
    high: digest.readInt32LE(4),
    kind,
    event,
    value,
    window: length,
    halfLife,
    place,
    ttl: counter.ttl,
  };
}
