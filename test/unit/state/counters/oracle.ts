import type { CounterFeature } from '../../../../runtime/project/config/model/counters.js';
import { bucketWidth, epochOf, oldestEpoch } from '../../../../runtime/state/counters/buckets.js';
import type { CountedEvent } from '../../../../runtime/state/counters/counted-kinds.js';
import { positionClass, POSITION_CLASSES } from '../../../../runtime/state/counters/series.js';

/** An event as it was accepted, with the key that it counted for. */
export interface RawEvent extends CountedEvent {
  readonly id: number;
  readonly key: string;
  readonly time: number;
}

/** The value of a feature from all raw events, each once. Undefined: there is none. */
export function oracleValue(
  feature: CounterFeature,
  events: readonly RawEvent[],
  key: string,
  now: number,
): number | undefined {
  const { event, value, over, prior, expected, halfLife, window = Infinity } = feature;
  const mine = events.filter((one) => one.key === key);
  const inWindow = ({ time }: RawEvent): boolean =>
    window === Infinity || epochOf(time, bucketWidth(window)) >= oldestEpoch(now, window);
  const weight = (one: RawEvent): number =>
    halfLife === undefined ? Number(inWindow(one)) : 2 ** ((one.time - now) / halfLife);
  const amount = (one: RawEvent): number =>
    value.kind === 'sum'
      ? value.of === 'quantity'
        ? one.quantity
        : Number(one.values.get(value.of) ?? 0)
      : 1;
  const sum = (all: readonly RawEvent[], kind: string, of: (one: RawEvent) => number): number =>
    all.reduce((total, one) => total + (one.event === kind ? weight(one) * of(one) : 0), 0);
  if (value.kind === 'last') {
    const times = mine.filter((one) => one.event === event && one.time > now - window);
    return times.length === 0 ? undefined : Math.max(...times.map(({ time }) => time));
  }
  if (value.kind === 'distinct') {
    const its = mine.filter((one) => one.event === event && inWindow(one));
    return new Set(its.map(({ owners }) => owners[0]?.id)).size;
  }
  const count = sum(mine, event, amount);
  if (over === undefined) return count;
  const one = (): number => 1;
  const rateOf = (all: readonly RawEvent[]): number => {
    const base = sum(all, over, one);
    return base > 0 ? sum(all, event, amount) / base : 0;
  };
  let base = sum(mine, over, one);
  if (expected) {
    base = 0;
    for (let place = 0; place < POSITION_CLASSES; place++) {
      const there = (all: readonly RawEvent[]): RawEvent[] =>
        all.filter(({ position }) => positionClass(position) === place);
      base += sum(there(mine), over, one) * rateOf(there(events));
    }
  }
  if (prior === undefined) return base > 0 ? count / base : undefined;
  const mean = prior.mean === 'global' ? rateOf(events) : prior.mean;
  if (!expected) return (count + prior.weight * mean) / (base + prior.weight);
  const assumed = prior.weight * mean;
  return base + assumed > 0 ? (count + assumed) / (base + assumed) : undefined;
}
