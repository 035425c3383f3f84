import fc from 'fast-check';

/** An interaction as a client sends it. */
export interface Interaction {
  readonly kind: 'event';
  readonly id: string;
  readonly type: 'impression' | 'click';
  readonly item: string;
  /** Absent: the client does not know the user, the session or the query. */
  readonly user: string | undefined;
  readonly session: string | undefined;
  readonly query: string | undefined;
  /** Epoch milliseconds. */
  readonly timestamp: number;
}

/** An item event: the shade of an item from now on. */
export interface ItemUpdate {
  readonly kind: 'item';
  readonly id: string;
  readonly shade: string | undefined;
}

/** Everything that a shop sends before one ranking, in the order of arrival. */
export interface LiveShop {
  readonly arrivals: readonly (Interaction | ItemUpdate)[];
  readonly ranking: {
    readonly timestamp: number;
    readonly items: readonly string[];
    readonly user: string | undefined;
    readonly session: string;
    readonly query: string;
  };
}

const HOUR = 3_600_000;
/**
 * Not at the start of a bucket of any width in the rows. It is in the future, because the store drops the ids of counted
 * events by its own clock.
 */
const NOW = Date.UTC(2096, 5, 15, 12, 34, 56, 789);

const ITEMS = ['p0', 'p1', 'p2', 'p3', 'p4'];
/** Interactions with it arrive, but the shop never sends the item. */
const UNKNOWN = 'nobody sent me';
const SHADES = ['red', 'dark|blue', 'été'];
const USERS = ['u1', 'u2'];
const SESSIONS = ['s1', 's2'];
const QUERIES = ['tv', 'red shoe'];

const maybe = (values: readonly string[]): fc.Arbitrary<string | undefined> =>
  fc.option(fc.constantFrom(...values), { nil: undefined, freq: 5 });

/** As far ahead as the clock of a client may be. */
const AHEAD = 5 * 60_000;
/** Of clients whose clocks are ahead, and of events that share one time. */
const odd = fc.oneof(fc.integer({ min: -AHEAD, max: 0 }), fc.constantFrom(0, HOUR));

/** Most are of the last hours, some at the edges of windows, some older than every window, some odd. */
const ages = fc.oneof(
  { weight: 1, arbitrary: odd },
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30 * HOUR }) },
  { weight: 3, arbitrary: fc.integer({ min: 40 * HOUR, max: 56 * HOUR }) },
  { weight: 1, arbitrary: fc.integer({ min: 56 * HOUR, max: 167 * HOUR }) },
);

const recent = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 * HOUR }) },
  { weight: 1, arbitrary: odd },
);

const interaction = (age: fc.Arbitrary<number>): fc.Arbitrary<Omit<Interaction, 'kind' | 'id'>> =>
  fc.record({
    type: fc.constantFrom('impression' as const, 'impression' as const, 'click' as const),
    item: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...ITEMS) },
      { weight: 1, arbitrary: fc.constant(UNKNOWN) },
    ),
    user: maybe(USERS),
    session: maybe(SESSIONS),
    query: maybe(QUERIES),
    timestamp: age.map((ms) => NOW - ms),
  });

const update = fc.record({
  kind: fc.constant('item' as const),
  id: fc.constantFrom(...ITEMS),
  shade: maybe(SHADES),
});

/** The items that the shop sends first. The last item is sent late, or never. */
const catalogue = fc.tuple(
  ...ITEMS.slice(0, -1).map((id) => maybe(SHADES).map((shade): ItemUpdate => ({ kind: 'item', id, shade }))),
);

/** The steps in the order of arrival. A number sends an earlier event again. Times are in no order. */
const stream = (
  age: fc.Arbitrary<number>,
  again: fc.Arbitrary<number>,
): fc.Arbitrary<(Interaction | ItemUpdate)[]> =>
  fc
    .array(
      fc.oneof(
        { weight: 12, arbitrary: interaction(age) },
        { weight: 1, arbitrary: update },
        { weight: 2, arbitrary: again },
      ),
      { minLength: 20, maxLength: 60 },
    )
    .map((steps) => {
      const sent: Interaction[] = [];
      return steps.flatMap((step, at): (Interaction | ItemUpdate)[] => {
        if (typeof step === 'number') return sent.slice(step, step + 1);
        if ('kind' in step) return [step];
        const event: Interaction = { kind: 'event', id: `e${at}`, ...step };
        sent.push(event);
        return [event];
      });
    });

const shopOf = (arrivals: ReturnType<typeof stream>): fc.Arbitrary<LiveShop> =>
  fc
    .record({ catalogue, arrivals, user: maybe(USERS), session: fc.constantFrom(...SESSIONS) })
    .map((shop) => ({
      arrivals: [...shop.catalogue, ...shop.arrivals],
      ranking: {
        timestamp: NOW,
        items: [...ITEMS, UNKNOWN, 'never seen'],
        user: shop.user,
        session: shop.session,
        query: QUERIES[0] ?? '',
      },
    }));

/** Shops whose events have any age, and of which some arrive twice. */
export const liveShops = shopOf(stream(ages, fc.nat(20)));
/** Shops whose events are younger than every window, or a little in the future, and arrive once. */
export const calmShops = shopOf(stream(recent, fc.constant(Infinity)));
