import type { Interaction, LiveShop } from './live-shop.js';

/**
 * A counter that Metarank has too: the expression of Millrace that gives it, Metarank's definition, and Millrace's where it
 * differs. docs/features.md states each difference.
 */
export interface LiveRow {
  /** As in the first column of docs/features.md. */
  readonly name: string;
  /** The expression whose value is compared. */
  readonly value: string;
  /** Metarank's definition for an item. Undefined: it has no value. */
  readonly metarank: (item: string, seen: Seen) => number | undefined;
  readonly differs: (metarank: number | undefined, item: string, seen: Seen) => number | undefined;
}

/** An interaction, with the shades that its item had when it arrived; several if it arrived several times. */
export interface SeenEvent extends Interaction {
  /** Whether its item had a shade when it arrived first. */
  readonly cameWithShade: boolean;
  readonly shades: readonly string[];
}

/** What both systems know when the ranking arrives. */
export interface Seen {
  readonly ranking: LiveShop['ranking'];
  /** Everything that arrived, also what arrived twice. */
  readonly arrived: readonly SeenEvent[];
  /** Each event once. Sent again, it counts for a shade that its item has got meanwhile. */
  readonly once: readonly SeenEvent[];
  /** By item: its shade at the time of the ranking. */
  readonly shades: ReadonlyMap<string, string | undefined>;
}

export function seenBy({ arrivals, ranking }: LiveShop): Seen {
  const shades = new Map<string, string | undefined>();
  const arrived: SeenEvent[] = [];
  for (const arrival of arrivals)
    if (arrival.kind === 'item') shades.set(arrival.id, arrival.shade);
    else {
      const shade = shades.get(arrival.item);
      arrived.push({
        ...arrival,
        cameWithShade: shade !== undefined,
        shades: shade === undefined ? [] : [shade],
      });
    }
  const once = new Map<string, SeenEvent>();
  for (const event of arrived)
    once.set(event.id, {
      ...(once.get(event.id) ?? event),
      shades: [...(once.get(event.id)?.shades ?? []), ...event.shades],
    });
  return { ranking, arrived, once: [...once.values()], shades };
}

export type EventType = Interaction['type'];

/** Which events a counter counts for an item of the ranking; undefined if the item has no key. */
export type Scope = (item: string, seen: Seen) => ((event: SeenEvent) => boolean) | undefined;

export const SCOPES = {
  item: (item) => (event) => event.item === item,
  field: (item, { shades }) => {
    const shade = shades.get(item);
    return shade === undefined ? undefined : (event) => event.shades.includes(shade);
  },
  user: (_item, { ranking: { user } }) => (user === undefined ? undefined : (event) => event.user === user),
  session:
    (_item, { ranking }) =>
    (event) =>
      event.session === ranking.session,
  query:
    (_item, { ranking }) =>
    (event) =>
      event.query === ranking.query,
  pair:
    (item, { ranking }) =>
    (event) =>
      event.item === item && event.query === ranking.query,
  global: () => () => true,
} as const satisfies Readonly<Record<string, Scope>>;

/** Times of the events of a kind in a scope. */
export function timesOf(
  events: readonly SeenEvent[],
  type: EventType,
  isMeant: (event: SeenEvent) => boolean,
): number[] {
  return events.filter((event) => event.type === type && isMeant(event)).map(({ timestamp }) => timestamp);
}

/** Events in whole buckets: `periods` of them, up to the newest bucket that has one. */
export function inPeriods(times: readonly number[], bucket: number, periods: number): number {
  const newest = Math.max(...times.map((time) => Math.floor(time / bucket)));
  return times.filter((time) => Math.floor(time / bucket) > newest - periods).length;
}

/** Events of a window that ends now; it has the whole bucket at its old edge. */
export function inWindow(times: readonly number[], now: number, bucket: number, periods: number): number {
  const oldest = Math.floor((now - bucket * periods) / bucket);
  return times.filter((time) => Math.floor(time / bucket) >= oldest).length;
}
